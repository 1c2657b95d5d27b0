package nodes

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/schemas"
)

func passkeyRegisterKind(d Deps) declared {
	return configured[passkeyRegister](d, engine.Kind{
		Name: "passkey-register",
		Doc: "Registers a passkey for the run's user (WebAuthn registration ceremony). " +
			"The user must be new in this run or have authenticated in it. A user with a second factor must have used one, or a passkey, in this run, and an administrator who has had a passkey must have used a passkey: " +
			"otherwise the node is skipped if it is optional, and ends the run if it is not.",
		Asks:     true,
		Needs:    append(ownUserNeeds("it would add a passkey to another user's account"), strengthNeed(schemas.ACRPassword)),
		Outcomes: append(passkeyRegisterOutcomes(""), skipOutcome()),
	}, errorCodes{schemas.CodePasskeyFailed, schemas.CodePasskeyConfig, schemas.CodeCredentialExists, schemas.CodeFactorRequired, schemas.CodeStaleProof},
		row{"success, failure (optional), skip (if `optional: true`)", "a passkey; a new user is authenticated. A user with a second factor must have used it, or a passkey, in the same run. With `removeOthers: true` it replaces the user's other passkeys, except those used in the run"})
}

func passkeyRegisterOutcomes(userVerification string) []engine.Outcome {
	methods, acr := passkeyProof(userVerification)
	return []engine.Outcome{
		withEnrolment(engine.On("success", engine.Effect{Guarded: true, Adds: engine.Passkey}, engine.Outcome{
			Doc:         "the user has a new passkey; a user that this run creates is authenticated",
			Establishes: []engine.Fact{engine.Credential, engine.Findable},
		}), methods, acr),
		engine.On("failure", engine.NoEffect(), engine.Outcome{Doc: "the browser's answer did not verify", Optional: true}),
	}
}

// ownUserNeeds returns the needs of a kind that adds a credential to the user.
func ownUserNeeds(why string) []engine.Need {
	return []engine.Need{
		{
			AnyOf: []engine.Fact{engine.User},
			Why:   "there would be no user to add the credential to",
			Fix:   "put user-create, or a node that authenticates, before it",
		},
		{
			AnyOf: []engine.Fact{engine.Own},
			Rule:  engine.RuleTakeover,
			Why:   why,
			Fix:   "create the user in this flow, or authenticate them before this node",
		},
	}
}

// strengthNeed returns the need of a kind that adds a credential: that existing users have proved at
// least a class, unless the flow accepts with a waiver that a weaker proof is enough.
func strengthNeed(class string) engine.Need {
	return engine.Need{
		AnyOf: append(engine.ACRFacts(class), engine.New),
		Given: engine.Own,
		Rule:  engine.RuleChain,
		Why:   "anyone who can give the weaker proof, such as a reader of the user's mail, would keep a credential for later sign-ins",
		Fix: "authenticate the user more strongly before it, for example with password-authenticate or passkey-authenticate; " +
			"or accept this with a waiver of the rule chain that states the reason; the credential is then not limited in later sign-ins",
	}
}

// factorNeed returns the advice for a kind that adds a second factor: it counts as one only if the
// run has used one, or if a waiver accepts that the first factor is enough to add it.
func factorNeed() engine.Need {
	n := engine.Need{
		AnyOf:    []engine.Fact{engine.New},
		Given:    engine.Own,
		Rule:     engine.RuleChain,
		Advisory: true,
		Why:      "without a second factor in this run the new one is limited to the proof that added it, and does not count as a second factor later",
		Fix:      "waive the rule chain at this node with the reason why the first factor is enough to add the second; or ask for a second factor or a passkey before it",
	}
	for _, method := range schemas.HeldMethods() {
		n.AnyOf = append(n.AnyOf, engine.AMRFact(method))
	}
	return n
}

type passkeyRegister struct {
	node
	RelyingPartyID          string   `json:"relyingPartyId,omitempty" min:"1" doc:"The WebAuthn relying party id. Default: the configured one. It must be the host of an allowed origin or a parent domain of it."`
	RelyingPartyName        string   `json:"relyingPartyName,omitempty" min:"1" doc:"The relying party name that the authenticator shows. Default: the configured one."`
	UserVerification        string   `json:"userVerification,omitempty" enum:"required,preferred,discouraged" default:"preferred" doc:"Whether the authenticator must verify the user, by PIN or biometrics. Default: preferred. The server's policy may be stricter."`
	AuthenticatorAttachment string   `json:"authenticatorAttachment,omitempty" enum:"platform,cross-platform" doc:"Whether the authenticator must be built into the device (platform) or removable (cross-platform). Default: any. A response that reports another attachment is rejected; one that reports none is accepted."`
	ResidentKey             string   `json:"residentKey,omitempty" enum:"required,preferred,discouraged" default:"preferred" doc:"Whether the browser must create a passkey that works without a username. Default: preferred."`
	Attestation             string   `json:"attestation,omitempty" enum:"none,indirect,direct,enterprise" default:"none" doc:"Whether to request attestation of the authenticator's model. Default: none. The server's policy lists the accepted formats: passkey.attestation_formats."`
	RemoveOthers            bool     `json:"removeOthers,omitempty" default:"false" doc:"Whether the new passkey replaces the user's other passkeys, except those used in this run. They are removed in the same transaction, and the user's other sessions end."`
	Optional                optional `json:"optional,omitempty"`
	Label                   string   `json:"label,omitempty" min:"1" default:"Create a passkey" doc:"The label of the button. Default: 'Create a passkey'."`
}

func (p *passkeyRegister) prepare(*engine.Config) []schemas.Problem {
	fields := append(hiddenFields(true, credentialIDInput, clientDataInput, attestationInput), hiddenFields(false, credentialNameInput, attachmentInput, transportsInput)...)
	p.form = newPasskeyForm(cmp.Or(p.Label, "Create a passkey"), fields, p.Optional.buttons())
	p.outcomes = p.Optional.outcomes(passkeyRegisterOutcomes(p.UserVerification))
	return nil
}

// Execute offers creation options and verifies the browser's answer. The action without a
// credential requests fresh options.
func (p *passkeyRegister) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	if p.Optional.isDeclined(v.Answer) {
		return engine.LeaveBy(skip), nil
	}
	// A passkey counts as two factors, so a stolen password must not be enough to add one to an
	// account with a second factor.
	refused, err := p.deps.refuseChange(ctx, v, true)
	switch {
	case err != nil:
		return nil, err
	case refused != nil:
		return p.Optional.refuse(refused), nil
	case !p.form.isAnswered(v.Answer):
		return p.begin(ctx, v)
	}
	return p.finish(ctx, v)
}

func (p *passkeyRegister) begin(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	user, err := p.deps.subjectUser(ctx, v)
	if err != nil {
		return nil, err
	}
	exclude, err := p.deps.passkeysOf(ctx, v, user.ID)
	if err != nil {
		return nil, err
	}
	options, session, err := p.deps.Ceremonies.BeginRegistration(passkey.RegistrationRequest{
		User:             passkey.User{ID: user.ID, Name: user.AccountName(), DisplayName: user.DisplayName()},
		Exclude:          exclude,
		RPID:             p.RelyingPartyID,
		RPName:           p.RelyingPartyName,
		Origins:          allowedOrigins(v),
		UserVerification: p.UserVerification,
		Attachment:       p.AuthenticatorAttachment,
		ResidentKey:      p.ResidentKey,
		Attestation:      p.Attestation,
	})
	if err != nil {
		return nil, err
	}
	return p.form.askPasskey("passkeyCreationOptions", options, session), nil
}

func (p *passkeyRegister) finish(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	in := v.Answer.Inputs
	credential, err := p.deps.Ceremonies.FinishRegistration(v.NodeState, passkey.RegistrationResponse{
		ID:                in[credentialIDInput],
		ClientDataJSON:    in[clientDataInput],
		AttestationObject: in[attestationInput],
		Name:              in[credentialNameInput],
		Attachment:        in[attachmentInput],
		Transports:        strings.Fields(in[transportsInput]),
	}, v.Now)
	if err == nil {
		err = p.checkUnknown(ctx, credential.ID)
	}
	if err != nil {
		return ceremonyFailure(err)
	}
	d := p.registered(v, credential)
	if p.RemoveOthers {
		err = p.removeOthers(ctx, v, d, credential)
	}
	return d, err
}

// checkUnknown checks that no passkey with this id exists (WebAuthn Level 3 section 7.1 step 26).
// The store checks again when it adds the passkey.
func (p *passkeyRegister) checkUnknown(ctx context.Context, id schemas.Bytes) error {
	_, err := p.deps.Store.Credential(ctx, id)
	switch {
	case schemas.HasCode(err, schemas.CodeCredentialNotFound):
		return nil
	case err != nil:
		return err
	}
	return schemas.Errorf(schemas.Conflict, schemas.CodeCredentialExists,
		"this passkey is registered already; sign in with it, or use another authenticator")
}

// removeOthers adds to the decision the removal of the passkeys of the same user that neither this run
// used nor this node created.
func (p *passkeyRegister) removeOthers(ctx context.Context, v *engine.Visit, d *engine.Decision, added *schemas.Credential) error {
	all, err := p.deps.passkeysOf(ctx, v, added.UserID)
	if err != nil {
		return err
	}
	change := schemas.RemoveCredentials{UserID: added.UserID, Keep: []schemas.Bytes{added.ID}, At: v.Now}
	for _, c := range all {
		if isUsed(v, c.ID) {
			change.Keep = append(change.Keep, c.ID)
			continue
		}
		change.Remove = append(change.Remove, schemas.CredentialRemoval{
			ID: c.ID, Event: event(v, "passkey.deleted", c.UserID, map[string]string{"credentialId": c.ID.String()}).Event})
	}
	if len(change.Remove) > 0 {
		d.Changes = append(d.Changes, change)
	}
	return nil
}

// isUsed reports whether the run has proved the passkey.
func isUsed(v *engine.Visit, id schemas.Bytes) bool {
	used := schemas.Proof{Kind: schemas.PasskeyProof, Of: id.String()}
	return v.Authentication != nil && slices.ContainsFunc(v.Authentication.Proofs, used.IsOf)
}

func (p *passkeyRegister) registered(v *engine.Visit, c *schemas.Credential) *engine.Decision {
	methods, acr := passkey.Assurance(c, c.UserVerified)
	c.AddedBy = p.provenance(v)
	d := leaveEnrolled(v, methods, acr, schemas.Proof{Kind: schemas.PasskeyProof, Of: c.ID.String()},
		schemas.CreateCredential{Credential: *c},
		event(v, "passkey.registered", c.UserID, map[string]string{"credentialId": c.ID.String()}))
	if link := enrolmentOf(v); link != nil {
		d.Changes = append(d.Changes, schemas.UseEnrolment{Proof: *link, UserID: c.UserID, RunID: v.ExecutionID, At: v.Now})
	}
	d.Data = map[string]string{
		"passkeyCredentialID":   c.ID.String(),
		"passkeyCredentialName": c.Name,
		"credentialCreatedAt":   c.CreatedAt.UTC().Format(time.RFC3339),
	}
	return d
}
