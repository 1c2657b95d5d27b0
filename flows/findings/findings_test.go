package findings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

const head = "handle: sign-in\nname: Sign in\nflowType: AUTHENTICATION\nnodes:\n"

const good = head + "  - {id: key, use: passkey-authenticate, next: done}\n  - {id: done, use: authorization-code}\n"

func checker() Checker {
	return Checker{Kinds: nodes.Kinds(nodes.Deps{}), Subflows: flows.NewSubflowResolver().ForFile, ScenarioRule: "scenario", Scenarios: func(string, []byte) (int, []schemas.Problem) {
		return 0, []schemas.Problem{{Message: "no", Line: 1, Column: 1}}
	}}
}

func checked(t testing.TB, sources ...Source) []File {
	t.Helper()
	list, err := checker().Check(len(sources), func(i int) (Source, error) { return sources[i], nil })
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// The results are in the order of the files, however many are checked at once.
func TestCheckKeepsOrder(t *testing.T) {
	var sources []Source
	for i := range 200 {
		text := good
		if i%3 == 0 {
			text = strings.ReplaceAll(text, "next: done", fmt.Sprintf("next: d%d", i))
		}
		sources = append(sources, Source{Name: fmt.Sprintf("%d.yaml", i), Text: []byte(text)})
	}
	for i, f := range checked(t, sources...) {
		if f.Name != sources[i].Name || f.Refused() != (i%3 == 0) {
			t.Fatalf("file %d is %s, refused %t", i, f.Name, f.Refused())
		}
	}
}

func TestCheckReads(t *testing.T) {
	broken := errors.New("broken")
	if _, err := checker().Check(3, func(i int) (Source, error) {
		if i == 1 {
			return Source{}, broken
		}
		return Source{Name: "a.yaml", Text: []byte(good)}, nil
	}); !errors.Is(err, broken) {
		t.Errorf("an unreadable file: %v", err)
	}
	if list, err := checker().Check(0, nil); len(list) != 0 || err != nil {
		t.Errorf("no files: %v, %v", list, err)
	}
}

// The format of a source.
func TestCheckForms(t *testing.T) {
	flow := `{"handle": "f", "name": "f", "flowType": "AUTHENTICATION", "nodes": [{"id": "key", "use": "passkey-authenticate", "next": "done"}, {"id": "done", "use": "authorization-code"}]}`
	tests := []struct {
		name string
		s    Source
		want string // the rule of the finding
	}{
		{"YAML", Source{Name: "a.yaml", Text: []byte(good)}, ""},
		{"JSON", Source{Name: "a.json", Text: []byte(flow)}, ""},
		{"YAML that is called JSON", Source{Name: "a.json", Text: []byte(good)}, "shape"},
		{"a stream of JSON", FromStream("stdin", []byte("\t"+flow)), ""},
		{"a stream of YAML", FromStream("stdin", []byte(good)), ""},
		{"scenarios", Source{Name: "a_test.yaml"}, "scenario"},
		{"nothing", Source{Name: "a.yaml"}, "shape"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := checked(t, tt.s)[0]
			got := ""
			if len(f.Findings) > 0 {
				got = f.Findings[0].Rule
			}
			if got != tt.want || f.Refused() != (tt.want != "") || (f.Handle != "") == (tt.want != "") {
				t.Errorf("%v, handle %q", f.Findings, f.Handle)
			}
		})
	}
}

// The caret is below the right character, whatever precedes it, and a file cannot send control
// sequences to the terminal.
func TestTextPointsAtTheCharacter(t *testing.T) {
	tests := []struct {
		name, line   string
		column       int
		shown, caret string
	}{
		{"plain", "abc", 2, "abc", " ^"},
		{"after the end", "abc", 9, "abc", "   ^"},
		{"no column", "abc", 0, "abc", "^"},
		{"tabs", "\ta\tb", 4, "\ta\tb", "\t \t^"},
		{"wide", "日本x", 3, "日本x", "    ^"},
		{"emoji", "🔑x", 2, "🔑x", "  ^"},
		{"combining", "e\u0301x", 3, "e\u0301x", " ^"},
		{"escape sequence", "\x1b[2Jx", 5, "\ufffd[2Jx", "    ^"},
		{"bidirectional override", "a\u202eb", 3, "a\ufffdb", "  ^"},
		{"long", strings.Repeat("a", 300) + "b" + strings.Repeat("c", 300), 301, "…" + strings.Repeat("a", 80) + "b" + strings.Repeat("c", 79) + "…", strings.Repeat(" ", 81) + "^"},
		{"long, at its end", strings.Repeat("a", 300), 300, "…" + strings.Repeat("a", 160), strings.Repeat(" ", 160) + "^"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			f := File{Source: Source{Name: "a.yaml", Text: []byte(tt.line + "\r\nnext")}, Findings: []schemas.Problem{{Message: "no", Rule: "shape", Line: 1, Column: tt.column}}}
			if err := (Text{}).Write(&out, []File{f}); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(out.String(), "\n")
			if want := "    1 | " + tt.shown; lines[1] != want {
				t.Errorf("line  %q\nwant  %q", lines[1], want)
			}
			if want := "      | " + tt.caret; lines[2] != want {
				t.Errorf("caret %q\nwant  %q", lines[2], want)
			}
		})
	}
}

func TestTextIsColouredOnlyIfAsked(t *testing.T) {
	list := checked(t, Source{Name: "a.yaml", Text: []byte(head)}, Source{Name: "b.yaml", Text: []byte(good)})
	for _, colour := range []bool{false, true} {
		var out bytes.Buffer
		if err := (Text{Colour: colour}).Write(&out, list); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "\x1b["); got != colour {
			t.Errorf("colour %t: %q", colour, out.String())
		}
	}
}

// A name or message can neither end its command nor start another.
func TestGitHubEscapes(t *testing.T) {
	tests := []struct {
		name, file string
		p          schemas.Problem
		want       string
	}{
		{"plain", "a.yaml", schemas.Problem{Message: "no, really: no", Rule: "shape", Line: 2, Column: 3}, "::error file=a.yaml,line=2,col=3,title=postern%3A shape::no, really: no\n"},
		{"no place, a warning", "a.yaml", schemas.Problem{Message: "hm", Rule: "takeover", Warning: true}, "::warning file=a.yaml,title=postern%3A takeover::hm\n"},
		{"hostile", "a,line=9:\r\n::b%.yaml", schemas.Problem{Message: "x\n::set-env name=a::b\r%", Rule: "shape"},
			"::error file=a%2Cline=9%3A%0D%0A%3A%3Ab%25.yaml,title=postern%3A shape::x%0A::set-env name=a::b%0D%25\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := WriteGitHub(&out, []File{{Source: Source{Name: tt.file}, Findings: []schemas.Problem{tt.p}}}); err != nil || out.String() != tt.want {
				t.Errorf("got  %q, %v\nwant %q", out.String(), err, tt.want)
			}
		})
	}
}

func TestSARIFNamesFilesByURI(t *testing.T) {
	for path, want := range map[string]string{
		"flows/a.yaml": "flows/a.yaml", "a b#?%.yaml": "a%20b%23%3F%25.yaml", "c:d.yaml": "./c:d.yaml", "/tmp/a.yaml": "file:///tmp/a.yaml", "ü.yaml": "%C3%BC.yaml",
	} {
		if got := fileURI(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// Every result refers to its rule, and a finding without a position has no region.
func TestSARIF(t *testing.T) {
	var out bytes.Buffer
	list := checked(t, Source{Name: "a.yaml", Text: []byte(strings.ReplaceAll(good, "next: done", "next: doen"))})
	list[0].Findings = append(list[0].Findings, schemas.Problem{Message: "hm", Rule: "takeover", Warning: true})
	if err := WriteSARIF(&out, list, "1.2.3"); err != nil {
		t.Fatal(err)
	}
	type region struct{ StartLine, StartColumn int }
	var log struct {
		Runs []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID, Level string
				RuleIndex     int
				Locations     []struct{ PhysicalLocation struct{ Region *region } }
			}
		}
	}
	datatest.Unmarshal(t, out.Bytes(), &log)
	run := log.Runs[0]
	for i, want := range []struct{ rule, level string }{{"target", "error"}, {"takeover", "warning"}} {
		r := run.Results[i]
		if r.RuleID != want.rule || run.Tool.Driver.Rules[r.RuleIndex].ID != want.rule || r.Level != want.level {
			t.Errorf("result %d: %+v", i, r)
		}
	}
	if at := run.Results[0].Locations[0].PhysicalLocation.Region; at == nil || *at != (region{5, 48}) {
		t.Errorf("the region is %+v", at)
	}
	if at := run.Results[1].Locations[0].PhysicalLocation.Region; at != nil {
		t.Errorf("a finding without a position has the region %+v", at)
	}
}

func TestJSON(t *testing.T) {
	var out bytes.Buffer
	if err := WriteJSON(&out, checked(t, Source{Name: "a.yaml", Text: []byte(good)})); err != nil {
		t.Fatal(err)
	}
	var got report
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Files != 1 || got.Refused != 0 || got.Findings == nil || len(got.Findings) != 0 {
		t.Errorf("nothing found: %s (%v)", out.String(), err)
	}
	if len(got.Flows) != 1 || got.Flows[0].File != "a.yaml" || got.Flows[0].Nodes != 2 || got.Flows[0].Guarantees.ACR != schemas.ACRPhishingResistant {
		t.Errorf("flows: %+v", got.Flows)
	}
}

// Proven guarantees are reported with a valid flow only.
func TestProven(t *testing.T) {
	tests := []struct {
		name string
		g    schemas.Guarantees
		want string
	}{
		{"nothing", schemas.Guarantees{}, "guarantees nothing"},
		{"a password", schemas.Guarantees{ACR: schemas.ACRPassword, AMR: []string{"pwd"}}, "guarantees acr urn:postern:acr:password, amr pwd"},
		{"all", schemas.Guarantees{ACR: "phrh", AMR: []string{"hwk", "user"}, PhishingResistant: true, UserVerified: true, NoEnumeration: true},
			"guarantees acr phrh, amr hwk user, phishing-resistant, user-verified, no enumeration"},
		{"no way to tell who has an account", schemas.Guarantees{NoEnumeration: true}, "guarantees no enumeration"},
	}
	for _, tt := range tests {
		if got := guaranteesText(tt.g); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	refused := checked(t, Source{Name: "a.yaml", Text: []byte(strings.ReplaceAll(good, "next: done", "next: doen"))})
	for name, write := range map[string]func(io.Writer, []File) error{
		"text": Text{}.Write, "json": WriteJSON, "github": WriteGitHub,
		"sarif": func(w io.Writer, list []File) error { return WriteSARIF(w, list, "") },
	} {
		var out bytes.Buffer
		if err := write(&out, refused); err != nil || strings.Contains(out.String(), `"guarantees"`) || strings.Contains(out.String(), "notice") || strings.Contains(out.String(), "; guarantees") {
			t.Errorf("%s of a flow that may not run: %v\n%s", name, err, out.String())
		}
	}
}

// BenchmarkCheck checks 1,000 flows of ten nodes.
func BenchmarkCheck(b *testing.B) {
	var text strings.Builder
	text.WriteString(head)
	for i := range 9 {
		fmt.Fprintf(&text, "  - {id: key%d, use: passkey-authenticate, with: {mode: usernameless, alternatives: [{ref: other, label: Another}]}, next: {success: %s, other: key%d}}\n",
			i, map[bool]string{true: "done", false: fmt.Sprintf("key%d", i+1)}[i == 8], i)
	}
	text.WriteString("  - {id: done, use: authorization-code}\n")
	source := Source{Name: "a.yaml", Text: []byte(text.String())}
	c := checker()
	for b.Loop() {
		list, err := c.Check(1000, func(int) (Source, error) { return source, nil })
		if err != nil || list[999].Refused() {
			b.Fatal(err, list[999].Findings)
		}
	}
	b.ReportMetric(float64(runtime.GOMAXPROCS(0)), "procs")
}

// withoutUser has one mistake, which four findings follow from.
const withoutUser = "handle: join\nname: Join\nflowType: REGISTRATION\nnodes:\n" +
	"  - {id: who, use: prompt, with: {actions: [{ref: go}]}, next: secret}\n" +
	"  - {id: secret, use: password-set, next: key}\n" +
	"  - {id: key, use: passkey-register, next: done}\n" +
	"  - {id: done, use: authorization-code}\n"

// Every format shows which findings follow from another, and the text shows them below it.
func TestConsequencesAreShown(t *testing.T) {
	list := checked(t, Source{Name: "a.yaml", Text: []byte(withoutUser)})
	var out bytes.Buffer
	formats := []struct {
		name  string
		write func() error
		want  string
	}{
		{"text", func() error { return Text{}.Write(&out, list) }, "      | it causes 4 more findings:\n" +
			"    6 |   password-set needs a user [needs]\n    7 |   passkey-register needs a user [needs]\n" +
			"    7 |   passkey-register needs a user that this run creates or has authenticated [takeover]\n" +
			"    8 |   authorization-code needs an authenticated user [unauthenticated]\n"},
		{"json", func() error { return WriteJSON(&out, list) }, `"follows": {
        "rule": "takeover",
        "path": "nodes[1]",
        "node": "secret"
      }`},
		{"sarif", func() error { return WriteSARIF(&out, list, "1") }, `"text": "follows from this finding: password-set needs a user that`},
		{"github", func() error { return WriteGitHub(&out, list) }, "(follows from takeover in line 6)"},
	}
	for _, f := range formats {
		out.Reset()
		if err := f.write(); err != nil || !strings.Contains(out.String(), f.want) {
			t.Errorf("%s, %v:\n%s", f.name, err, out.String())
		}
		if n := strings.Count(out.String(), "error: "); f.name == "text" && n != 1 {
			t.Errorf("the text has %d errors in full", n)
		}
	}
}
