package nodes

import (
	"cmp"
	"context"
	"fmt"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/password"
	"github.com/postern-id/postern/schemas"
)

func passwordSetKind(d Deps) *engine.Kind {
	return &engine.Kind{
		Name: "password-set",
		Doc: "Sets the password of the run's user, who must be new in this run or have authenticated in it. " +
			"It takes the password that a prompt just collected, or asks for it, until the server's password policy accepts it. " +
			"The other sessions of the user end.",
		With:  schemas.MustSchema("password-set", passwordSetSchema),
		Asks:  true,
		Needs: ownUserNeeds("it would set the password of another user's account"),
		Outcomes: []engine.Outcome{withEnrolment(engine.Outcome{
			Name: "success", Doc: "the user has the new password; a user of the run's own is authenticated",
			Establishes: []engine.Fact{engine.Credential},
		}, []string{"pwd"}, schemas.ACRPassword)},
		New: func(c *engine.Config) (engine.Executor, []schemas.Problem) { return newPasswordSet(c, d) },
	}
}

const passwordSetSchema = `{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "input": {
      "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_.-]{0,63}$",
      "x-expect": "a letter, then up to 63 letters, digits, dots, dashes or underscores",
      "default": "password", "description": "The identifier of the password input; by default 'password'."
    },
    "minLength": {
      "type": "integer", "minimum": 8, "maximum": 64,
      "description": "The least number of characters; by default password.min_length of the configuration, which is 15 unless set. From 15 on it can only raise that. Below 15 it takes a second factor that was used or enrolled before in the run (NIST SP 800-63B-4 §3.1.1.2)."
    },
    "label": {"type": "string", "minLength": 1, "default": "New password", "description": "The label of the input; by default 'New password'."}
  }
}`

type passwordSetWith struct {
	Input     string `json:"input,omitempty"`
	MinLength int    `json:"minLength,omitempty"`
	Label     string `json:"label,omitempty"`
}

type passwordSet struct {
	secretQuestion
	minimum int
	policy  password.Policy
	users   Users
	hasher  Hasher
}

func newPasswordSet(c *engine.Config, d Deps) (engine.Executor, []schemas.Problem) {
	with, found := configure[passwordSetWith](c)
	return &passwordSet{
		secretQuestion: newPasswordQuestion(with.Input, cmp.Or(with.Label, "New password"), "new-password"),
		minimum:        with.MinLength,
		policy:         d.Policy,
		users:          d.Users,
		hasher:         d.Hasher,
	}, found
}

// Needs allows short passwords only together with a second factor: a password that is sufficient
// for a sign-in has 15 characters (NIST SP 800-63B-4 section 3.1.1.2).
func (p *passwordSet) Needs() []engine.Need {
	if p.minimum == 0 || p.minimum >= password.DefaultMinimum {
		return nil
	}
	return []engine.Need{{
		AnyOf: []engine.Fact{engine.Enrolled, engine.AMRFact("otp")},
		Why:   fmt.Sprintf("a password of fewer than %d characters must not be all that a user signs in with", password.DefaultMinimum),
		Fix:   fmt.Sprintf("put totp, totp-register or recovery-codes before it on every path, or raise minLength to %d", password.DefaultMinimum),
		Path:  "with.minLength",
	}}
}

// Execute asks until the password is acceptable, and sets it.
func (p *passwordSet) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	chosen := p.secret(v)
	if chosen == "" && v.Answer == nil {
		return p.ask(""), nil
	}
	user, err := subjectUser(ctx, p.users, v)
	if err != nil {
		return nil, err
	}
	choice := password.Choice{Password: chosen, User: user, Application: applicationName(v), Minimum: p.minimum}
	if fault := p.policy.Check(choice); fault != "" {
		return p.ask(fault), nil
	}
	hash, err := p.hasher.Hash(ctx, chosen)
	if err != nil {
		return nil, err
	}
	d := engine.LeaveBy("success")
	d.Drop = []string{p.input}
	recordEnrolment(v, d, []string{"pwd"}, schemas.ACRPassword)
	set := schemas.SetPassword{UserID: user.ID, ID: schemas.NewID(), Hash: hash, At: v.Now}
	d.Proofs = []schemas.Proof{{Kind: schemas.PasswordProof, Of: set.ID}}
	d.Changes = []schemas.Change{
		set,
		event(v, "password.set", user.ID, nil),
	}
	return d, nil
}

// applicationName returns the name of the run's application, "" for none.
func applicationName(v *engine.Visit) string {
	if v.Application == nil {
		return ""
	}
	return v.Application.Name
}
