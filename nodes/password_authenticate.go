package nodes

import (
	"cmp"
	"context"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

func passwordAuthenticateKind(d Deps) *engine.Kind {
	return &engine.Kind{
		Name: "password-authenticate",
		Doc: "Authenticates the user that the run has identified with a password. It takes the password that a prompt " +
			"just collected, or asks for it.",
		With: schemas.MustSchema("password-authenticate", passwordAuthenticateSchema),
		Asks: true,
		Outcomes: []engine.Outcome{
			withProof(engine.Outcome{
				Name: "success", Doc: "the password is the user's",
				Establishes: []engine.Fact{engine.User, engine.Authenticated},
			}, []string{"pwd"}, schemas.ACRPassword),
			{
				Name:     "failure",
				Doc:      "the password is wrong, or the user does not exist or has none; the reply does not reveal which",
				Optional: true,
			},
		},
		New: func(c *engine.Config) (engine.Executor, []schemas.Problem) { return newPasswordAuthenticate(c, d) },
	}
}

const passwordAuthenticateSchema = `{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "input": {
      "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_.-]{0,63}$",
      "x-expect": "a letter, then up to 63 letters, digits, dots, dashes or underscores",
      "default": "password", "description": "The identifier of the password input; by default 'password'."
    },
    "label": {"type": "string", "minLength": 1, "default": "Password", "description": "The label of the input; by default 'Password'."}
  }
}`

type passwordAuthenticateWith struct {
	Input string `json:"input,omitempty"`
	Label string `json:"label,omitempty"`
}

type passwordAuthenticate struct {
	secretQuestion
	users     Users
	passwords Passwords
	hasher    Hasher
	guesses   Guesses
}

func newPasswordAuthenticate(c *engine.Config, d Deps) (engine.Executor, []schemas.Problem) {
	with, found := configure[passwordAuthenticateWith](c)
	return &passwordAuthenticate{
		secretQuestion: newPasswordQuestion(with.Input, cmp.Or(with.Label, "Password"), "current-password"),
		users:          d.Users,
		passwords:      d.Passwords,
		hasher:         d.Hasher,
		guesses:        d.Guesses,
	}, found
}

// Execute asks for the password if there is none, and checks it.
func (p *passwordAuthenticate) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	password := p.secret(v)
	if password == "" {
		return p.askAgain(v), nil
	}
	known, err := p.guess(ctx, v, password)
	if err != nil {
		return nil, err
	}
	if known == nil || known.refused != nil {
		d := p.failed("the name or the password is not right; check both and try again")
		if known != nil {
			d.Changes = append(d.Changes, event(v, "user.sign_in_refused", v.Subject.UserID, map[string]string{"reason": known.refused.Code}))
		}
		return d, nil
	}
	d := engine.LeaveBy("success")
	d.Drop = []string{p.input}
	recordProof(v, d, []string{"pwd"}, schemas.ACRPassword)
	d.Proofs = []schemas.Proof{{Kind: schemas.PasswordProof, Of: known.id}}
	d.Changes = p.renewed(ctx, v, password, known)
	return d, nil
}

// knownPassword is a verified password.
type knownPassword struct {
	id, hash string
	outdated bool // the hash should be replaced
	// refused is set if the user may not sign in. Passwords can be guessed, so the reply must not
	// reveal that this one is right.
	refused *schemas.Error
}

// guess verifies the password within the limits on guesses. The limit comes before hashing, so that
// a flood of guesses does not occupy the hasher. It returns nil if the password is wrong.
func (p *passwordAuthenticate) guess(ctx context.Context, v *engine.Visit, password string) (known *knownPassword, err error) {
	if p.guesses == nil {
		return p.verify(ctx, v, password)
	}
	_, err = p.guesses.Guess(ctx, guessOf(v, schemas.NameSecret, nameOf(v)), func() (right bool, err error) {
		known, err = p.verify(ctx, v, password)
		return known != nil && known.refused == nil, err
	})
	return known, err
}

// verify checks the password against the user's, and returns nil if it is wrong. If there is no
// password to compare with, it hashes anyway, which takes the same time.
func (p *passwordAuthenticate) verify(ctx context.Context, v *engine.Visit, password string) (*knownPassword, error) {
	var stored knownPassword
	var err error
	if v.Subject.Known() {
		if stored.hash, stored.id, err = passwordOf(ctx, p.passwords, v, v.Subject.UserID); err != nil {
			return nil, err
		}
	}
	if stored.hash == "" {
		_, err = p.hasher.Hash(ctx, password)
		return nil, err
	}
	ok, outdated, err := p.hasher.Verify(ctx, stored.hash, password)
	if err != nil || !ok {
		return nil, err
	}
	user, err := subjectUser(ctx, p.users, v)
	if err != nil {
		return nil, err
	}
	stored.outdated, stored.refused = outdated, user.CheckActive(v.Now)
	return &stored, nil
}

// renewed returns the changes that replace an outdated hash. If hashing fails, the old hash stays,
// so the user does not wait for it.
func (p *passwordAuthenticate) renewed(ctx context.Context, v *engine.Visit, password string, known *knownPassword) []schemas.Change {
	changes := []schemas.Change{proof(v, "password.used", v.Subject.UserID, nil)}
	if !known.outdated {
		return changes
	}
	hash, err := p.hasher.Hash(ctx, password)
	if err != nil {
		return changes
	}
	return append(changes, schemas.RehashPassword{UserID: v.Subject.UserID, Verified: known.hash, Hash: hash})
}
