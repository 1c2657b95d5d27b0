package nodes

import (
	"cmp"
	"context"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

func denyKind(d Deps) declared {
	return configured[deny](d, engine.Kind{
		Name: "deny",
		Doc: "Ends the run without a sign-in, and shows a message to the user. A run that answers an authorization request returns an " +
			"OAuth error to its client (RFC 6749 §4.1.2.1). Nothing that the run has decided in this step is stored.",
		Terminal: true, Denies: true,
	}, errorCodes{schemas.CodeDenied},
		row{"ends the run without a sign-in, with a message and an OAuth error", "—"})
}

type deny struct {
	node
	Message string `json:"message,omitempty" min:"1" max:"500" default:"You cannot sign in here." doc:"The message to the user, and the description of the error for the client. Default: 'You cannot sign in here.'."`
	Error   string `json:"error,omitempty" enum:"access_denied,login_required,unmet_authentication_requirements" default:"access_denied" doc:"The OAuth error for the client of the authorization request. Default: 'access_denied'."`
}

func (*deny) prepare(*engine.Config) []schemas.Problem { return nil }

// Execute ends the run. The event names the user only if the run has authenticated one: the flow may
// deny whatever an unauthenticated caller enters.
func (x *deny) Execute(_ context.Context, v *engine.Visit) (*engine.Decision, error) {
	why := schemas.Errorf(schemas.Forbidden, schemas.CodeDenied, "%s", cmp.Or(x.Message, "the flow does not permit this sign-in"))
	if x.Message != "" {
		why.Message = schemas.Text{DefaultValue: x.Message}
	}
	user := ""
	if v.Authentication != nil && v.Subject.Draft == nil {
		user = v.Subject.UserID
	}
	record := event(v, "user.sign_in_refused", user, map[string]string{"reason": schemas.CodeDenied, "message": x.Message})
	return x.deps.refuse(v, schemas.Refusal{Code: cmp.Or(x.Error, schemas.RefusedAccessDenied), Description: why.Description.DefaultValue}, why, record), nil
}
