package diff_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows/diff"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

func compiled(t testing.TB, text string) *engine.Graph {
	t.Helper()
	_, g, problems := engine.CheckUsing([]byte(text), true, nodes.Kinds(nodes.Deps{}), goodSubflows(t))
	if g == nil {
		t.Fatalf("%v\n%s", problems, text)
	}
	return g
}

const base = `handle: f
name: F
flowType: REGISTRATION
nodes:
  - id: who
    use: prompt
    with:
      title: Sign up
      inputs: [{identifier: username, type: TEXT_INPUT, required: true}, {identifier: email, type: EMAIL_INPUT}]
      actions: [{ref: continue}]
    next: create
  - {id: create, use: user-create, next: {created: key, taken: who}}
  - {id: key, use: passkey-register, next: {success: end, failure: who}}
`

func changes(t *testing.T, before, after string) string {
	t.Helper()
	var out bytes.Buffer
	if err := diff.Write(&out, diff.Compare(compiled(t, before), compiled(t, after))); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCompare(t *testing.T) {
	tests := []struct {
		name     string
		old, new string // replacements in the flow
		want     string
	}{
		{"nothing", "", "", ""},
		{"a comment, quotes and blanks", "title: Sign up", `title:   "Sign up" # says what it is`, ""},
		{"one target for all", "next: create\n", "next: {continue: create}\n", ""},
		{"the name", "name: F", "name: G", "~ name: \"F\" → \"G\"\n"},
		{"a member of a configuration", "title: Sign up", "title: Join", "~ who: with title: \"Sign up\" → \"Join\"\n"},
		{"a member more", "title: Sign up", "title: Sign up\n      text: Welcome", "+ who: with text: \"Welcome\"\n"},
		{"a member less", "      title: Sign up\n", "", "- who: with title: \"Sign up\"\n"},
		{"an empty list", "actions: [{ref: continue}]", "actions: [{ref: continue}, {ref: none, inputs: []}]", ""},
		{"a default written out", "type: EMAIL_INPUT", "type: EMAIL_INPUT, required: false, maxLength: 1024", ""},
		{"what is no default", "type: EMAIL_INPUT", "type: EMAIL_INPUT, maxLength: 1023", "~ who: with inputs[1].maxLength: 1024 → 1023\n"},
		{"a default and more", "required: true}", "required: true}, {identifier: name, type: TEXT_INPUT, required: false}", "~ who: with inputs[1].identifier: \"email\" → \"name\"\n~ who: with inputs[1].type: \"EMAIL_INPUT\" → \"TEXT_INPUT\"\n" +
			"+ who: with inputs[2].identifier: \"email\"\n+ who: with inputs[2].type: \"EMAIL_INPUT\"\n"},
		{"a set in another order", "inputs: [username, email]", "inputs: [email, username]", ""},
		{"another set", "inputs: [username, email]", "inputs: [username]", "- who: with actions[0].inputs: \"email\"\n"},
		{"an edge", "failure: who", "failure: key", "~ key: failure leads to: who → key\n"},
		{"an edge that goes by itself", "{success: end, failure: key}", "end", ""},
		{"another kind", "id: key, use: passkey-register, next: {success: end, failure: who}", "id: key, use: password-set, next: end",
			"~ proven acr: \"phr\" → \"urn:postern:acr:password\"\n! proven amr: no longer \"pop\"\n+ proven amr: \"pwd\"\n! proven phishingResistant: no longer true\n" +
				"~ key: passkey-register → password-set\n- key: failure leads to: who\n"},
		{"a renamed node", "id: create,", "id: make,", "~ make: renamed from create\n"},
		{"a new node", "{success: end, failure: who}}\n", "{success: spare, failure: who}}\n  - {id: spare, use: passkey-register, next: end}\n",
			"~ key: success leads to: end → spare\n+ spare: added a passkey-register\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := strings.Replace(base, "{ref: continue}", "{ref: continue, inputs: [username, email]}", 1)
			if tt.name == "an empty list" {
				before = strings.Replace(base, "actions: [{ref: continue}]", "actions: [{ref: continue}, {ref: none}]", 1)
				before = strings.Replace(before, "next: create\n", "next: {continue: create, none: who}\n", 1)
				tt.old, tt.new = "{ref: none}", "{ref: none, inputs: []}"
				tt.want = "+ who: with actions[1].inputs: []\n"
			}
			if tt.name == "an edge that goes by itself" {
				before = strings.Replace(base, "failure: who", "failure: key", 1)
			}
			after := strings.Replace(before, tt.old, tt.new, 1)
			if tt.name == "a renamed node" {
				after = strings.Replace(after, "next: create\n", "next: make\n", 1)
			}
			if got := changes(t, before, after); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

// A flow that no longer leads to the end loses no facts there.
func TestCompareIgnoresARemovedEnd(t *testing.T) {
	const head = "handle: f\nname: F\nflowType: REGISTRATION\nnodes:\n"
	atEnd := head + "  - {id: key, use: passkey-authenticate, next: {success: end, failure: key}}\n"
	atCode := head + "  - {id: key, use: passkey-authenticate, next: {success: done, failure: key}}\n  - {id: done, use: authorization-code}\n"
	for _, got := range []string{changes(t, atEnd, atCode), changes(t, atCode, atEnd)} {
		if strings.Contains(got, "at the end") || !strings.Contains(got, "key: success leads to") {
			t.Errorf("got\n%s", got)
		}
	}
}

// A fact that is no longer certain is reported at its node and at the end.
func TestCompareReportsGuarantees(t *testing.T) {
	const head = "handle: f\nname: F\nflowType: REGISTRATION\nnodes:\n"
	const tail = "  - {id: bye, use: prompt, with: {actions: [{ref: ok}]}, next: end}\n"
	strict := head + "  - {id: key, use: passkey-authenticate, next: {success: bye, failure: key}}\n" + tail
	loose := head + "  - {id: key, use: passkey-authenticate, next: {success: bye, failure: bye}}\n" + tail
	want := "! proven acr: no longer \"phr\"\n! proven amr: no longer \"pop\"\n! proven phishingResistant: no longer true\n~ key: failure leads to: key → bye\n" +
		"! bye: no longer certain: an authenticated user\n! bye: no longer certain: an account that can be found at the next sign-in\n! bye: no longer certain: a user\n" +
		"! at the end: no longer certain: an authenticated user\n! at the end: no longer certain: an account that can be found at the next sign-in\n! at the end: no longer certain: a user\n"
	if got := changes(t, strict, loose); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := changes(t, loose, strict); strings.Count(got, "now certain: an authenticated user\n") != 2 {
		t.Errorf("got\n%s", got)
	}
}

// An added or removed waiver is reported with its reason.
func TestCompareReportsWaivers(t *testing.T) {
	const text = "handle: f\nname: F\nflowType: REGISTRATION\nWAIVE\nnodes:\n" +
		"  - {id: who, use: prompt, with: {inputs: [{identifier: username, type: TEXT_INPUT, required: true}], actions: [{ref: go}]}, next: find}\n" +
		"  - {id: find, use: user-resolve, with: {by: [username], from: username}, next: {found: key, missing: who}}\n" +
		"  - {id: key, use: passkey-register, next: end}\n"
	one := strings.Replace(text, "WAIVE", "waive: [{rule: takeover, node: key, reason: a clerk checks}]", 1)
	two := strings.Replace(text, "WAIVE", "waive: [{rule: takeover, node: key, reason: the boss says so}]", 1)
	if got, want := changes(t, one, two), "- key: takeover is waived: \"a clerk checks\"\n+ key: takeover is waived: \"the boss says so\"\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// The order of the nodes after the first has no meaning.
func TestCompareIgnoresOrder(t *testing.T) {
	i, j := strings.Index(base, "  - {id: create"), strings.Index(base, "  - {id: key")
	if got := changes(t, base, base[:i]+base[j:]+base[i:j]); got != "" {
		t.Error(got)
	}
	both := "handle: f\nname: F\nflowType: AUTHENTICATION\nnodes:\n"
	a, b := "  - {id: a, use: passkey-authenticate, next: {success: b, failure: b}}\n", "  - {id: b, use: passkey-authenticate, with: {mode: usernameless}, next: {success: end, failure: a}}\n"
	if got := changes(t, both+a+b, both+b+a); !strings.HasPrefix(got, "~ entry: \"a\" → \"b\"\n") {
		t.Error(got)
	}
}

// goodSubflows are the sub-flows among the good flows.
func goodSubflows(t testing.TB) schemas.SubflowsOf {
	t.Helper()
	subflows := schemas.SubflowsOf{}
	files := datatest.Glob(t, "../testdata/good/*.yaml")
	for _, file := range files {
		text := datatest.ReadFile(t, file)
		if f, _, _ := schemas.ParseFlow(text, true); f != nil && f.FlowType == schemas.Subflow {
			subflows[f.Handle] = f
		}
	}
	return subflows
}

// Each good flow equals itself and no other.
func TestCompareGoodFlows(t *testing.T) {
	files, err := filepath.Glob("../testdata/good/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	var before *engine.Graph
	for _, file := range files {
		text := datatest.ReadFile(t, file)
		g := compiled(t, string(text))
		if got := diff.Compare(g, compiled(t, string(text))); len(got) != 0 {
			t.Errorf("%s differs from itself: %v", file, got)
		}
		if before != nil && len(diff.Compare(before, g)) == 0 {
			t.Errorf("%s is the same as the one before it", file)
		}
		before = g
	}
}

// A change in a sub-flow is reported once, however often the sub-flow is used. So is the use of
// another version of it in a stored flow.
func TestCompareSubflows(t *testing.T) {
	const outer = `handle: f
name: F
flowType: AUTHENTICATION
nodes:
  - {id: key, use: passkey-authenticate, next: first}
  - {id: first, use: flow, with: {flow: part}, next: again}
  - {id: again, use: flow, with: {flow: part}, next: done}
  - {id: done, use: authorization-code}
`
	const part = `handle: part
name: Part
flowType: SUBFLOW
requires: {facts: [authenticated]}
nodes:
  - {id: app, use: totp, next: {success: end, none: end}}
`
	with := func(version int, part string) *engine.Graph {
		f, _, problems := schemas.ParseFlow([]byte(part), true)
		if f == nil {
			t.Fatal(problems)
		}
		f.ActiveVersion = version
		whole, g, problems := engine.CheckUsing([]byte(outer), true, nodes.Kinds(nodes.Deps{}), schemas.SubflowsOf{"part": f})
		if g == nil {
			t.Fatal(problems)
		}
		whole.Uses = schemas.UsesOf(whole.Parts)
		return g
	}
	before := with(2, part)
	for _, test := range []struct{ name, old, new, want string }{
		{"nothing", "Part", "Part", "~ uses part: version 2 → 3\n"},
		{"a configuration", "totp,", "totp, with: {label: Code},", "~ uses part: version 2 → 3\n~ first.app: with label: \"Code from your authenticator app\" → \"Code\"\n"},
		{"a new node", "none: end}}", "none: add}}\n  - {id: add, use: totp-register, next: {success: end, kept: end}}",
			"~ uses part: version 2 → 3\n~ first.app: none leads to: again → first.add\n+ first.add: added a totp-register\n"},
	} {
		var b bytes.Buffer
		if err := diff.Write(&b, diff.Compare(before, with(3, strings.Replace(part, test.old, test.new, 1)))); err != nil || b.String() != test.want {
			t.Errorf("%s: got\n%swant\n%s", test.name, b.String(), test.want)
		}
	}
	if got := changes(t, part, strings.Replace(part, "authenticated", "own, authenticated", 1)); got != "+ requires.facts.own: true\n" {
		t.Errorf("of a sub-flow itself: %s", got)
	}
}
