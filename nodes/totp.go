package nodes

import (
	"cmp"
	"context"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/schemas"
)

func totpKind(d Deps) declared {
	return configured[totpAuthenticate](d, engine.Kind{
		Name: "totp",
		Doc: "Asks for a code of the user's authenticator app (RFC 6238), as a second factor of a user who has authenticated in this run. " +
			"Each code is valid once. With alone: true the code is the only proof of a user who was only identified: " +
			"a single factor that is weaker than a password.",
		Asks: true,
		Outcomes: []engine.Outcome{
			withProof(engine.On(successOutcome, engine.Effect{Proves: engine.AuthenticatorApp}, engine.Outcome{
				Doc:         "the code is from the user's app",
				Establishes: []engine.Fact{engine.User, engine.Authenticated},
			}), []string{"otp"}, schemas.ACROneTimeCode),
			engine.On(failureOutcome, engine.NoEffect(), engine.Outcome{Doc: "the code is wrong or was used before", Optional: true}),
			engine.On("none", engine.Effect{Given: []engine.Item{engine.NoApp}}, engine.Outcome{Doc: "the user has no authenticator app; the outcome does not exist with alone: true, which does not reveal this"}),
			alternativeOutcome(),
		},
	}, errorCodes{schemas.CodeInvalidCode, schemas.CodeCanceled},
		row{"success, failure (optional), none (the user has no app), its alternatives", "a second factor (with `alone: true`: an authenticated user)"})
}

// totpAuthenticate requires that a second factor follows a first. The outcome none reveals something
// about the user, but only after authentication; where a code stands alone the outcome does not exist.
type totpAuthenticate struct {
	secretQuestion
	Alone        bool         `json:"alone,omitempty" default:"false" doc:"Whether a code may be the only proof of a user who was only identified. The outcome none then does not exist, so the node does not reveal whether the user exists or has an app."`
	Input        string       `json:"input,omitempty" is:"identifier" default:"otp" doc:"The identifier of the input for the code. Default: 'otp'. A code that a prompt has just collected is used."`
	Label        string       `json:"label,omitempty" min:"1" default:"Code from your authenticator app" doc:"The label of the input. Default: 'Code from your authenticator app'."`
	Title        string       `json:"title,omitempty" min:"1" default:"Enter the code from your app" doc:"The heading of the form. Default: 'Enter the code from your app'."`
	Alternatives alternatives `json:"alternatives,omitempty"`
}

func (t *totpAuthenticate) prepare(*engine.Config) (found []schemas.Problem) {
	t.askCode(t.Input, t.Label, t.Alternatives.buttons()...)
	t.form.title = cmp.Or(t.Title, "Enter the code from your app")
	t.outcomes, found = t.Alternatives.addTo(t.outcomes, submitAction)
	if t.Alone {
		t.outcomes = slices.DeleteFunc(t.outcomes, func(o engine.Outcome) bool { return o.Name() == "none" })
		return found
	}
	t.reveals = "whether the user has an authenticator app; set alone: true to hide it"
	t.needs = []engine.Need{{
		AnyOf: []engine.Fact{engine.Authenticated},
		Why:   "a code is a second factor, and the node would reveal whether an unauthenticated user has an app",
		Fix:   "put a node that authenticates, such as password-authenticate, before it, or set alone: true to accept a code alone",
	}}
	return found
}

// askCode asks for a code of an authenticator app.
func (q *secretQuestion) askCode(input, label string, others ...button) {
	q.askFor(field{
		Identifier: cmp.Or(input, "otp"), Type: schemas.OTPInput,
		Label: cmp.Or(label, "Code from your authenticator app"), Autocomplete: "one-time-code",
	}, others...)
}

// Execute asks for a code if there is none, and checks it.
func (t *totpAuthenticate) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	if d := t.deps.leaveByAlternative(v, t.Alternatives); d != nil {
		return d, nil
	}
	var app *schemas.TOTP
	if v.Subject.Known() {
		var err error
		if app, err = t.deps.totpOf(ctx, v); err != nil {
			return nil, err
		}
	}
	if app == nil && !t.Alone {
		return engine.LeaveBy("none"), nil
	}
	wrong := schemas.Errorf(schemas.Invalid, schemas.CodeInvalidCode, "the code is incorrect or was already used; wait for the next one in your app")
	question := t.secretQuestion
	if !t.Alone && app.LastStep >= totp.Step(v.Now) {
		question.form.text = nextCode
	}
	return question.verify(ctx, v, guessOf(v, schemas.TOTPSecret, nameOf(v)), wrong, func(code string) (*engine.Decision, error) { return t.check(v, app, code) })
}

// nextCode is the text of a step while the app still shows a code that was used, as it does right
// after the enrollment. The hosted pages translate it.
const nextCode = "You have already used the code that your app shows now. Wait for the next one: it changes every 30 seconds."

// check checks the code. Without an app it checks against an unused key, which takes the same time.
func (t *totpAuthenticate) check(v *engine.Visit, app *schemas.TOTP, code string) (*engine.Decision, error) {
	if app == nil {
		_, _, err := totp.New(totp.SHA1, 6).Verify(code, v.Now, 0)
		return leaveWrong(v, false, "", schemas.ReasonNoApp), err
	}
	key, err := t.deps.openKey(app)
	if err != nil {
		return nil, err
	}
	step, right, err := key.Verify(code, v.Now, app.LastStep)
	switch {
	case err != nil:
		return nil, err
	case !right:
		return t.explainWrong(v, key, code)
	}
	return leaveProven(v, []string{"otp"}, schemas.ACROneTimeCode, app.AddedBy, schemas.ProofOfTOTP(app),
		schemas.UseTOTP{UserID: v.Subject.UserID, Step: step, At: v.Now},
		proof(v, "totp.used", v.Subject.UserID, nil)), nil
}

// explainWrong returns the failure of a wrong code, or of one that was right but used before. Only a
// user who has proved another factor learns the difference.
func (t *totpAuthenticate) explainWrong(v *engine.Visit, key totp.Key, code string) (*engine.Decision, error) {
	_, used, err := key.Verify(code, v.Now, 0)
	if err != nil || !used {
		return leaveWrong(v, true, schemas.ReasonWrongCode, ""), err
	}
	d := leaveWrong(v, true, schemas.ReasonUsedCode, "")
	if !t.Alone {
		d.Failed, d.Notice = true, schemas.Errorf(schemas.Conflict, schemas.CodeUsed, "the code was already used; wait for the next one in your app")
	}
	return d, nil
}
