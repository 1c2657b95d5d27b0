package nodes

import (
	"cmp"
	"context"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/schemas"
)

func totpKind(d Deps) *engine.Kind {
	return &engine.Kind{
		Name: "totp",
		Doc: "Asks for a code of the user's authenticator app (RFC 6238), as a second factor of a user who has authenticated in this run. " +
			"Each code is valid once. With alone: true the code is the only proof of a user who was only identified: " +
			"a single factor that is weaker than a password.",
		With:     schemas.MustSchema("totp", totpSchema),
		Asks:     true,
		Outcomes: append(totpOutcomes(false), alternativeOutcome()),
		New:      func(c *engine.Config) (engine.Executor, []schemas.Problem) { return newTOTP(c, d) },
	}
}

func totpOutcomes(alone bool) []engine.Outcome {
	outcomes := []engine.Outcome{
		withProof(engine.Outcome{
			Name: "success", Doc: "the code is one of the user's app",
			Establishes: []engine.Fact{engine.User, engine.Authenticated},
		}, []string{"otp"}, schemas.ACROneTimeCode),
		{Name: "failure", Doc: "the code is wrong, or was used before", Optional: true},
	}
	if !alone {
		outcomes = append(outcomes, engine.Outcome{Name: "none", Doc: "the user has no authenticator app; there is not this outcome with alone: true, which does not tell"})
	}
	return outcomes
}

const totpSchema = `{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "alone": {"type": "boolean", "default": false, "description": "Whether a code may be the only proof of a user who was only identified. The outcome none then does not exist, so the node does not reveal whether the user exists or has an app."},
    "input": {
      "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_.-]{0,63}$",
      "x-expect": "a letter, then up to 63 letters, digits, dots, dashes or underscores",
      "default": "otp", "description": "The identifier of the input for the code; by default 'otp'. A code that a prompt has just collected is taken."
    },
    "label": {"type": "string", "minLength": 1, "default": "Code of your authenticator app", "description": "The label of the input; by default 'Code of your authenticator app'."},
    "alternatives": ` + alternativesSchema + `
  }
}`

type totpWith struct {
	Alone        bool         `json:"alone,omitempty"`
	Input        string       `json:"input,omitempty"`
	Label        string       `json:"label,omitempty"`
	Alternatives alternatives `json:"alternatives,omitempty"`
}

type totpAuthenticate struct {
	totpWith
	secretQuestion
	deps Deps
}

func newTOTP(c *engine.Config, d Deps) (engine.Executor, []schemas.Problem) {
	with, found := configure[totpWith](c)
	t := &totpAuthenticate{totpWith: with, deps: d, secretQuestion: newCodeQuestion(with.Input, with.Alternatives.buttons()...)}
	t.form.fields[0].Label = cmp.Or(with.Label, t.form.fields[0].Label)
	return t, append(found, with.Alternatives.check("success", "failure", "none", submitAction)...)
}

// Outcomes adds the alternatives.
func (t *totpAuthenticate) Outcomes() []engine.Outcome {
	return append(totpOutcomes(t.Alone), t.Alternatives.outcomes()...)
}

// Needs requires that a second factor follows a first.
func (t *totpAuthenticate) Needs() []engine.Need {
	if t.Alone {
		return nil
	}
	return []engine.Need{{
		AnyOf: []engine.Fact{engine.Authenticated},
		Why:   "a code is a second factor, and the node would reveal whether an unauthenticated user has an app",
		Fix:   "put a node that authenticates, such as password-authenticate, before it, or set alone: true to let a code alone do",
	}}
}

// Reveals returns "": the outcome none reveals something about the user, but only after
// authentication; where a code stands alone the outcome does not exist.
func (t *totpAuthenticate) Reveals() string {
	if t.Alone {
		return ""
	}
	return "whether the user has an authenticator app; set alone: true, which does not"
}

// Execute asks for a code if there is none, and checks it.
func (t *totpAuthenticate) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	if d := t.Alternatives.leaveByAlternative(v); d != nil {
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
	code := t.secret(v)
	if code == "" {
		return t.askAgain(v), nil
	}
	var step int64
	ok, err := t.deps.guessCode(ctx, v, func() (right bool, err error) {
		step, right, err = t.verify(app, code, v)
		return right, err
	})
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return t.failed("the code is not right, or was used before; wait for the next one that your app shows"), nil
	}
	return t.right(v, app, step), nil
}

// verify checks the code. Without an app it checks against an unused key, which takes the same
// time.
func (t *totpAuthenticate) verify(app *schemas.TOTP, code string, v *engine.Visit) (int64, bool, error) {
	if app == nil {
		_, _, err := totp.New(totp.SHA1, 6).Verify(code, v.Now, 0)
		return 0, false, err
	}
	key, err := t.deps.openKey(app)
	if err != nil {
		return 0, false, err
	}
	return key.Verify(code, v.Now, app.LastStep)
}

func (t *totpAuthenticate) right(v *engine.Visit, app *schemas.TOTP, step int64) *engine.Decision {
	d := engine.LeaveBy("success")
	d.Drop = []string{t.input}
	recordProof(v, d, []string{"otp"}, schemas.ACROneTimeCode)
	d.Proofs = []schemas.Proof{schemas.ProofOfTOTP(app)}
	d.Changes = []schemas.Change{
		schemas.UseTOTP{UserID: v.Subject.UserID, Step: step, At: v.Now},
		proof(v, "totp.used", v.Subject.UserID, nil),
	}
	return d
}
