package nodes

import (
	"cmp"
	"context"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

func recoveryCodeKind(d Deps) declared {
	return configured[recoveryCode](d, engine.Kind{
		Name: "recovery-code",
		Doc: "Accepts one of the user's recovery codes, from a user who was identified or has authenticated in this run. " +
			"A code is valid once. Alone it authenticates with the weakest class; with a password it counts as a second factor. " +
			"Continue with a node that replaces the lost credential, such as passkey-register.",
		Asks: true,
		Outcomes: []engine.Outcome{
			withProof(engine.On(successOutcome, engine.Effect{Proves: engine.RecoveryCodes}, engine.Outcome{
				Doc:         "the code is one of the user's, and is now used",
				Establishes: []engine.Fact{engine.User, engine.Authenticated},
			}), []string{schemas.AMRRecovery}, schemas.ACRRecovery),
			engine.On(failureOutcome, engine.NoEffect(), engine.Outcome{
				Doc:      "the code is wrong or was used before, or the user does not exist or has none; the reply does not reveal which",
				Optional: true,
			}),
			alternativeOutcome(),
		},
	}, errorCodes{schemas.CodeInvalidCode, schemas.CodeCanceled},
		row{"success, failure (optional), its alternatives", "an authenticated user"})
}

type recoveryCode struct {
	secretQuestion
	Input        string       `json:"input,omitempty" is:"identifier" default:"recoveryCode" doc:"The identifier of the input for the code. Default: 'recoveryCode'."`
	Label        string       `json:"label,omitempty" min:"1" default:"Recovery code" doc:"The label of the input. Default: 'Recovery code'."`
	Title        string       `json:"title,omitempty" min:"1" default:"Enter a recovery code" doc:"The heading of the form. Default: 'Enter a recovery code'."`
	Alternatives alternatives `json:"alternatives,omitempty"`
}

func (r *recoveryCode) prepare(*engine.Config) (found []schemas.Problem) {
	r.askFor(field{
		Identifier: cmp.Or(r.Input, "recoveryCode"), Type: schemas.PasswordInput,
		Label: cmp.Or(r.Label, "Recovery code"), Autocomplete: "one-time-code",
	}, r.Alternatives.buttons()...)
	r.form.title = cmp.Or(r.Title, "Enter a recovery code")
	r.outcomes, found = r.Alternatives.addTo(r.outcomes, submitAction)
	return found
}

// Execute asks for a code if there is none, and checks it.
func (r *recoveryCode) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	if d := r.deps.leaveByAlternative(v, r.Alternatives); d != nil {
		return d, nil
	}
	wrong := schemas.Errorf(schemas.Invalid, schemas.CodeInvalidCode,
		"the code is incorrect or was already used, or it belongs to another username; check both and try again")
	return r.verify(ctx, v, guessOf(v, schemas.RecoverySecret, nameOf(v)), wrong, func(code string) (*engine.Decision, error) {
		// For an unknown name the look-up finds nothing, and takes the same time.
		hash := HashRecoveryCode(code)
		found, err := r.deps.Store.RecoveryCode(ctx, cmp.Or(v.Subject.UserID, v.Subject.Name), hash)
		switch {
		case err != nil:
			return nil, err
		case found == nil || !v.Subject.Known():
			return leaveWrong(v, true, schemas.ReasonWrongRecovery, ""), nil
		case found.Used:
			return leaveWrong(v, true, schemas.ReasonUsedRecovery, ""), nil
		}
		return leaveProven(v, []string{schemas.AMRRecovery}, schemas.ACRRecovery, found.AddedBy, schemas.ProofOfRecoveryCode(hash),
			schemas.UseRecoveryCode{UserID: v.Subject.UserID, Hash: hash, At: v.Now},
			proof(v, "recovery.used", v.Subject.UserID, nil)), nil
	})
}

// HashRecoveryCode returns the stored hash of a recovery code, ignoring how it was typed.
func HashRecoveryCode(typed string) []byte {
	read := strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1")
	return schemas.HashSecret(read.Replace(strings.ToUpper(strings.TrimSpace(typed))))
}
