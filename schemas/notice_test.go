package schemas_test

import (
	"testing"

	"github.com/postern-id/postern/schemas"
)

// A notice states whether the user or an administrator caused the event.
func TestNoticesNameAdministrators(t *testing.T) {
	tests := map[string]struct {
		actor schemas.Actor
		want  bool
	}{
		"the user":                 {schemas.Actor{Type: schemas.UserActor, ID: "ada", Client: "console"}, false},
		"the user in a flow":       {schemas.Actor{}, false},
		"another user":             {schemas.Actor{Type: schemas.UserActor, ID: "admin"}, true},
		"a client":                 {schemas.Actor{Type: schemas.ApplicationActor, ID: "script"}, true},
		"a client with a known id": {schemas.Actor{Type: schemas.ApplicationActor, ID: "ada"}, true},
		"the command line":         {schemas.Actor{Type: schemas.SystemActor}, true},
	}
	for name, test := range tests {
		n := schemas.NoticeOf(schemas.Event{Action: "passkey.deleted", UserID: "ada", Actor: test.actor})
		if n == nil || n.ByAdministrator != test.want {
			t.Errorf("%s: the notice is %v, want byAdministrator %v", name, n, test.want)
		}
	}
}
