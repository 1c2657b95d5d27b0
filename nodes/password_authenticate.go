package nodes

import (
	"cmp"
	"context"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

func passwordAuthenticateKind(d Deps) declared {
	return configured[passwordAuthenticate](d, engine.Kind{
		Name: "password-authenticate",
		Open: true,
		Doc: "Authenticates the user that the run has identified with a password. It uses the password that a prompt " +
			"just collected, or asks for it.",
		Asks: true,
		Outcomes: []engine.Outcome{
			withProof(engine.On(successOutcome, engine.Effect{Proves: engine.Password}, engine.Outcome{
				Doc:         "the password is the user's",
				Establishes: []engine.Fact{engine.User, engine.Authenticated},
			}), []string{"pwd"}, schemas.ACRPassword),
			engine.On(failureOutcome, engine.NoEffect(), engine.Outcome{
				Doc:      "the password is wrong, or the user does not exist or has none; the reply does not reveal which",
				Optional: true,
			}),
		},
	}, errorCodes{schemas.CodeInvalidCredentials},
		row{"success, failure (optional)", "an authenticated user"})
}

type passwordAuthenticate struct {
	secretQuestion
	Input string `json:"input,omitempty" is:"identifier" default:"password" doc:"The identifier of the password input. Default: 'password'."`
	Label string `json:"label,omitempty" min:"1" default:"Password" doc:"The label of the input. Default: 'Password'."`
}

func (p *passwordAuthenticate) prepare(*engine.Config) []schemas.Problem {
	p.Input, p.Label = cmp.Or(p.Input, "password"), cmp.Or(p.Label, "Password")
	p.askFor(field{Identifier: p.Input, Type: schemas.PasswordInput, Label: p.Label, Autocomplete: "current-password"})
	return nil
}

// Execute asks for the password if there is none, and checks it.
func (p *passwordAuthenticate) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	wrong := schemas.Errorf(schemas.Invalid, schemas.CodeInvalidCredentials, "the username or password is incorrect; check both and try again")
	return p.verify(ctx, v, guessOf(v, schemas.PasswordSecret, nameOf(v)), wrong, func(password string) (*engine.Decision, error) {
		return p.check(ctx, v, password)
	})
}

// check compares the password with the user's, and leaves by failure if it is wrong. If there is no
// password to compare with, Verify takes the same time. Passwords can be guessed,
// so the reply to a user who may not sign in does not reveal that the password is right.
func (p *passwordAuthenticate) check(ctx context.Context, v *engine.Visit, typed string) (*engine.Decision, error) {
	var stored schemas.Password
	var err error
	if v.Subject.Known() {
		if stored, err = p.deps.passwordOf(ctx, v, v.Subject.UserID); err != nil {
			return nil, err
		}
	}
	ok, outdated, err := p.deps.Hasher.Verify(ctx, stored.Hash, typed)
	if err != nil {
		return nil, err
	}
	if !ok {
		return leaveWrong(v, stored.Hash != "", schemas.ReasonWrongPassword, schemas.ReasonNoPassword), nil
	}
	user, err := p.deps.subjectUser(ctx, v)
	if err != nil {
		return nil, err
	}
	if refused := user.CheckActive(v.Now); refused != nil {
		return leaveWrong(v, true, refused.Code, ""), nil
	}
	d := leaveProven(v, []string{"pwd"}, schemas.ACRPassword, stored.AddedBy, schemas.Proof{Kind: schemas.PasswordProof, Of: stored.ID},
		proof(v, "password.used", user.ID, nil))
	if outdated {
		// If hashing fails, the old hash stays: the user does not wait for it.
		if renewed, err := p.deps.Hasher.Hash(ctx, typed); err == nil {
			d.Changes = append(d.Changes, schemas.RehashPassword{UserID: user.ID, Verified: stored.Hash, Hash: renewed})
		}
	}
	return d, nil
}
