package nodes

import (
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

const signInForm = `{
  "title": "Sign in", "text": "Welcome back.",
  "inputs": [
    {"identifier": "username", "type": "TEXT_INPUT", "label": "Username", "required": true, "autocomplete": "username webauthn"},
    {"identifier": "nickname", "type": "TEXT_INPUT"},
    {"identifier": "password", "type": "PASSWORD_INPUT", "required": true},
    {"identifier": "campaign", "type": "HIDDEN"}
  ],
  "actions": [{"ref": "continue", "label": "Continue"}, {"ref": "passkey", "inputs": []}, {"ref": "name", "inputs": ["username"], "variant": "LINK"}]
}`

func TestPromptAsks(t *testing.T) {
	ask := run(t, newFixture(t).make(t, "prompt", signInForm, nil), visit()).Ask
	if ask == nil {
		t.Fatal("asked nothing")
	}
	var identifiers, components []string
	for _, in := range ask.Inputs {
		identifiers = append(identifiers, in.Identifier)
	}
	if got := strings.Join(identifiers, " "); got != "username nickname password campaign" {
		t.Errorf("inputs %s", got)
	}
	for _, c := range ask.Components {
		components = append(components, c.Type+":"+c.ID)
	}
	if got := strings.Join(components, " "); got != "TEXT:title TEXT:text BLOCK:form" {
		t.Errorf("components %s", got)
	}
	var form []string
	for _, c := range ask.Components[2].Components {
		form = append(form, c.Type+":"+c.Ref+c.EventType+c.Variant)
	}
	want := "TEXT_INPUT:username TEXT_INPUT:nickname PASSWORD_INPUT:password " +
		"ACTION:SUBMITPRIMARY ACTION:TRIGGERSECONDARY ACTION:TRIGGERLINK"
	if got := strings.Join(form, " "); got != want {
		t.Errorf("the form has\n%s, want\n%s", got, want)
	}
	if in, c := ask.Inputs[0], ask.Components[2].Components[0]; in.Ref != c.ID || c.Autocomplete != "username webauthn" || !in.Required {
		t.Errorf("input %+v and component %+v", in, c)
	}
	if ask.Implicit {
		t.Error("an answer to a form must say which action it is")
	}
}

// TestComponentIDsAreUnique has an input and an action with the same name.
func TestComponentIDsAreUnique(t *testing.T) {
	exec := newFixture(t).make(t, "prompt", `{"inputs": [{"identifier": "code", "type": "TEXT_INPUT"}], "actions": [{"ref": "code"}]}`, nil)
	block := run(t, exec, visit()).Ask.Components[0]
	if block.Components[0].ID == block.Components[1].ID {
		t.Errorf("two components with id %s", block.Components[0].ID)
	}
}

func TestPromptAnswers(t *testing.T) {
	exec := newFixture(t).make(t, "prompt", signInForm, nil)
	tests := map[string]struct {
		answer            func(*engine.Visit)
		outcome, set, dro string
	}{
		"all inputs": {
			answer("continue", "username", " ada ", "nickname", "Countess", "password", " p w ", "campaign", "x\ny"),
			"continue", "campaign=x\ny nickname=Countess password= p w  username=ada", "",
		},
		"an optional one left empty takes back what was there": {
			answer("continue", "username", "ada", "nickname", "  ", "password", "pw"),
			"continue", "password=pw username=ada", "nickname campaign",
		},
		"an action without inputs takes all of them back": {
			answer("passkey", "username", "ada"), "passkey", "", "username nickname password campaign",
		},
		"an action with some": {
			answer("name", "username", "ada", "password", "pw"), "name", "username=ada", "nickname password campaign",
		},
		"inputs that were not asked for are ignored": {
			answer("name", "username", "ada", "isAdmin", "true"), "name", "username=ada", "nickname password campaign",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := left(t, run(t, exec, visit(test.answer)), test.outcome)
			var set []string
			for k, v := range d.Set {
				set = append(set, k+"="+v)
			}
			slices.Sort(set)
			if got := strings.Join(set, " "); got != test.set {
				t.Errorf("set %q, want %q", got, test.set)
			}
			if got := strings.Join(d.Drop, " "); got != test.dro {
				t.Errorf("dropped %q, want %q", got, test.dro)
			}
		})
	}
}

func TestPromptRefuses(t *testing.T) {
	exec := newFixture(t).make(t, "prompt", signInForm, nil)
	d := run(t, exec, visit(answer("continue", "username", "a\nb")))
	if d.Ask == nil || len(d.Ask.FieldErrors) != 2 || d.Set != nil || d.Failed {
		t.Fatalf("got %+v, want the question again with both mistakes", d)
	}
	if d.Ask.FieldErrors[0].Identifier != "username" || d.Ask.FieldErrors[1].Identifier != "password" {
		t.Errorf("mistakes %+v", d.Ask.FieldErrors)
	}
	if again := run(t, exec, visit()); again.Ask.FieldErrors != nil {
		t.Errorf("the mistakes of one run show in another: %+v", again.Ask.FieldErrors)
	}
	for _, action := range []string{"", "other"} {
		if _, err := exec.Execute(t.Context(), visit(answer(action))); !schemas.HasCode(err, schemas.CodeInvalidAction) {
			t.Errorf("action %q: %v", action, err)
		}
	}
}

func TestPromptWithOneActionMayLeaveItOut(t *testing.T) {
	exec := newFixture(t).make(t, "prompt", `{"actions": [{"ref": "ok"}]}`, nil)
	left(t, run(t, exec, visit(answer(""))), "ok")
}

func TestPromptFacts(t *testing.T) {
	exec := newFixture(t).make(t, "prompt", signInForm, nil)
	outcomes := exec.(engine.OutcomeConfigurer).Outcomes()
	want := map[string][]engine.Fact{
		"continue": {engine.InputFact("username")}, // the nickname is optional, a password is never stored
		"passkey":  nil,
		"name":     {engine.InputFact("username")},
	}
	for _, o := range outcomes {
		if !slices.Equal(o.Establishes, want[o.Name()]) {
			t.Errorf("%s establishes %v, want %v", o.Name(), o.Establishes, want[o.Name()])
		}
		if strings.Join(o.Withdraws, " ") != "username nickname password campaign" {
			t.Errorf("%s withdraws %v: an answer replaces all values of the form", o.Name(), o.Withdraws)
		}
	}
	if types := exec.(engine.Collector).Collects(); types["password"] != schemas.PasswordInput || len(types) != 4 {
		t.Errorf("collects %v", types)
	}
}

func TestFieldValues(t *testing.T) {
	tests := []struct {
		name         string
		field        field
		value, clean string
		ok           bool
	}{
		{"text", field{Type: schemas.TextInput}, "  ada ", "ada", true},
		{"a line break", field{Type: schemas.TextInput}, "ada\r\nBcc: x", "", false},
		{"a character that shows nothing", field{Type: schemas.TextInput}, "ada\u200b", "", false},
		{"a change of direction", field{Type: schemas.TextInput}, "\u202eada", "", false},
		{"a joiner that a script needs", field{Type: schemas.TextInput}, "می\u200cخواهم", "می\u200cخواهم", true},
		{"NUL", field{Type: schemas.TextInput}, "a\x00b", "", false},
		{"not UTF-8", field{Type: schemas.HiddenInput}, "\xff", "", false},
		{"too long by default", field{Type: schemas.TextInput}, strings.Repeat("é", 1025), "", false},
		{"as long as may be", field{Type: schemas.TextInput}, strings.Repeat("é", 1024), strings.Repeat("é", 1024), true},
		{"hidden is bounded too", field{Type: schemas.HiddenInput}, strings.Repeat("x", 1025), "", false},
		{"longer where allowed", field{Type: schemas.TextInput, MaxLength: 2000}, strings.Repeat("x", 2000), strings.Repeat("x", 2000), true},
		{"too short", field{Type: schemas.TextInput, MinLength: 3}, "éé", "", false},
		{"empty though a length is asked", field{Type: schemas.TextInput, MinLength: 3}, "", "", true},
		{"pattern of the whole value", field{Type: schemas.TextInput, Pattern: "a|b"}, "ab", "", false},
		{"pattern matched", field{Type: schemas.TextInput, Pattern: "a|b"}, "b", "b", true},
		{"required", field{Type: schemas.TextInput, Required: true}, " \t", "", false},
		{"a password keeps its spaces", field{Type: schemas.PasswordInput, Required: true}, " a ", " a ", true},
		{"address", field{Type: schemas.EmailInput}, "ada@example.org", "ada@example.org", true},
		{"international address", field{Type: schemas.EmailInput}, "用户@例子.广告", "用户@例子.广告", true},
		{"address without domain", field{Type: schemas.EmailInput}, "ada", "", false},
		{"address with a name", field{Type: schemas.EmailInput}, "Ada <ada@example.org>", "", false},
		{"two addresses", field{Type: schemas.EmailInput}, "a@example.org, b@example.org", "", false},
		{"address with a comment", field{Type: schemas.EmailInput}, "a(x)@example.org", "", false},
		{"quoted address", field{Type: schemas.EmailInput}, `"a b"@example.org`, "", false},
		{"address literal", field{Type: schemas.EmailInput}, "a@[127.0.0.1]", "", false},
		{"long address", field{Type: schemas.EmailInput}, strings.Repeat("a", 250) + "@example.org", "", false},
		{"phone", field{Type: schemas.PhoneInput}, "+49 (30) 123-45.67", "+49301234567", true},
		{"short phone", field{Type: schemas.PhoneInput}, "12345", "", false},
		{"long phone", field{Type: schemas.PhoneInput}, "+1234567890123456", "", false},
		{"letters in a phone", field{Type: schemas.PhoneInput}, "+49 30 CALLME", "", false},
		{"number", field{Type: schemas.NumberInput}, "-3.50", "-3.50", true},
		{"hexadecimal", field{Type: schemas.NumberInput}, "0x1F", "", false},
		{"infinity", field{Type: schemas.NumberInput}, "Inf", "", false},
		{"leading zero", field{Type: schemas.NumberInput}, "007", "", false},
		{"date", field{Type: schemas.DateInput}, "2024-02-29", "2024-02-29", true},
		{"no such date", field{Type: schemas.DateInput}, "2023-02-29", "", false},
		{"date and time", field{Type: schemas.DateInput}, "2024-02-29T00:00:00Z", "", false},
		{"option", field{Type: schemas.SelectInput, Options: []string{"a", "b"}}, "b", "b", true},
		{"no such option", field{Type: schemas.SelectInput, Options: []string{"a", "b"}}, "c", "", false},
		{"one-time code", field{Type: schemas.OTPInput}, "012345", "012345", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if problems := test.field.compile(false); len(problems) > 0 {
				t.Fatal(problems)
			}
			clean, fault := test.field.accept(test.value)
			if clean != test.clean || (fault == "") != test.ok {
				t.Errorf("got %q, fault %q", clean, fault)
			}
		})
	}
}

func TestPromptDeclarations(t *testing.T) {
	tests := map[string]struct{ with, want string }{
		"no action":       {`{"actions": []}`, "actions"},
		"no such type":    {`{"inputs": [{"identifier": "a", "type": "TEXT"}], "actions": [{"ref": "x"}]}`, "inputs[0].type"},
		"input twice":     {`{"inputs": [{"identifier": "a", "type": "TEXT_INPUT"}, {"identifier": "a", "type": "TEXT_INPUT"}], "actions": [{"ref": "x"}]}`, `inputs[1].identifier: the form declares "a" twice`},
		"action twice":    {`{"actions": [{"ref": "x"}, {"ref": "x"}]}`, `actions[1].ref: the form declares "x" twice`},
		"unknown input":   {`{"inputs": [{"identifier": "a", "type": "TEXT_INPUT"}], "actions": [{"ref": "x", "inputs": ["b"]}]}`, `actions[0].inputs[0]: "b" is not an input of this form`},
		"empty select":    {`{"inputs": [{"identifier": "a", "type": "SELECT"}], "actions": [{"ref": "x"}]}`, "inputs[0].options: a SELECT needs options"},
		"stray options":   {`{"inputs": [{"identifier": "a", "type": "TEXT_INPUT", "options": ["b"]}], "actions": [{"ref": "x"}]}`, "inputs[0].options: only a SELECT has options"},
		"bad pattern":     {`{"inputs": [{"identifier": "a", "type": "TEXT_INPUT", "pattern": "(?=a)"}], "actions": [{"ref": "x"}]}`, "inputs[0].pattern: not a regular expression"},
		"crossed lengths": {`{"inputs": [{"identifier": "a", "type": "TEXT_INPUT", "minLength": 9, "maxLength": 8}], "actions": [{"ref": "x"}]}`, "inputs[0].minLength: 9 is more than the maxLength of 8"},
	}
	w := newFixture(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, problems := w.try("prompt", test.with, nil, schemas.Next{})
			if got := texts(problems); strings.Count(got, "\n") != 1 || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want one finding with %q", got, test.want)
			}
		})
	}
}

// FuzzFieldAccept checks that accepted values cannot harm later readers, and that
// accepting is idempotent.
func FuzzFieldAccept(f *testing.F) {
	f.Add("ada@example.org", uint8(1))
	f.Add("+49 (30) 1234567", uint8(4))
	f.Add(" a\u0000b\n", uint8(0))
	types := []schemas.InputType{
		schemas.TextInput, schemas.EmailInput, schemas.PasswordInput, schemas.OTPInput,
		schemas.PhoneInput, schemas.NumberInput, schemas.DateInput,
	}
	f.Fuzz(func(t *testing.T, value string, kind uint8) {
		in := field{Type: types[int(kind)%len(types)]}
		clean, fault := in.accept(value)
		if fault != "" && clean != "" {
			t.Fatalf("%s: both a value %q and a fault %q", in.Type, clean, fault)
		}
		if strings.ContainsAny(clean, "\x00\r\n") || len([]rune(clean)) > defaultMaxLength {
			t.Fatalf("%s: accepted %q", in.Type, clean)
		}
		if again, fault := in.accept(clean); again != clean || fault != "" {
			t.Fatalf("%s: %q became %q (%s)", in.Type, clean, again, fault)
		}
	})
}

// An input into which browsers fill a secret is secret, whatever its type.
func TestAudit04AutocompleteMakesASecret(t *testing.T) {
	for _, test := range []struct {
		declared     schemas.InputType
		autocomplete string
		want         schemas.InputType
	}{
		{schemas.TextInput, "current-password", schemas.PasswordInput},
		{schemas.EmailInput, "new-password", schemas.PasswordInput},
		{schemas.NumberInput, "one-time-code", schemas.OTPInput},
		{schemas.TextInput, "section-a\tshipping CURRENT-Password webauthn", schemas.PasswordInput},
		{schemas.OTPInput, "current-password", schemas.OTPInput}, // already secret
		{schemas.PasswordInput, "one-time-code", schemas.PasswordInput},
		{schemas.TextInput, "username webauthn", schemas.TextInput},
		{schemas.TextInput, "my-current-password", schemas.TextInput},
	} {
		with := strings.NewReplacer("TYPE", string(test.declared), "TOKENS", strings.ReplaceAll(test.autocomplete, "\t", `\t`)).Replace(
			`{"inputs": [{"identifier": "x", "type": "TYPE", "required": true, "autocomplete": "TOKENS"}], "actions": [{"ref": "go"}]}`)
		exec := newFixture(t).make(t, "prompt", with, nil)
		if got := exec.(engine.Collector).Collects()["x"]; got != test.want {
			t.Errorf("%s with %q is collected as %s, want %s", test.declared, test.autocomplete, got, test.want)
		}
		ask := run(t, exec, visit()).Ask
		if got := ask.Components[0].Components[0].Type; got != string(test.want) || ask.Inputs[0].Type != test.want {
			t.Errorf("%s with %q is shown as %s, want %s", test.declared, test.autocomplete, got, test.want)
		}
		certain := slices.Contains(exec.(engine.OutcomeConfigurer).Outcomes()[0].Establishes, engine.InputFact("x"))
		if certain == test.want.Secret() {
			t.Errorf("%s with %q: a secret is never certain", test.declared, test.autocomplete)
		}
	}
}
