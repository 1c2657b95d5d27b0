package nodes

import (
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// An alternative with an error is no outcome: it ends the run, and the client of the authorization
// request gets the error. A run without a request ends, too.
func TestAlternativeWithAnError(t *testing.T) {
	w := newFixture(t)
	const with = `{"alternatives": [{"ref": "other"}, {"ref": "cancel", "error": "unmet_authentication_requirements"}]}`
	exec := w.make(t, "passkey-authenticate", with, nil)
	for _, o := range exec.(engine.OutcomeConfigurer).Outcomes() {
		if o.Name() == "cancel" {
			t.Error("the alternative is an outcome")
		}
	}
	left(t, run(t, exec, visit(answer("other"))), "other")
	for id, want := range map[string]schemas.RefuseAuthRequest{"": {}, "auth-1": {ID: "auth-1", Refusal: schemas.Refusal{
		Code: schemas.RefusedClass, Description: "the user canceled the sign-in",
	}}} {
		d, err := exec.Execute(t.Context(), visit(answer("cancel"), func(v *engine.Visit) { v.AuthRequestID = id }))
		switch {
		case err != nil:
			t.Fatal(err)
		case id == "" && (d.Fail == nil || d.Fail.Code != schemas.CodeCanceled || d.Refuse != nil):
			t.Errorf("without a request: %+v", d)
		case id == "":
		case d.Refuse == nil || d.Refuse.Error.Code != schemas.CodeCanceled || d.Refuse.RedirectURL == "" || len(d.Refuse.Changes) != 2:
			t.Errorf("with a request: %+v", d)
		default:
			if got, ok := d.Refuse.Changes[0].(schemas.RefuseAuthRequest); !ok || got.ID != want.ID || got.Refusal != want.Refusal {
				t.Errorf("refused with %+v, want %+v", d.Refuse.Changes[0], want)
			}
		}
	}
}
