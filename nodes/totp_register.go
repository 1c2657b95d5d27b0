package nodes

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/schemas"
)

func totpRegisterKind(d Deps) declared {
	return configured[totpRegister](d, engine.Kind{
		Name: "totp-register",
		Doc: "Registers an authenticator app (RFC 6238) for the run's user: shows its key as a QR code and as text, and accepts the first " +
			"code as proof that the app has the key. The user must be new in this run or have authenticated in it. " +
			"It does not authenticate: a new user also needs a password or a passkey.",
		Asks:  true,
		Needs: append(ownUserNeeds("it would add an authenticator app to another user's account"), strengthNeed(schemas.ACROneTimeCode)),
		Outcomes: []engine.Outcome{
			engine.On(successOutcome, engine.Effect{Adds: engine.AuthenticatorApp}, engine.Outcome{
				Doc:         "the user has an authenticator app, which replaces any earlier one",
				Establishes: []engine.Fact{engine.Credential, engine.Enrolled},
			}),
			keepsFactor(engine.HasApp),
			skipOutcome(),
		},
	}, errorCodes{schemas.CodeStaleProof},
		row{"success, kept, skip (if `optional: true`)", "an authenticator app. With `replaceUnused: true`, a user who has proved a password and a mailed code can replace an app that was never used to sign in"})
}

// wrongFirstCode is the message for a wrong first code. The hosted pages translate it.
const wrongFirstCode = "Incorrect code. Enter the current code, and check that your device's clock is correct."

type totpRegister struct {
	secretQuestion
	Issuer        string   `json:"issuer,omitempty" min:"1" max:"64" doc:"The name that the app shows for this server. Default: passkey.relying_party_name, the name that authenticators show."`
	Algorithm     string   `json:"algorithm,omitempty" enum:"SHA1,SHA256,SHA512" default:"SHA1" doc:"The hash algorithm of the codes. Default: SHA1, which every app supports. Many apps accept a key with another algorithm and show wrong codes."`
	Digits        int      `json:"digits,omitempty" min:"6" max:"8" default:"6" doc:"The number of digits of a code. Default: 6, which every app supports."`
	Input         string   `json:"input,omitempty" is:"identifier" default:"otp" doc:"The identifier of the input for the first code. Default: 'otp'."`
	Title         string   `json:"title,omitempty" min:"1" default:"Set up an authenticator app" doc:"The heading. Default: 'Set up an authenticator app'."`
	Text          string   `json:"text,omitempty" min:"1" doc:"Instructions for the user, above the QR code."`
	ReplaceUnused bool     `json:"replaceUnused,omitempty" default:"false" doc:"Whether a user who has proved a password and a code sent by email in this run can replace an app that was never used to sign in. Otherwise the outcome is kept. The new app is limited to what a password proves."`
	Optional      optional `json:"optional,omitempty"`
}

func (t *totpRegister) prepare(*engine.Config) []schemas.Problem {
	t.askCode(t.Input, "", t.Optional.buttons()...)
	t.form.title = cmp.Or(t.Title, "Set up an authenticator app")
	t.form.text = cmp.Or(t.Text, "Scan the QR code with your authenticator app, or enter the key. Then enter the code from the app.")
	t.outcomes = t.Optional.outcomes(t.outcomes)
	if t.ReplaceUnused {
		t.unlimited = false // a waiver of the strength must not lift the limit of the new app
	} else {
		t.needs = []engine.Need{factorNeed()}
	}
	return nil
}

// Execute offers a key until its first code arrives.
func (t *totpRegister) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	d, err := t.deps.beforeEnrolling(ctx, v, t.Optional)
	if err != nil {
		return nil, err
	}
	if replaces, err := t.replacesUnused(ctx, v); err != nil || d != nil && (d.Outcome != keptOutcome || !replaces) {
		return d, err
	}
	if v.Answer == nil {
		return t.offer(ctx, v, totp.New(cmp.Or(t.Algorithm, totp.SHA1), cmp.Or(t.Digits, 6)), "")
	}
	return t.finish(ctx, v)
}

// replacesUnused reports whether the user may replace an app that never protected a sign-in, because the
// flows of earlier releases did not ask for it. Otherwise a user who lost such an app could not sign in any
// more. What the new app proves is limited by its provenance.
func (t *totpRegister) replacesUnused(ctx context.Context, v *engine.Visit) (bool, error) {
	if !t.ReplaceUnused || v.Authentication == nil ||
		!slices.Contains(v.Authentication.Methods, "pwd") || !slices.Contains(v.Authentication.Methods, "email") {
		return false, nil
	}
	app, err := t.deps.totpOf(ctx, v)
	return app != nil && app.LastUsedAt == nil, err
}

// offer shows the key. Clients that render themselves get the URI under totpURI and the key under
// totpSecret.
func (t *totpRegister) offer(ctx context.Context, v *engine.Visit, key totp.Key, fault string) (*engine.Decision, error) {
	user, err := t.deps.subjectUser(ctx, v)
	if err != nil {
		return nil, err
	}
	uri := key.URI(cmp.Or(t.Issuer, t.deps.Name, "Postern"), cmp.Or(user.AccountName(), user.ID))
	picture, err := totp.QRCode(uri)
	if err != nil {
		return nil, err
	}
	q := t.secretQuestion
	q.form.shown = []schemas.Component{
		{ID: "totp_picture", Type: schemas.ImageComponent, Src: picture, Label: "QR code", Variant: "CODE"},
		text("totp_secret", grouped(key.Secret, " "), "CODE"),
	}
	d := q.ask(fault)
	d.Ask.Data = map[string]string{"totpURI": uri, "totpSecret": key.Secret}
	d.NodeState = must(json.Marshal(key))
	return d, nil
}

// finish checks the first code. A wrong one does not count as a guess: the user sees the key.
func (t *totpRegister) finish(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	var key totp.Key
	if err := json.Unmarshal(v.NodeState, &key); err != nil {
		return nil, err
	}
	code := t.secret(v)
	if code == "" {
		return t.offer(ctx, v, key, "This is required.")
	}
	step, ok, err := key.Verify(code, v.Now, 0)
	if err != nil {
		return nil, err
	}
	if !ok {
		return t.offer(ctx, v, key, wrongFirstCode)
	}
	return t.registered(v, key, step), nil
}

func (t *totpRegister) registered(v *engine.Visit, key totp.Key, step int64) *engine.Decision {
	app := SealTOTP(t.deps.Box, key, v.Subject.UserID)
	app.LastStep, app.CreatedAt, app.AddedBy = step, v.Now, t.provenance(v)
	by := schemas.ProofOfTOTP(&app)
	if v.Authentication != nil && v.Facts.Has(engine.New) {
		by = by.Proving([]string{"otp"}, schemas.ACROneTimeCode)
	}
	return &engine.Decision{
		Outcome: successOutcome, Drop: []string{t.input}, Proofs: []schemas.Proof{by},
		Changes: []schemas.Change{schemas.SetTOTP{TOTP: app, ReplacesUnused: t.ReplaceUnused}, event(v, "totp.registered", v.Subject.UserID, nil)},
	}
}
