package nodes

import (
	"cmp"
	"context"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

func recoveryCodeKind(d Deps) *engine.Kind {
	return &engine.Kind{
		Name: "recovery-code",
		Doc: "Accepts one of the user's recovery codes, from a user who was identified or has authenticated in this run. " +
			"A code is good once. Alone it authenticates, as the weakest class there is; with a password it stands for a second factor. " +
			"Lead on to a node that gives the user what they have lost, such as passkey-register.",
		With:     schemas.MustSchema("recovery-code", recoveryCodeSchema),
		Asks:     true,
		Outcomes: append(recoveryCodeOutcomes(), alternativeOutcome()),
		New:      func(c *engine.Config) (engine.Executor, []schemas.Problem) { return newRecoveryCode(c, d) },
	}
}

func recoveryCodeOutcomes() []engine.Outcome {
	return []engine.Outcome{
		withProof(engine.Outcome{
			Name: "success", Doc: "the code is one of the user's, and is used up",
			Establishes: []engine.Fact{engine.User, engine.Authenticated},
		}, []string{schemas.AMRRecovery}, schemas.ACRRecovery),
		{
			Name:     "failure",
			Doc:      "the code is wrong or was used before, or the user does not exist or has none; the reply does not reveal which",
			Optional: true,
		},
	}
}

const recoveryCodeSchema = `{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "input": {
      "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_.-]{0,63}$",
      "x-expect": "a letter, then up to 63 letters, digits, dots, dashes or underscores",
      "default": "recoveryCode", "description": "The identifier of the input for the code; by default 'recoveryCode'."
    },
    "label": {"type": "string", "minLength": 1, "default": "Recovery code", "description": "The label of the input; by default 'Recovery code'."},
    "alternatives": ` + alternativesSchema + `
  }
}`

type recoveryCodeWith struct {
	Input        string       `json:"input,omitempty"`
	Label        string       `json:"label,omitempty"`
	Alternatives alternatives `json:"alternatives,omitempty"`
}

type recoveryCode struct {
	recoveryCodeWith
	secretQuestion
	deps Deps
}

func newRecoveryCode(c *engine.Config, d Deps) (engine.Executor, []schemas.Problem) {
	with, found := configure[recoveryCodeWith](c)
	q := newSecretQuestion(field{
		Identifier: cmp.Or(with.Input, defaultRecoveryInput), Type: schemas.PasswordInput,
		Label: cmp.Or(with.Label, "Recovery code"), Autocomplete: "one-time-code",
	}, with.Alternatives.buttons()...)
	return &recoveryCode{recoveryCodeWith: with, secretQuestion: q, deps: d},
		append(found, with.Alternatives.check("success", "failure", submitAction)...)
}

// Outcomes adds the alternatives.
func (r *recoveryCode) Outcomes() []engine.Outcome {
	return append(recoveryCodeOutcomes(), r.Alternatives.outcomes()...)
}

// Execute asks for a code if there is none, and checks it.
func (r *recoveryCode) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	if d := r.Alternatives.leaveByAlternative(v); d != nil {
		return d, nil
	}
	code := r.secret(v)
	if code == "" {
		return r.askAgain(v), nil
	}
	hash := HashRecoveryCode(code)
	ok, err := r.deps.guessCode(ctx, v, func() (bool, error) {
		// For an unknown name the look-up finds nothing, and takes the same time.
		has, err := r.deps.Factors.HasRecoveryCode(ctx, cmp.Or(v.Subject.UserID, v.Subject.Name), hash)
		return has && v.Subject.Known(), err
	})
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return r.failed("the name or the code is not right, or the code was used before; check both and try again"), nil
	}
	d := engine.LeaveBy("success")
	d.Drop = []string{r.input}
	recordProof(v, d, []string{schemas.AMRRecovery}, schemas.ACRRecovery)
	d.Proofs = []schemas.Proof{schemas.ProofOfRecoveryCode(hash)}
	d.Changes = []schemas.Change{
		schemas.UseRecoveryCode{UserID: v.Subject.UserID, Hash: hash, At: v.Now},
		proof(v, "recovery.used", v.Subject.UserID, nil),
	}
	return d, nil
}
