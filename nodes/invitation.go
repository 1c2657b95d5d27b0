package nodes

import (
	"cmp"
	"context"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// An invitation
//
// The token in the link is worth what a mailed code is worth: its holder reads the mail of the user's
// address. In addition the server knows that the user has no credential yet. So a flow can accept,
// with a waiver of the rule chain, that the first credential has no limit.
//
// The invitation is not used up here, because the run can end before the user has a credential: the
// link works until then. Of several runs only the last one that accepted it can continue, because
// each commit requires that the invitation belongs to the run (schemas.InvitationProof).
//
// An enrolment link, which the operator prints for an administrator who has lost the passkey, is
// accepted in the same way. It proves nothing else, and lets the run add one passkey, which replaces the
// others if the node says so (removeOthers), and change nothing else: see schemas.Authority.

func invitationKind(d Deps) declared {
	return configured[invitation](d, engine.Kind{
		Name: "invitation",
		Doc: "Authenticates an invited user with the link in the mail of the invitation. Only a user without a password, passkey or linked identity can be invited, " +
			"and the link works until the user has one. The node also verifies the mail address of the user. " +
			"It is for the flow in invitationFlowId of an application. It also accepts the link that `postern admin recover` prints, with which an administrator adds a passkey.",
		Asks: true,
		Outcomes: []engine.Outcome{
			engine.On(successOutcome, engine.Effect{Mail: engine.NeedsMail, User: engine.NamesUser, Given: []engine.Item{engine.Invited}, Proves: engine.Mailbox}, engine.Outcome{
				Doc:         "the invitation is valid, so the user can read mail to the user's address",
				Establishes: append([]engine.Fact{engine.User, engine.Authenticated, engine.Findable, engine.AttributeFact("email"), engine.AttributeFact(schemas.EmailVerified)}, provenFacts([]string{schemas.AMREmail}, schemas.ACRVouched)...),
			}),
			engine.On(failureOutcome, engine.NoEffect(), engine.Outcome{Doc: "the invitation is unknown, has expired, was withdrawn or has been used; without a target, the node asks again", Optional: true}),
		},
	}, errorCodes{schemas.CodeInvalidLink},
		row{"success, failure (optional)", "an authenticated user, who had no credential; a verified email address (the attributes `email` and `email_verified`)"})
}

// invitationInput is the input with the token of the link, which the page adds.
const invitationInput = "invitation"

type invitation struct {
	node
	Title string `json:"title,omitempty" min:"1" default:"You have been invited" doc:"The heading of the form. Default: 'You have been invited'."`
	Text  string `json:"text,omitempty" min:"1" doc:"A paragraph below the heading. Default: a text that announces the set-up."`
	Label string `json:"label,omitempty" min:"1" default:"Continue" doc:"The label of the button. Default: 'Continue'."`
}

func (i *invitation) prepare(*engine.Config) []schemas.Problem {
	i.form = form{
		title:   cmp.Or(i.Title, "You have been invited"),
		text:    cmp.Or(i.Text, "Continue to set up how you sign in."),
		fields:  []field{{Identifier: invitationInput, Type: schemas.HiddenInput, Required: true}},
		buttons: []button{{ref: submitAction, label: cmp.Or(i.Label, "Continue")}},
	}
	return nil
}

// Execute asks for the token and checks it.
func (i *invitation) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	if v.Answer == nil {
		return &engine.Decision{Ask: i.form.ask()}, nil
	}
	link, user, err := i.find(ctx, v)
	if err != nil {
		return nil, err
	}
	if link == nil {
		return leaveFailed(schemas.Errorf(schemas.Invalid, schemas.CodeInvalidLink,
			"this invitation does not work: it has been used or withdrawn, or has expired; open the link in the most recent mail, or ask for a new invitation")), nil
	}
	accept := schemas.AcceptInvitation{TokenHash: link.TokenHash, UserID: user.ID, RunID: v.ExecutionID, At: v.Now}
	var d *engine.Decision
	if link.Purpose == schemas.EnrolmentLink {
		d = leaveProven(v, []string{schemas.AMRLimited}, schemas.ACRVouched, schemas.Provenance{}, link.Proof(), accept,
			proof(v, "enrolment.accepted", user.ID, nil))
		d.Limited = true // it proves nothing about the mailbox
	} else {
		d = leaveProven(v, []string{schemas.AMREmail}, schemas.ACRVouched, schemas.Provenance{}, link.Proof(), accept,
			schemas.VerifyEmail{UserID: user.ID, Email: user.Text("email"), At: v.Now},
			proof(v, "invitation.opened", user.ID, nil))
		d.Proofs = append(d.Proofs, schemas.ProofOfEmail(user.Text("email")))
	}
	if !v.Subject.Known() {
		d.Subject = &engine.Subject{UserID: user.ID}
	}
	return d, nil
}

// enrolmentOf returns the proof of the enrolment link that the run has accepted, nil for none.
func enrolmentOf(v *engine.Visit) *schemas.Proof {
	if v.Authentication == nil {
		return nil
	}
	i := slices.IndexFunc(v.Authentication.Proofs, func(p schemas.Proof) bool { return p.Kind == schemas.EnrolmentProof })
	if i < 0 {
		return nil
	}
	return &v.Authentication.Proofs[i]
}

// find returns the invitation and its user, nil if the invitation is not valid for this run.
func (i *invitation) find(ctx context.Context, v *engine.Visit) (*schemas.Link, *schemas.User, error) {
	link, err := i.deps.Store.Invitation(ctx, schemas.HashSecret(v.Answer.Inputs[invitationInput]), v.Now)
	if link == nil || err != nil || link.Subject != applicationID(v) || isAboutOther(v.Subject, link.UserID) || v.Subject.Draft != nil {
		return nil, nil, err
	}
	user, err := i.deps.Store.User(ctx, link.UserID)
	if schemas.HasCode(err, schemas.CodeUserNotFound) || err == nil && link.Purpose == schemas.InvitationLink && user.Text("email") == "" {
		return nil, nil, nil
	}
	return link, user, err
}
