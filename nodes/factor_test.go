package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/schemas"
)

// factors is an in-memory store of second factors.
type factors struct {
	apps   map[string]*schemas.TOTP
	codes  map[string]map[string]bool // by user and hash
	broken error
}

func (f *factors) TOTP(_ context.Context, userID string) (*schemas.TOTP, error) {
	return f.apps[userID], f.broken
}

func (f *factors) RecoveryCode(_ context.Context, userID string, hash []byte) (*schemas.RecoveryCode, error) {
	unused, found := f.codes[userID][string(hash)]
	if !found {
		return nil, f.broken
	}
	return &schemas.RecoveryCode{Used: !unused}, f.broken
}

func (f *factors) RecoveryCodes(_ context.Context, userID string) (*schemas.RecoveryCodes, error) {
	if f.codes[userID] == nil {
		return nil, f.broken
	}
	return &schemas.RecoveryCodes{Total: 10, Left: len(slices.DeleteFunc(slices.Collect(maps.Values(f.codes[userID])), func(unused bool) bool { return !unused })), CreatedAt: noon}, f.broken
}

// labeled is a cipher that shows its plaintext.
type labelled struct{}

func (labelled) Seal(text []byte, belongs string) []byte {
	return []byte(belongs + "|" + string(text))
}

func (labelled) Open(sealed []byte, belongs string) ([]byte, error) {
	text, ok := strings.CutPrefix(string(sealed), belongs+"|")
	if !ok {
		return nil, errors.New("it belongs to something else")
	}
	return []byte(text), nil
}

const recoveryOfAda = "7K3M-9QWE-AAAA-BBBB-CCCC-DDDD"

// newFactorFixture has Ada with an authenticator app and Bob with recovery codes.
func newFactorFixture(t *testing.T) (*fixture, *factors, totp.Key) {
	t.Helper()
	w := newFixture(t)
	key := totp.Key{Secret: "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", Algorithm: totp.SHA1, Digits: 6}
	app := SealTOTP(labelled{}, key, "ada")
	f := &factors{
		apps:  map[string]*schemas.TOTP{"ada": &app},
		codes: map[string]map[string]bool{"bob": {string(HashRecoveryCode(recoveryOfAda)): true}, "spent": {string(HashRecoveryCode(recoveryOfAda)): false}},
	}
	w.users["cyd"] = &schemas.User{ID: "cyd", Type: "Person", Attributes: map[string]any{}}
	w.users["spent"] = &schemas.User{ID: "spent", Type: "Person", Attributes: map[string]any{"username": "spent"}}
	w.factors, w.deps.Box = f, labelled{}
	w.kinds = Kinds(w.deps)
	return w, f, key
}

func enrolledHere(v *engine.Visit) { v.Facts = engine.NewFacts(engine.Authenticated, engine.Enrolled) }

// A user authenticated only by password cannot replace existing factors.
func TestFactorsAreKept(t *testing.T) {
	byPassword := authenticated(schemas.ACRPassword, "pwd")
	tests := map[string]struct {
		visit *engine.Visit
		kept  bool
	}{
		"an app, after a password":      {visit(known("ada"), byPassword), true},
		"an app, of an identified user": {visit(known("ada")), true},
		"an app, after a code of it":    {visit(known("ada"), authenticated(schemas.ACRMultiFactor, "pwd", "otp", "mfa")), false},
		"an app, after a passkey":       {visit(known("ada"), authenticated("phr", "swk", "pop")), false},
		"an app, after a recovery code": {visit(known("ada"), authenticated(schemas.ACRRecovery, schemas.AMRRecovery)), false},
		"an app that this run added":    {visit(known("ada"), byPassword, enrolledHere), false},
		"an app that this step adds": {visit(known("cyd"), byPassword, func(v *engine.Visit) {
			v.Pending = []schemas.Change{schemas.SetTOTP{TOTP: schemas.TOTP{UserID: "cyd"}}}
		}), true},
		"another's app that this step adds": {visit(known("cyd"), byPassword, func(v *engine.Visit) {
			v.Pending = []schemas.Change{schemas.SetTOTP{TOTP: schemas.TOTP{UserID: "bob"}}}
		}), false},
		"recovery codes, after a password":      {visit(known("bob"), byPassword), true},
		"recovery codes that are used up":       {visit(known("spent"), byPassword), false},
		"nothing":                               {visit(known("cyd"), byPassword), false},
		"a new user":                            {visit(drafted(&schemas.User{ID: "new"})), false},
		"an app that was set up while we asked": {visit(known("ada"), byPassword, answer("submit", "otp", "000000")), true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w, _, _ := newFactorFixture(t)
			for use, outcome := range map[string]string{"totp-register": "kept", "recovery-codes": "kept", "passkey-register": "skip"} {
				d := run(t, w.make(t, use, `{"optional": true}`, nil), test.visit)
				if kept := d.Outcome == outcome; kept != test.kept {
					t.Errorf("%s: kept %v, want %v", use, kept, test.kept)
				}
				if test.kept && len(d.Changes) > 0 {
					t.Errorf("%s changes %+v", use, d.Changes)
				}
			}
			d, err := w.make(t, "passkey-register", `{}`, nil).Execute(t.Context(), test.visit)
			if err != nil {
				t.Fatal(err)
			}
			if kept := d.Fail != nil && d.Fail.Code == schemas.CodeFactorRequired; kept != test.kept {
				t.Errorf("a passkey that is required: kept %v, want %v", kept, test.kept)
			}
		})
	}
}

// An app that never protected a sign-in can be replaced after a password and a mailed code, by one that
// proves no more than the password, even if a waiver accepts a weak proof.
func TestUnusedAppsAreReplaced(t *testing.T) {
	bySecrets := authenticated(schemas.ACRPassword, "pwd", schemas.AMREmail)
	tests := map[string]struct {
		with     string
		used     bool
		visit    *engine.Visit
		replaced bool
	}{
		"after a password and a mailed code": {`{"replaceUnused": true}`, false, visit(known("ada"), bySecrets), true},
		"by another configuration":           {`{}`, false, visit(known("ada"), bySecrets), false},
		"an app that was used":               {`{"replaceUnused": true}`, true, visit(known("ada"), bySecrets), false},
		"after a password alone":             {`{"replaceUnused": true}`, false, visit(known("ada"), authenticated(schemas.ACRPassword, "pwd")), false},
		"after a mailed code alone":          {`{"replaceUnused": true}`, false, visit(known("ada"), authenticated(schemas.ACRVouched, schemas.AMREmail)), false},
		"of a user who is only identified":   {`{"replaceUnused": true}`, false, visit(known("ada")), false},
		"recovery codes without an app":      {`{"replaceUnused": true}`, false, visit(known("bob"), bySecrets), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w, _, _ := newFactorFixture(t)
			if test.used {
				w.factors.apps["ada"].LastUsedAt = &noon
			}
			exec, problems := w.kinds["totp-register"].New(&engine.Config{
				FlowType: schemas.Authentication, Node: &schemas.Node{ID: "node", Use: "totp-register"}, With: json.RawMessage(test.with),
				Waived: []string{engine.RuleChain}, Collected: func() engine.Collected { return engine.Collected{} },
			})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			d := run(t, exec, test.visit)
			if replaced := d.Outcome != keptOutcome; replaced != test.replaced {
				t.Fatalf("replaced %v, want %v: %+v", replaced, test.replaced, d)
			}
			if !test.replaced {
				return
			}
			var key totp.Key
			datatest.Unmarshal(t, d.NodeState, &key)
			code, err := key.Code(noon)
			if err != nil {
				t.Fatal(err)
			}
			test.visit.NodeState = d.NodeState
			answer(submitAction, "otp", code)(test.visit)
			d = run(t, exec, test.visit)
			for _, change := range d.Changes {
				if set, ok := change.(schemas.SetTOTP); ok && set.TOTP.AddedBy.ACR != schemas.ACRPassword {
					t.Errorf("the new app is worth %+v", set.TOTP.AddedBy)
				}
			}
			if d.Outcome != successOutcome {
				t.Errorf("%+v", d)
			}
		})
	}
}

func TestTOTPRegisterOffersAKey(t *testing.T) {
	w, _, _ := newFactorFixture(t)
	exec := w.make(t, "totp-register", `{"issuer": "Shop", "digits": 8, "optional": true}`, nil)
	first, second := run(t, exec, visit(known("bob"), enrolledHere)), run(t, exec, visit(known("bob"), enrolledHere))
	uri := first.Ask.Data["totpURI"]
	if !strings.HasPrefix(uri, "otpauth://totp/Shop:bob?secret="+first.Ask.Data["totpSecret"]+"&") || !strings.Contains(uri, "digits=8") {
		t.Errorf("the URI is %s", uri)
	}
	if first.Ask.Data["totpSecret"] == second.Ask.Data["totpSecret"] {
		t.Error("two arrivals get one key")
	}
	i := slices.IndexFunc(first.Ask.Components, func(c schemas.Component) bool { return c.Type == schemas.ImageComponent })
	if i < 0 || !strings.HasPrefix(first.Ask.Components[i].Src, "data:image/png;base64,") || first.Ask.Components[i].Label == "" {
		t.Errorf("no picture with a label in %+v", first.Ask.Components)
	}
	again := visit(known("bob"), enrolledHere, answer("submit", "otp", "00000000"))
	again.NodeState = first.NodeState
	d := run(t, exec, again)
	if d.Ask == nil || d.Ask.Data["totpURI"] != uri || len(d.Ask.FieldErrors) != 1 || d.Failed {
		t.Errorf("after a wrong code: %+v, want the same key again", d)
	}
	left(t, run(t, exec, visit(known("bob"), answer("skip"))), "skip")
}

func TestTOTP(t *testing.T) {
	second := authenticated(schemas.ACRPassword, "pwd")
	w, f, key := newFactorFixture(t)
	code := currentCode(t, key)
	tests := map[string]struct {
		with, outcome string
		visit         *engine.Visit
		reason        string // for the audit log only
	}{
		"right, answered":              {`{}`, "success", visit(known("ada"), second, answer("submit", "otp", code)), ""},
		"right, collected before":      {`{"input": "pin"}`, "success", visit(known("ada"), second, inputs("pin", code)), ""},
		"wrong":                        {`{}`, "failure", visit(known("ada"), second, answer("submit", "otp", "000000")), schemas.ReasonWrongCode},
		"who has no app":               {`{}`, "none", visit(known("bob"), second, answer("submit", "otp", code)), ""},
		"who has no app, on arrival":   {`{}`, "none", visit(known("bob"), second), ""},
		"alone":                        {`{"alone": true}`, "success", visit(known("ada"), answer("submit", "otp", code)), ""},
		"alone, who has no app":        {`{"alone": true}`, "failure", visit(known("bob"), answer("submit", "otp", code)), schemas.ReasonNoApp},
		"alone, an unknown name":       {`{"alone": true}`, "failure", visit(concealed("nobody"), answer("submit", "otp", code)), schemas.ReasonUnknownUser},
		"alone, no user":               {`{"alone": true}`, "failure", visit(answer("submit", "otp", code)), schemas.ReasonUnknownUser},
		"another way":                  {`{"alternatives": [{"ref": "lost"}]}`, "lost", visit(known("ada"), second, answer("lost")), ""},
		"another way, that is no code": {`{"alternatives": [{"ref": "lost"}]}`, "lost", visit(known("ada"), second, answer("lost", "otp", code)), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := left(t, run(t, w.make(t, "totp", test.with, nil), test.visit), test.outcome)
			switch test.outcome {
			case "failure":
				if noticed(t, d, schemas.CodeInvalidCode); d.Reason != test.reason {
					t.Errorf("the reason %q, want %q", d.Reason, test.reason)
				}
			case "success":
				want := schemas.Change(schemas.UseTOTP{UserID: "ada", Step: totp.Step(noon), At: noon})
				if !slices.Contains(methodsOf(d), "otp") || actions(d) != "totp.used" || d.Changes[0] != want {
					t.Errorf("methods %v, changes %+v", methodsOf(d), d.Changes)
				}
			}
		})
	}
	f.apps["ada"].LastStep = totp.Step(noon)
	for with, want := range map[string]string{`{}`: schemas.CodeUsed, `{"alone": true}`: schemas.CodeInvalidCode} {
		d := left(t, run(t, w.make(t, "totp", with, nil), visit(known("ada"), second, answer("submit", "otp", code))), "failure")
		if noticed(t, d, want); d.Reason != schemas.ReasonUsedCode {
			t.Errorf("%s: a used code has the reason %q", with, d.Reason)
		}
	}
}

// While the app shows a code that was used, the step explains that the next one is needed; not if a
// code stands alone, because that would reveal when the user signed in.
func TestTOTPAsksForTheNextCode(t *testing.T) {
	w, f, _ := newFactorFixture(t)
	for _, test := range []struct {
		with string
		last int64
		want bool
	}{
		{`{}`, 0, false}, {`{}`, totp.Step(noon) - 1, false}, {`{}`, totp.Step(noon), true}, {`{}`, totp.Step(noon) + 1, true},
		{`{"alone": true}`, totp.Step(noon), false},
	} {
		f.apps["ada"].LastStep = test.last
		d := run(t, w.make(t, "totp", test.with, nil), visit(known("ada"), authenticated(schemas.ACRPassword, "pwd")))
		got := slices.ContainsFunc(d.Ask.Components, func(c schemas.Component) bool { return c.Label == nextCode })
		if got != test.want || d.Ask.Components[0].Label != "Enter the code from your app" {
			t.Errorf("%s after a code of step %d: %+v", test.with, test.last, d.Ask.Components)
		}
	}
}

// The key of a user's app cannot be opened for another user.
func TestTOTPOfAnother(t *testing.T) {
	w, f, key := newFactorFixture(t)
	code := currentCode(t, key)
	f.apps["bob"] = &schemas.TOTP{UserID: "bob", Secret: f.apps["ada"].Secret}
	exec := w.make(t, "totp", `{}`, nil)
	if d, err := exec.Execute(t.Context(), visit(known("bob"), answer("submit", "otp", code))); err == nil {
		t.Errorf("got %+v", d)
	}
}

func TestRecoveryCode(t *testing.T) {
	w, _, _ := newFactorFixture(t)
	exec := w.make(t, "recovery-code", `{}`, nil)
	for name, test := range map[string]struct {
		visit           *engine.Visit
		outcome, reason string
	}{
		"right":                        {visit(known("bob"), answer("submit", "recoveryCode", recoveryOfAda)), "success", ""},
		"as people write it":           {visit(known("bob"), answer("submit", "recoveryCode", " 7k3m 9qweaaaa-bbbb ccccdddd\n")), "success", ""},
		"used before":                  {visit(known("spent"), answer("submit", "recoveryCode", recoveryOfAda)), "failure", schemas.ReasonUsedRecovery},
		"wrong":                        {visit(known("bob"), answer("submit", "recoveryCode", "x")), "failure", schemas.ReasonWrongRecovery},
		"of another user":              {visit(known("ada"), answer("submit", "recoveryCode", recoveryOfAda)), "failure", schemas.ReasonWrongRecovery},
		"of an unknown name":           {visit(concealed("nobody"), answer("submit", "recoveryCode", recoveryOfAda)), "failure", schemas.ReasonUnknownUser},
		"of a name that is an id":      {visit(concealed("bob"), answer("submit", "recoveryCode", recoveryOfAda)), "failure", schemas.ReasonUnknownUser},
		"of no user":                   {visit(answer("submit", "recoveryCode", recoveryOfAda)), "failure", schemas.ReasonUnknownUser},
		"right, after a passkey":       {visit(known("bob"), authenticated("phr", "pop"), answer("submit", "recoveryCode", recoveryOfAda)), "success", ""},
		"collected on the page before": {visit(known("bob"), inputs("recoveryCode", recoveryOfAda)), "success", ""},
	} {
		d := left(t, run(t, exec, test.visit), test.outcome)
		if test.outcome == "failure" {
			if noticed(t, d, schemas.CodeInvalidCode); d.Reason != test.reason {
				t.Errorf("%s: the reason %q, want %q", name, d.Reason, test.reason)
			}
		} else if actions(d) != "recovery.used" || !slices.Contains(methodsOf(d), schemas.AMRRecovery) {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if d := run(t, exec, visit(known("bob"), answer("submit"))); d.Ask == nil || len(d.Ask.FieldErrors) != 1 || d.Failed {
		t.Errorf("without a code: %+v", d)
	}
}

// Codes are unique and have 120 bits; letters outside the alphabet are read as digits.
func TestRecoveryCodesAreGood(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		for _, code := range newCodes() {
			if len(code) != 24+5 || strings.ContainsAny(code, "OILU") || seen[code] {
				t.Fatalf("the code %s", code)
			}
			seen[code] = true
		}
	}
	if string(HashRecoveryCode("0O1I L-l")) != string(HashRecoveryCode("001111")) {
		t.Error("look-alikes are read as others")
	}
}

// Guesses of codes are counted separately from those of passwords, and limited too.
func TestCodesAreThrottled(t *testing.T) {
	w, _, _ := newFactorFixture(t)
	refusing := &guessing{refuse: schemas.Errorf(schemas.Throttled, schemas.CodeTooManyAttempts, "wait")}
	reported := &guessing{}
	for use, v := range map[string]*engine.Visit{
		"totp":          visit(known("ada"), authenticated(schemas.ACRPassword, "pwd"), inputs("otp", "000000", "username", "Ada!")),
		"recovery-code": visit(concealed("somebody"), inputs("recoveryCode", "x")),
	} {
		w.deps.Guesses = refusing
		w.kinds = Kinds(w.deps)
		if _, err := w.make(t, use, `{}`, nil).Execute(t.Context(), v); !schemas.HasCode(err, schemas.CodeTooManyAttempts) {
			t.Errorf("%s: %v", use, err)
		}
		w.deps.Guesses = reported
		w.kinds = Kinds(w.deps)
		left(t, run(t, w.make(t, use, `{}`, nil), v), "failure")
	}
	slices.Sort(reported.outcomes)
	if got := strings.Join(reported.outcomes, ", "); got != "authenticator app of ada (ada): false, <nil>, recovery code of somebody (): false, <nil>" {
		t.Errorf("guesses at %s", got)
	}
}

// If the store cannot be read, no code is accepted and no question repeated.
func TestFactorsFail(t *testing.T) {
	w, f, _ := newFactorFixture(t)
	f.broken = errors.New("the disk is gone")
	second := authenticated(schemas.ACRPassword, "pwd")
	for use, v := range map[string]*engine.Visit{
		"totp":           visit(known("ada"), second),
		"totp-register":  visit(known("ada"), second),
		"recovery-codes": visit(known("ada"), second),
		"recovery-code":  visit(known("bob"), answer("submit", "recoveryCode", recoveryOfAda)),
	} {
		if d, err := w.make(t, use, `{}`, nil).Execute(t.Context(), v); !errors.Is(err, f.broken) {
			t.Errorf("%s: %+v, %v", use, d, err)
		}
	}
}

// currentCode returns the code that an authenticator app shows at noon.
func currentCode(t *testing.T, key totp.Key) string {
	t.Helper()
	code, err := key.Code(noon)
	if err != nil {
		t.Fatal(err)
	}
	return code
}
