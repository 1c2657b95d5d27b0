package nodes

import (
	"context"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

func federatedLinkKind(d Deps) declared {
	return configured[federatedLink](d, engine.Kind{
		Name: "federated-link",
		Acts: true,
		Doc: "Links the identity from federated-oidc to the run's user, who can then sign in with it. The user must " +
			"be new in this run or have authenticated in it. A user with a second factor must have used one, or a passkey, in this run, and an administrator who has had a passkey must have used a passkey: otherwise the node ends the run. It shows no step.",
		Needs: append([]engine.Need{{
			AnyOf: []engine.Fact{engine.Federated},
			Why:   "there would be nothing to link",
			Fix:   "lead only the outcome unknown of federated-oidc here, directly or through other nodes",
		}}, ownUserNeeds("it would let an attacker sign in to another user's account")...),
		Outcomes: []engine.Outcome{
			withEnrolment(engine.On("success", engine.Effect{Guarded: true, Adds: engine.IdentityAt("")}, engine.Outcome{
				Doc:         "the identity is linked to the user; a user that this run creates is authenticated",
				Establishes: []engine.Fact{engine.Credential, engine.Findable},
			}), []string{schemas.AMRFederated}, schemas.ACRVouched),
			engine.On(takenOutcome, engine.NoEffect(), engine.Outcome{Doc: "another user linked the identity in the meantime"}),
		},
	}, errorCodes{schemas.CodeIdentityTaken, schemas.CodeFactorRequired, schemas.CodeStaleProof},
		row{"success, taken", "the external identity is linked to the user; a new user is authenticated"})
}

const takenOutcome = "taken"

type federatedLink struct{ node }

func (*federatedLink) prepare(*engine.Config) []schemas.Problem { return nil }

// Execute links the identity, unless it is already linked to the user.
func (l *federatedLink) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	id := v.Identity
	linked, err := l.deps.Directory.Identity(ctx, id.ProviderID, id.Subject)
	if err != nil {
		return nil, err
	}
	if linked != nil && linked.UserID != v.Subject.UserID {
		d := engine.LeaveBy(takenOutcome)
		d.Notice = identityTaken()
		return d, nil
	}
	leave := func(identityID string, changes ...schemas.Change) *engine.Decision {
		return leaveEnrolled(v, []string{schemas.AMRFederated}, schemas.ACRVouched, schemas.Proof{Kind: schemas.IdentityProof, Of: identityID}, changes...)
	}
	if linked != nil {
		return leave(linked.ID), nil
	}
	if refused, err := l.deps.refuseChange(ctx, v, false); refused != nil || err != nil {
		return &engine.Decision{Fail: refused}, err
	}
	link := schemas.Identity{
		ID: schemas.NewID(), UserID: v.Subject.UserID, ProviderID: id.ProviderID, Subject: id.Subject, Name: id.Name,
		CreatedAt: v.Now, LastUsedAt: &v.Now, AddedBy: node{}.provenance(v),
	}
	changes := []schemas.Change{schemas.LinkIdentity{Identity: link, Issuer: id.Issuer},
		event(v, "identity.linked", link.UserID, map[string]string{"identityId": link.ID, "providerId": link.ProviderID})}
	mapping, err := l.deps.mapLinked(ctx, v, &link)
	if err != nil {
		return nil, err
	}
	if mapping != nil {
		changes = append(changes, mapping)
	}
	return leave(link.ID, changes...), nil
}
