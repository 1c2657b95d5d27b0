package nodes

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

func TestPasswordAuthenticateAsks(t *testing.T) {
	w := newFixture(t)
	d := run(t, w.make(t, "password-authenticate", `{"input": "pin", "label": "PIN"}`, nil), visit(known("ada"), inputs("password", "x")))
	if d.Ask == nil || len(d.Ask.Inputs) != 1 || d.Ask.Inputs[0].Identifier != "pin" || d.Ask.Inputs[0].Type != schemas.PasswordInput {
		t.Fatalf("got %+v", d)
	}
	if c := d.Ask.Components[0].Components[0]; c.Label != "PIN" || c.Autocomplete != "current-password" {
		t.Errorf("component %+v", c)
	}
}

func TestPasswordAuthenticate(t *testing.T) {
	const right = "analytical engine"
	tests := map[string]struct {
		visit           *engine.Visit
		outcome, reason string // the reason is for the audit log only
	}{
		"right, collected before":          {visit(known("ada"), inputs("password", right)), "success", ""},
		"right, answered":                  {visit(known("ada"), answer("submit", "password", right)), "success", ""},
		"wrong":                            {visit(known("ada"), inputs("password", "wrong")), "failure", schemas.ReasonWrongPassword},
		"a user without password":          {visit(known("bob"), inputs("password", right)), "failure", schemas.ReasonNoPassword},
		"a user who is concealed":          {visit(concealed("eve"), inputs("password", right)), "failure", schemas.ReasonUnknownUser},
		"no user at all":                   {visit(inputs("password", right)), "failure", schemas.ReasonUnknownUser},
		"audit 15: a user who is disabled": {visit(known("dora"), inputs("password", right)), "failure", schemas.CodeAccountDisabled},
		"audit 15: a user who is locked":   {visit(known("lea"), inputs("password", right)), "failure", schemas.CodeAccountLocked},
		"audit 15: a user who was locked":  {visit(known("max"), inputs("password", right)), "success", ""},
		"a user to be": {
			visit(drafted(&schemas.User{ID: "new"}), inputs("password", right)), "failure", schemas.ReasonNoPassword,
		},
	}
	var notices []string
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			w.addInactive()
			d := left(t, run(t, w.make(t, "password-authenticate", `{}`, nil), test.visit), test.outcome)
			if !slices.Contains(d.Drop, "password") {
				t.Error("the password stays with the run")
			}
			if w.hasher.verified != 1 || w.hasher.hashed != 0 {
				t.Errorf("verified %d and hashed %d, want one verification: time must not tell whether there is such a user", w.hasher.verified, w.hasher.hashed)
			}
			if test.outcome == "failure" {
				noticed(t, d, "invalid_credentials")
				notices = append(notices, d.Notice.Error())
				if d.Reason != test.reason || len(d.Changes) > 0 {
					t.Errorf("the reason %q, changes %v", d.Reason, d.Changes)
				}
				return
			}
			if !slices.Equal(methodsOf(d), []string{"pwd"}) || acrOf(d) != schemas.ACRPassword || actions(d) != "password.used" {
				t.Errorf("methods %v, acr %s, events %s", methodsOf(d), acrOf(d), actions(d))
			}
		})
	}
	if slices.Sort(notices); len(slices.Compact(notices)) != 1 {
		t.Errorf("the failures are distinguishable: %q", notices)
	}
}

func TestPasswordAuthenticateNeedsAPassword(t *testing.T) {
	w := newFixture(t)
	d := run(t, w.make(t, "password-authenticate", `{}`, nil), visit(known("ada"), answer("submit")))
	if d.Ask == nil || len(d.Ask.FieldErrors) != 1 || d.Failed || w.hasher.verified != 0 {
		t.Errorf("got %+v", d)
	}
}

func TestPasswordAuthenticateRenewsOldHashes(t *testing.T) {
	w := newFixture(t)
	w.hashes["ada"] = "old:analytical engine"
	exec := w.make(t, "password-authenticate", `{}`, nil)
	d := left(t, run(t, exec, visit(known("ada"), inputs("password", "analytical engine"))), "success")
	want := schemas.RehashPassword{UserID: "ada", Verified: "old:analytical engine", Hash: "new:analytical engine"}
	if !slices.Contains(d.Changes, schemas.Change(want)) || len(d.Proofs) != 1 || !d.Proofs[0].IsOf(schemas.Proof{Kind: schemas.PasswordProof, Of: "password of ada"}) {
		t.Errorf("changes %+v, proofs %+v", d.Changes, d.Proofs)
	}
}

func TestPasswordAuthenticateOverloaded(t *testing.T) {
	w := newFixture(t)
	w.hasher.broken = schemas.Errorf(schemas.Unavailable, schemas.CodeOverloaded, "busy")
	exec := w.make(t, "password-authenticate", `{}`, nil)
	for _, v := range []*engine.Visit{visit(known("ada"), inputs("password", "x")), visit(inputs("password", "x"))} {
		if _, err := exec.Execute(t.Context(), v); !schemas.HasCode(err, schemas.CodeOverloaded) {
			t.Errorf("got %v: too much work is not a wrong password", err)
		}
	}
}

// guessing records the users and results of guesses, and rejects guesses if the test says
// so.
type guessing struct {
	refuse   error
	outcomes []string
}

func (g *guessing) Guess(_ context.Context, guess schemas.Guess, check func() (bool, error)) (bool, error) {
	if g.refuse != nil {
		return false, g.refuse
	}
	right, err := check()
	g.outcomes = append(g.outcomes, fmt.Sprintf("%s of %s (%s): %v, %v", guess.Secret, guess.Name, guess.UserID, right, err))
	return right, err
}

func TestPasswordAuthenticateIsAGuess(t *testing.T) {
	const right = "analytical engine"
	for name, test := range map[string]struct {
		visit *engine.Visit
		want  string
	}{
		"right":          {visit(known("ada"), inputs("username", "Ada", "password", right)), "password of Ada (ada): true, <nil>"},
		"wrong":          {visit(known("ada"), inputs("username", "Ada", "password", "x")), "password of Ada (ada): false, <nil>"},
		"concealed":      {visit(concealed("eve"), inputs("username", "eve", "password", "x")), "password of eve (): false, <nil>"},
		"not named":      {visit(drafted(&schemas.User{ID: "new"}), inputs("password", "x")), "password of new (): false, <nil>"},
		"no user at all": {visit(inputs("password", "x")), "password of  (): false, <nil>"},
	} {
		w, guesses := newFixture(t), &guessing{}
		w.deps.Guesses = guesses
		w.kinds = Kinds(w.deps)
		run(t, w.make(t, "password-authenticate", `{}`, nil), test.visit)
		if !slices.Equal(guesses.outcomes, []string{test.want}) {
			t.Errorf("%s: guesses %q, want %q", name, guesses.outcomes, test.want)
		}
	}
}

func TestPasswordAuthenticateRefusesBeforeItHashes(t *testing.T) {
	w := newFixture(t)
	w.deps.Guesses = &guessing{refuse: schemas.Errorf(schemas.Throttled, "too_many_requests", "later")}
	w.kinds = Kinds(w.deps)
	exec := w.make(t, "password-authenticate", `{}`, nil)
	for _, v := range []*engine.Visit{visit(known("ada"), inputs("password", "x")), visit(concealed("eve"), inputs("password", "x"))} {
		if _, err := exec.Execute(t.Context(), v); !schemas.HasClass(err, schemas.Throttled) {
			t.Errorf("got %v, want what the guess was refused with", err)
		}
	}
	if w.hasher.verified+w.hasher.hashed != 0 {
		t.Error("a refused guess was hashed")
	}
}

func TestPasswordAuthenticateFailsWithTheStore(t *testing.T) {
	w := newFixture(t)
	w.broken = errors.New("disk on fire")
	_, err := w.make(t, "password-authenticate", `{}`, nil).Execute(t.Context(), visit(known("ada"), inputs("password", "x")))
	if !errors.Is(err, w.broken) {
		t.Errorf("got %v", err)
	}
}

func TestPasswordSet(t *testing.T) {
	w := newFixture(t)
	exec := w.make(t, "password-set", `{}`, nil)
	if d := run(t, exec, visit(known("bob"))); d.Ask == nil || d.Ask.FieldErrors != nil {
		t.Fatalf("on arrival: %+v", d)
	}
	grace := &schemas.User{ID: "grace", Attributes: map[string]any{"username": "grace"}}
	d := left(t, run(t, exec, visit(drafted(grace), inputs("password", "compilers are fun"))), "success")
	want := schemas.SetPassword{UserID: "grace", ID: d.Proofs[0].Of, Hash: "new:compilers are fun", At: noon}
	if !reflect.DeepEqual(d.Changes[0], schemas.Change(want)) || want.ID == "" || actions(d) != "password.set" || !slices.Contains(d.Drop, "password") {
		t.Errorf("changes %+v, dropped %v", d.Changes, d.Drop)
	}
	if !slices.Equal(methodsOf(d), []string{"pwd"}) || acrOf(d) != schemas.ACRPassword {
		t.Errorf("methods %v, acr %s: a new user is who set the password", methodsOf(d), acrOf(d))
	}
}

func TestPasswordSetAsksUntilItIsGood(t *testing.T) {
	w := newFixture(t)
	exec := w.make(t, "password-set", `{"minLength": 15}`, nil)
	for _, v := range []*engine.Visit{
		visit(known("ada"), inputs("password", "fourteen chars")),
		visit(known("ada"), answer("submit", "password", "fourteen chars")),
		visit(known("ada"), answer("submit")),
	} {
		d := run(t, exec, v)
		if d.Ask == nil || len(d.Ask.FieldErrors) != 1 || !slices.Contains(d.Drop, "password") {
			t.Errorf("got %+v", d)
		}
	}
	left(t, run(t, exec, visit(known("ada"), answer("submit", "password", "fifteen chars is"))), "success")
	if w.hasher.hashed != 1 {
		t.Errorf("%d passwords were hashed", w.hasher.hashed)
	}
}

func TestPasswordSetFails(t *testing.T) {
	w := newFixture(t)
	exec := w.make(t, "password-set", `{}`, nil)
	if _, err := exec.Execute(t.Context(), visit(known("gone"), inputs("password", "quiet harbour lantern"))); !schemas.HasCode(err, schemas.CodeUserNotFound) {
		t.Errorf("a user who is gone: %v", err)
	}
	if _, err := exec.Execute(t.Context(), visit(inputs("password", "quiet harbour lantern"))); err == nil {
		t.Error("set a password without a user")
	}
	w.hasher.broken = schemas.Errorf(schemas.Unavailable, schemas.CodeOverloaded, "busy")
	if _, err := exec.Execute(t.Context(), visit(known("ada"), inputs("password", "quiet harbour lantern"))); !schemas.HasCode(err, schemas.CodeOverloaded) {
		t.Errorf("overloaded: %v", err)
	}
}

func TestAssurance(t *testing.T) {
	passkeyed := authenticated("phrh", "hwk", "pop")
	byPassword := authenticated(schemas.ACRPassword, "pwd")
	isNew := func(v *engine.Visit) { v.Facts = engine.NewFacts(engine.New) }
	leaveProven := func(v *engine.Visit, methods []string, acr string, by schemas.Proof, changes ...schemas.Change) *engine.Decision {
		return leaveProven(v, methods, acr, schemas.Provenance{}, by, changes...)
	}
	tests := map[string]struct {
		leave   func(v *engine.Visit, methods []string, acr string, by schemas.Proof, changes ...schemas.Change) *engine.Decision
		visit   *engine.Visit
		methods []string
		acr     string
		want    string
	}{
		"first proof":                           {leaveProven, visit(), []string{"pwd"}, schemas.ACRPassword, "pwd " + schemas.ACRPassword},
		"passkey after password":                {leaveProven, visit(byPassword), []string{"pop"}, "phr", "pwd pop mfa " + schemas.ACRMultiFactorPR},
		"attested passkey after password":       {leaveProven, visit(byPassword), []string{"hwk", "pop"}, "phrh", "pwd hwk pop mfa " + schemas.ACRMultiFactorPRProtected},
		"verifying passkey after password":      {leaveProven, visit(byPassword), []string{"pop", "user", "mfa"}, schemas.ACRMultiFactorPR, "pwd pop user mfa " + schemas.ACRMultiFactorPR},
		"password after passkey":                {leaveProven, visit(passkeyed), []string{"pwd"}, schemas.ACRPassword, "hwk pop pwd mfa " + schemas.ACRMultiFactorPRProtected},
		"synced passkey after a bound one":      {leaveProven, visit(passkeyed), []string{"swk", "pop"}, "phr", "hwk pop swk phrh"},
		"a class not known here is the weakest": {leaveProven, visit(authenticated("custom", "x")), []string{"pwd"}, schemas.ACRPassword, "x pwd " + schemas.ACRPassword},
		"a code after a password":               {leaveProven, visit(byPassword), []string{"otp"}, schemas.ACROneTimeCode, "pwd otp mfa " + schemas.ACRMultiFactor},
		"a password after a code":               {leaveProven, visit(authenticated(schemas.ACROneTimeCode, "otp")), []string{"pwd"}, schemas.ACRPassword, "otp pwd mfa " + schemas.ACRMultiFactor},
		"a passkey after two factors":           {leaveProven, visit(authenticated(schemas.ACRMultiFactor, "pwd", "otp", "mfa")), []string{"pop"}, "phr", "pwd otp mfa pop " + schemas.ACRMultiFactorPR},
		"a recovery code after a password":      {leaveProven, visit(byPassword), []string{schemas.AMRRecovery}, schemas.ACRRecovery, "pwd recovery mfa " + schemas.ACRMultiFactor},
		"two things that are held":              {leaveProven, visit(passkeyed), []string{"otp"}, schemas.ACROneTimeCode, "hwk pop otp phrh"},
		"enrolled by a new user":                {leaveEnrolled, visit(isNew), []string{"hwk", "pop"}, "phrh", "hwk pop phrh"},
		"second credential of a new user":       {leaveEnrolled, visit(isNew, byPassword), []string{"hwk", "pop"}, "phrh", "pwd hwk pop mfa " + schemas.ACRMultiFactorPRProtected},
		"a password does not become a passkey":  {leaveEnrolled, visit(byPassword), []string{"hwk", "pop"}, "phrh", "pwd " + schemas.ACRPassword},
		"a passkey does not become a password":  {leaveEnrolled, visit(passkeyed), []string{"pwd"}, schemas.ACRPassword, "hwk pop phrh"},
	}
	for name, test := range tests {
		d := test.leave(test.visit, test.methods, test.acr, schemas.Proof{})
		if got := proven(test.visit, d); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// The form states the rule before a password breaks it, once, and whether the user has a password.
func TestPasswordSetStatesTheRule(t *testing.T) {
	const rule = "Use at least 15 characters; a few words are easier to remember."
	w := newFixture(t)
	for name, test := range map[string]struct {
		with        string
		visit       *engine.Visit
		title, text string
	}{
		"a user with a password":    {`{}`, visit(known("ada")), "Set a new password", rule},
		"a user without":            {`{}`, visit(known("bob")), "Set a password", rule},
		"a title of the flow":       {`{"title": "Choose"}`, visit(known("bob")), "Choose", rule},
		"a minimum of the flow":     {`{"minLength": 20}`, visit(known("ada")), "Set a new password", strings.Replace(rule, "15", "20", 1)},
		"after one that is short":   {`{}`, visit(known("ada"), answer("submit", "password", "short")), "Set a new password", ""},
		"after one that is missing": {`{}`, visit(known("ada"), answer("submit")), "Set a new password", rule},
	} {
		d := run(t, w.make(t, "password-set", test.with, nil), test.visit)
		var texts []string
		for _, c := range d.Ask.Components {
			if c.Type == schemas.TextComponent {
				texts = append(texts, c.Label)
			}
		}
		want := slices.DeleteFunc([]string{test.title, test.text}, func(s string) bool { return s == "" })
		if !slices.Equal(texts, want) {
			t.Errorf("%s: %q, want %q", name, texts, want)
		}
	}
}
