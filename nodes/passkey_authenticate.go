package nodes

import (
	"cmp"
	"context"
	"errors"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/schemas"
)

func passkeyAuthenticateKind(d Deps) declared {
	return configured[passkeyAuthenticate](d, engine.Kind{
		Name: "passkey-authenticate",
		Open: true,
		Doc: "Authenticates with a passkey (WebAuthn authentication ceremony): the user that the run has identified, " +
			"or any user with a discoverable passkey.",
		Asks:     true,
		Outcomes: append(passkeyAuthenticateOutcomes("", ""), alternativeOutcome()),
	}, errorCodes{schemas.CodePasskeyFailed, schemas.CodePasskeyConfig, schemas.CodeCanceled},
		row{"success, failure (optional), its alternatives", "an authenticated user"})
}

func passkeyAuthenticateOutcomes(userVerification, mode string) []engine.Outcome {
	methods, acr := passkeyProof(userVerification)
	names := engine.NamesMissingUser
	switch mode {
	case "usernameless":
		names = engine.NamesUser
	case "identified":
		names = engine.KeepsUser
	}
	return []engine.Outcome{
		withProof(engine.On("success", engine.Effect{User: names, Proves: engine.Passkey}, engine.Outcome{
			Doc:         "the user proved possession of one of their passkeys",
			Establishes: []engine.Fact{engine.User, engine.Authenticated, engine.Findable},
		}), methods, acr),
		engine.On("failure", engine.NoEffect(), engine.Outcome{Doc: "the browser's answer did not verify", Optional: true}),
	}
}

type passkeyAuthenticate struct {
	node
	RelyingPartyID   string       `json:"relyingPartyId,omitempty" min:"1" doc:"The WebAuthn relying party id. Default: the configured one. It must be the host of an allowed origin or a parent domain of it."`
	UserVerification string       `json:"userVerification,omitempty" enum:"required,preferred,discouraged" default:"preferred" doc:"Whether the authenticator must verify the user, by PIN or biometrics. Default: preferred. The server's policy may be stricter."`
	Mode             string       `json:"mode,omitempty" enum:"auto,identified,usernameless" default:"auto" doc:"Whose passkey to ask for: that of the identified user (identified), or any discoverable one (usernameless). Default: auto, which is identified if the run has a user, otherwise usernameless."`
	Mediation        string       `json:"mediation,omitempty" enum:"conditional" doc:"conditional lets the page offer passkeys in the autofill of a username field."`
	Alternatives     alternatives `json:"alternatives,omitempty"`
	Label            string       `json:"label,omitempty" min:"1" default:"Sign in with a passkey" doc:"The label of the passkey button. Default: 'Sign in with a passkey'."`
}

// prepare requires an identified user in the mode identified.
func (p *passkeyAuthenticate) prepare(c *engine.Config) (found []schemas.Problem) {
	fields := append(hiddenFields(true, credentialIDInput, clientDataInput, authenticatorDataInput, signatureInput), hiddenFields(false, userHandleInput)...)
	p.form = newPasskeyForm(cmp.Or(p.Label, "Sign in with a passkey"), fields, p.Alternatives.buttons())
	p.outcomes, found = p.Alternatives.addTo(passkeyAuthenticateOutcomes(p.UserVerification, p.Mode), passkeyAction)
	if p.Mode == "identified" {
		p.needs = []engine.Need{{
			AnyOf: append([]engine.Fact{engine.User}, claimFacts(c)...),
			Why:   "mode identified needs a user that an earlier node identified",
			Fix:   "put user-resolve before it on every path, or omit mode",
			Path:  "with.mode",
		}}
	}
	return found
}

// Execute offers request options and verifies the browser's answer. The action without a credential
// requests fresh options.
func (p *passkeyAuthenticate) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	if d := p.deps.leaveByAlternative(v, p.Alternatives); d != nil {
		return d, nil
	}
	if !p.form.isAnswered(v.Answer) {
		return p.begin(ctx, v)
	}
	return p.finish(ctx, v)
}

func (p *passkeyAuthenticate) begin(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	request, err := p.request(ctx, v)
	if err != nil {
		return nil, err
	}
	options, session, err := p.deps.Ceremonies.BeginAuthentication(*request)
	if err != nil {
		return nil, err
	}
	d := p.form.askPasskey("passkeyChallenge", options, session)
	if p.Mediation != "" {
		d.Ask.Data["passkeyMediation"] = p.Mediation
	}
	return d, nil
}

// request returns the ceremony options. For a user that does not exist, or has no passkey, they
// list decoys: an empty list would reveal that.
func (p *passkeyAuthenticate) request(ctx context.Context, v *engine.Visit) (*passkey.AuthenticationRequest, error) {
	r := &passkey.AuthenticationRequest{
		RPID:             p.RelyingPartyID,
		Origins:          allowedOrigins(v),
		UserVerification: p.UserVerification,
	}
	named := v.Subject.Known() || v.Subject.Name != ""
	switch {
	case p.Mode == "usernameless" || p.Mode != "identified" && !named:
		return r, nil
	case !named:
		return nil, errors.New("mode is identified, but no earlier node identified a user")
	}
	// For an unknown name the look-up finds nothing, and takes the same time.
	allow, err := p.deps.passkeysOf(ctx, v, cmp.Or(v.Subject.UserID, v.Subject.Name))
	if err != nil {
		return nil, err
	}
	// Decoys depend on the entered name, if there is one: with the user's id the same decoys under
	// two names would reveal that both names belong to one user.
	name := cmp.Or(schemas.IdentifierKey(v.Subject.Name), v.Subject.UserID)
	r.UserID, r.Allow, r.Decoys = v.Subject.UserID, allow, passkey.Decoys(p.deps.DecoySecret, name)
	return r, nil
}

func (p *passkeyAuthenticate) finish(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	in := v.Answer.Inputs
	verified, err := p.deps.Ceremonies.FinishAuthentication(ctx, v.NodeState, passkey.AuthenticationResponse{
		ID:                in[credentialIDInput],
		ClientDataJSON:    in[clientDataInput],
		AuthenticatorData: in[authenticatorDataInput],
		Signature:         in[signatureInput],
		UserHandle:        in[userHandleInput],
	}, p.deps.Store.Credential, v.Now)
	if err == nil {
		err = checkHolder(v.Subject, verified.UserID)
	}
	if err != nil {
		reason, cause := passkeyReason(v.Subject, err), err
		d, err := ceremonyFailure(err)
		if d != nil {
			d.Reason = reason
		}
		if holder := passkey.CopiedOf(cause); holder != "" && d != nil {
			// Operators must learn of a copied authenticator and its owner: the run may have no user yet.
			d.Changes = []schemas.Change{event(v, "passkey.refused", holder, map[string]string{"step": string(passkey.FailedStep(cause))})}
		}
		return d, err
	}
	return signedIn(v, verified), nil
}

// checkHolder checks that the passkey belongs to the named user, also if any passkey could answer. An
// unknown name gets the same error as a user with other passkeys.
func checkHolder(s engine.Subject, holder string) error {
	if isAboutOther(s, holder) {
		return schemas.Errorf(schemas.Invalid, schemas.CodePasskeyFailed,
			"this passkey belongs to another account; use a passkey of the account that is signing in, or start again")
	}
	return nil
}

// passkeyReason returns the reason for the audit log why an answer was not accepted. A passkey whose
// answer verified is of another user than the one that the run is about.
func passkeyReason(s engine.Subject, err error) string {
	step := passkey.FailedStep(err)
	switch {
	case !schemas.HasCode(err, schemas.CodePasskeyFailed):
		return ""
	case s.Name != "" && !s.Known():
		return schemas.ReasonUnknownUser
	case step == "":
		return schemas.ReasonPasskeyOther
	case passkey.IsUnknown(err):
		return schemas.ReasonPasskeyUnknown
	case step == passkey.StepCredential:
		return schemas.ReasonPasskeyUnlisted
	}
	return schemas.PasskeyReasonPrefix + string(step)
}

func signedIn(v *engine.Visit, verified *passkey.Verified) *engine.Decision {
	id := verified.Use.ID.String()
	detail := map[string]string{"credentialId": id}
	if verified.CounterRegressed {
		detail["counterRegressed"] = "true"
	}
	if verified.EligibilityChanged {
		detail["eligibilityChanged"] = "true"
	}
	d := leaveProven(v, verified.Methods, verified.ACR, verified.Credential.AddedBy, schemas.Proof{Kind: schemas.PasskeyProof, Of: id},
		verified.Use, proof(v, "passkey.used", verified.UserID, detail))
	if !v.Subject.Known() && d.Outcome == successOutcome {
		d.Subject = &engine.Subject{UserID: verified.UserID}
	}
	return d
}
