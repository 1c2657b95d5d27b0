package nodes

import (
	"cmp"
	"context"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Bounds of a new password, in characters. NIST SP 800-63B §3.1.1.2 asks for
// at least 15 where the password is all there is, and for 8 beside another
// factor; the configuration of a node may raise the least.
const (
	defaultMinPassword = 8
	maxPassword        = 128
)

func passwordSetKind(d Deps) *engine.Kind {
	return &engine.Kind{
		Name: "password-set",
		Doc: "Sets the password of the run's user, who must be new in this run or have authenticated in it. " +
			"It takes the password that a prompt just collected, or asks for it, until it is good enough.",
		With:  schemas.MustSchema("password-set", passwordSetSchema),
		Asks:  true,
		Needs: ownUserNeeds("it would set the password of somebody else's account"),
		Outcomes: []engine.Outcome{enrols(engine.Outcome{
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
      "default": 8, "description": "The least number of characters; by default 8. NIST SP 800-63B asks for 15 where a password is the only factor."
    },
    "label": {"type": "string", "minLength": 1, "default": "New password", "description": "What the person reads beside the input; by default 'New password'."}
  }
}`

type passwordSetWith struct {
	Input     string `json:"input,omitempty"`
	MinLength int    `json:"minLength,omitempty"`
	Label     string `json:"label,omitempty"`
}

type passwordSet struct {
	secretQuestion
	least  int
	users  Users
	hasher Hasher
}

func newPasswordSet(c *engine.Config, d Deps) (engine.Executor, []schemas.Problem) {
	with, found := configure[passwordSetWith](c)
	return &passwordSet{
		secretQuestion: newPasswordQuestion(with.Input, cmp.Or(with.Label, "New password"), "new-password"),
		least:          cmp.Or(with.MinLength, defaultMinPassword),
		users:          d.Users,
		hasher:         d.Hasher,
	}, found
}

// Execute asks for a password until there is a good one, and sets it.
func (p *passwordSet) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	password := p.secret(v)
	if password == "" && v.Answer == nil {
		return p.ask(""), nil
	}
	user, err := subjectUser(ctx, p.users, v)
	if err != nil {
		return nil, err
	}
	if fault := weakness(password, p.least, user); fault != "" {
		return p.ask(fault), nil
	}
	hash, err := p.hasher.Hash(ctx, password)
	if err != nil {
		return nil, err
	}
	d := engine.Leave("success")
	d.Drop = []string{p.input}
	enrolled(v, d, []string{"pwd"}, schemas.ACRPassword)
	d.Changes = []schemas.Change{
		schemas.SetPassword{UserID: user.ID, Hash: hash, At: v.Now},
		event(v, "password.set", user.ID, nil),
	}
	return d, nil
}
