package directory

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// addedMethods are the sign-in methods that kinds of nodes add to an account.
func addedMethods() map[string]string {
	return map[string]string{"passkey-register": "a passkey", "password-set": "a password", "federated-link": "an identity of a provider"}
}

// acceptedMethods are the sign-in methods that kinds of nodes accept. A mailed code needs none of them.
func acceptedMethods() map[string]string {
	return map[string]string{"passkey-authenticate": "a passkey", "password-authenticate": "a password", "federated-oidc": "an identity of a provider", "email-otp": "a mailed code"}
}

// methodsOf returns the methods of the nodes of a flow and of its sub-flows, sorted.
func methodsOf(f *schemas.Flow, byKind map[string]string) []string {
	found := map[string]bool{}
	var add func(f *schemas.Flow)
	add = func(f *schemas.Flow) {
		for _, n := range f.Nodes {
			if method := byKind[n.Use]; method != "" {
				found[method] = true
			}
		}
		for _, part := range f.Parts {
			add(part)
		}
	}
	add(f)
	return slices.Sorted(maps.Keys(found))
}

// checkInvitationFits checks that what the invitation flow of an application adds is accepted by its sign-in flow:
// otherwise the invited user could not sign in.
func checkInvitationFits(ctx context.Context, r store.Reader, app *schemas.Application) error {
	invitation, err := store.Flows().Get(ctx, r, app.InvitationFlowID)
	if err != nil {
		return err
	}
	signIn, err := store.Flows().Get(ctx, r, app.AuthFlowID)
	if err != nil {
		return err
	}
	added, accepted := methodsOf(invitation, addedMethods()), methodsOf(signIn, acceptedMethods())
	isMissing := func(method string) bool { return !slices.Contains(accepted, method) }
	if len(added) == 0 || len(accepted) == 0 || slices.Contains(accepted, "a mailed code") || slices.ContainsFunc(added, func(m string) bool { return !isMissing(m) }) {
		return nil
	}
	return schemas.Errorf(schemas.Conflict, CodeCannotInvite, "with the invitation flow %q the user adds %s, but the sign-in flow %q of the application %q accepts only %s: the user could not sign in; choose flows with a common method",
		invitation.Handle, strings.Join(added, " or "), signIn.Handle, app.Name, strings.Join(accepted, " or "))
}
