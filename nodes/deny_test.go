package nodes

import (
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

func TestDeny(t *testing.T) {
	bound := func(v *engine.Visit) { v.AuthRequestID, v.Request.Browser = "request", []byte("browser") }
	tests := map[string]struct {
		with                   string
		visit                  *engine.Visit
		message, refusal, user string
	}{
		"with its own text":                {`{}`, visit(bound), "You cannot sign in here.", "access_denied", ""},
		"with a message":                   {`{"message": "Only the staff."}`, visit(bound), "Only the staff.", "access_denied", ""},
		"with another error":               {`{"error": "login_required"}`, visit(bound), "You cannot sign in here.", "login_required", ""},
		"a user who authenticated":         {`{}`, visit(bound, known("ada"), authenticated("phr", "pop")), "You cannot sign in here.", "access_denied", "ada"},
		"a user who is identified":         {`{}`, visit(bound, known("ada")), "You cannot sign in here.", "access_denied", ""},
		"a user who is not stored":         {`{}`, visit(bound, drafted(grace()), authenticated("phr", "pop")), "You cannot sign in here.", "access_denied", ""},
		"without an authorization request": {`{"message": "Only the staff."}`, visit(), "Only the staff.", "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := run(t, newFixture(t).make(t, "deny", test.with, nil), test.visit)
			if d.Refuse == nil || d.Refuse.Error.Code != schemas.CodeDenied || d.Refuse.Error.Message.DefaultValue != test.message {
				t.Fatalf("%+v", d)
			}
			if d.Refuse.RedirectURL != "" != (test.refusal != "") {
				t.Errorf("the way back is %q", d.Refuse.RedirectURL)
			}
			refusal, user := "", ""
			for _, change := range d.Refuse.Changes {
				switch c := change.(type) {
				case schemas.RefuseAuthRequest:
					refusal = c.Refusal.Code
				case schemas.RecordEvent:
					user = c.Event.UserID
				}
			}
			if refusal != test.refusal || user != test.user {
				t.Errorf("refused with %q for %q, want %q for %q", refusal, user, test.refusal, test.user)
			}
		})
	}
}
