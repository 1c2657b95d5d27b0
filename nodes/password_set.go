package nodes

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/password"
	"github.com/postern-id/postern/schemas"
)

func passwordSetKind(d Deps) declared {
	return configured[passwordSet](d, engine.Kind{
		Name: "password-set",
		Doc: "Sets the password of the run's user, who must be new in this run or have authenticated in it. " +
			"It uses the password that a prompt just collected, or asks for it, until the server's password policy accepts it. " +
			"The user's other sessions end. A user with a second factor must have used one, or a passkey, in this run, and an administrator who has had a passkey must have used a passkey: otherwise the node ends the run.",
		Asks:  true,
		Needs: append(ownUserNeeds("it would set the password of another user's account"), strengthNeed(schemas.ACRPassword)),
		Outcomes: []engine.Outcome{withEnrolment(engine.On(successOutcome, engine.Effect{Guarded: true, Adds: engine.Password}, engine.Outcome{
			Doc:         "the user has the new password; a user that this run creates is authenticated",
			Establishes: []engine.Fact{engine.Credential},
		}), []string{"pwd"}, schemas.ACRPassword)},
	}, errorCodes{schemas.CodeFactorRequired, schemas.CodeStaleProof},
		row{"success", "a password, which is not the current one of a user who has authenticated; a new user is authenticated, and the user's other sessions end. `additionalData` then lists what the former password alone has [added](second-factors.md#what-a-former-password-added)"})
}

// passwordSet allows short passwords only together with a second factor: a password that is
// sufficient for a sign-in has 15 characters (NIST SP 800-63B-4 section 3.1.1.2).
type passwordSet struct {
	secretQuestion
	Input     string `json:"input,omitempty" is:"identifier" default:"password" doc:"The identifier of the password input. Default: 'password'."`
	MinLength int    `json:"minLength,omitempty" min:"8" max:"64" doc:"The minimum number of characters. Default: password.min_length of the configuration, which defaults to 15. A value of 15 or more can only raise that minimum. A value below 15 needs a second factor that was used or enrolled before in the run (NIST SP 800-63B-4 §3.1.1.2)."`
	Label     string `json:"label,omitempty" min:"1" default:"New password" doc:"The label of the input. Default: 'New password'."`
	Title     string `json:"title,omitempty" min:"1" doc:"The heading of the form. Default: 'Set a new password', or 'Set a password' for a user who has none."`
}

func (p *passwordSet) prepare(*engine.Config) []schemas.Problem {
	p.Input, p.Label = cmp.Or(p.Input, "password"), cmp.Or(p.Label, "New password")
	p.askFor(field{Identifier: p.Input, Type: schemas.PasswordInput, Label: p.Label, Autocomplete: "new-password"})
	if p.MinLength > 0 && p.MinLength < password.DefaultMinimum {
		p.needs = []engine.Need{{
			AnyOf: []engine.Fact{engine.Enrolled, engine.AMRFact("otp")},
			Why:   fmt.Sprintf("a password of fewer than %d characters must not be the only factor", password.DefaultMinimum),
			Fix:   fmt.Sprintf("put totp, totp-register or recovery-codes before it on every path, or raise minLength to %d", password.DefaultMinimum),
			Path:  "with.minLength",
		}}
	}
	return nil
}

// SetsPassword implements engine.PasswordSetter.
func (*passwordSet) SetsPassword() {}

// offer asks for a password. It states the rule before a password breaks it.
func (p *passwordSet) offer(ctx context.Context, v *engine.Visit, fault string) (*engine.Decision, error) {
	current, err := p.deps.passwordOf(ctx, v, v.Subject.UserID)
	if err != nil {
		return nil, err
	}
	q := p.secretQuestion
	q.form.title = cmp.Or(p.Title, "Set a new password")
	if p.Title == "" && current.Hash == "" {
		q.form.title = "Set a password"
	}
	if rule := p.deps.Policy.Rule(p.MinLength); fault != rule {
		q.form.text = rule
	}
	return q.ask(fault), nil
}

// Execute asks until the password is acceptable, and sets it.
func (p *passwordSet) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	if refused, err := p.deps.refuseChange(ctx, v, false); refused != nil || err != nil {
		return &engine.Decision{Fail: refused}, err
	}
	chosen := p.secret(v)
	if chosen == "" && v.Answer == nil {
		return p.offer(ctx, v, "")
	}
	user, err := p.deps.subjectUser(ctx, v)
	if err != nil {
		return nil, err
	}
	current, err := p.deps.passwordOf(ctx, v, user.ID)
	if err != nil {
		return nil, err
	}
	choice := password.Choice{Password: chosen, User: user, Minimum: p.MinLength}
	if v.Application != nil {
		choice.Application = v.Application.Name
	}
	if v.Authentication != nil {
		choice.Replaces = current.Hash
	}
	hash, fault, err := p.deps.Policy.Accept(ctx, p.deps.Hasher, choice)
	if err != nil {
		return nil, err
	}
	if fault != "" {
		return p.offer(ctx, v, fault)
	}
	set := schemas.SetPassword{UserID: user.ID, ID: schemas.NewID(), Hash: hash, At: v.Now, AddedBy: p.provenance(v)}
	if v.Authentication != nil {
		set.Confirmed = v.Authentication.Proofs
	}
	d := leaveEnrolled(v, []string{"pwd"}, schemas.ACRPassword, schemas.Proof{Kind: schemas.PasswordProof, Of: set.ID},
		set, event(v, "password.set", user.ID, nil))
	d.Drop = []string{p.input}
	d.Data, err = p.deps.reportFormer(ctx, v, current, set.Confirmed)
	return d, err
}

// formerData is the member of additionalData that lists what the replaced password alone has added to the
// account, as JSON: schemas.Addition.
const formerData = "addedWithFormerPassword"

// reportFormer returns the data for the user who replaces a password: what it and former ones have added.
func (d Deps) reportFormer(ctx context.Context, v *engine.Visit, replaced schemas.Password, confirmed []schemas.Proof) (map[string]string, error) {
	if v.Authentication == nil || v.Subject.Draft != nil || replaced.Hash == "" {
		return nil, nil
	}
	all, err := d.Store.Additions(ctx, v.Subject.UserID)
	former := schemas.AddedWithFormer(all, schemas.Proof{Kind: schemas.PasswordProof, Of: replaced.ID}, confirmed)
	if err != nil || len(former) == 0 {
		return nil, err
	}
	return map[string]string{formerData: string(must(json.Marshal(former)))}, nil
}
