package studio

import (
	"slices"
	"strings"
	"testing"
)

// cursor returns the place of the mark | in a text.
func cursor(t *testing.T, text string) Cursor {
	t.Helper()
	before, after, found := strings.Cut(text, "|")
	if !found {
		t.Fatal("the text has no mark")
	}
	line := strings.Count(before, "\n") + 1
	return Cursor{Text: before + after, Line: line, Column: len(before) - strings.LastIndex(before, "\n") - 1}
}

const head = "handle: a\nname: A\nflowType: AUTHENTICATION\nnodes:\n"

func TestComplete(t *testing.T) {
	for name, tt := range map[string]struct {
		text, typed string
		has, lacks  string
	}{
		"a member of the flow":       {"handle: a\n|", "", "guarantees", "activeVersion"},
		"part of a member":           {"handle: a\nguar|", "guar", "guarantees", ""},
		"an enum":                    {"flowType: |", "", "SUBFLOW", ""},
		"an enum in part":            {"flowType: AUTH|", "AUTH", "AUTHENTICATION", ""},
		"a member in flow style":     {"guarantees: {|", "", "acr", "nodes"},
		"the next in flow style":     {"guarantees: {noEnumeration: true, a|", "a", "amr", ""},
		"a value in flow style":      {"guarantees: {acr: |}", "", "phr", ""},
		"a boolean":                  {"guarantees: {noEnumeration: |}", "", "true", ""},
		"an item in flow style":      {"guarantees: {amr: [pwd, |]}", "", "pop", ""},
		"a member of a node":         {head + "  - id: key\n    |", "", "use", "handle"},
		"the first member of a node": {head + "  - |", "", "id", "handle"},
		"a node in one line":         {head + "  - {id: key, |}", "", "use", ""},
		"a kind":                     {head + "  - id: key\n    use: pass|", "pass", "password-authenticate", ""},
		"a kind in one line":         {head + "  - {id: key, use: |}", "", "passkey-authenticate", ""},
		"a member of with":           {head + "  - id: key\n    use: passkey-authenticate\n    with:\n      |", "", "userVerification", "title"},
		"with in flow style":         {head + "  - id: key\n    use: passkey-authenticate\n    with: {|}", "", "mode", ""},
		"an enum in with":            {head + "  - id: key\n    use: passkey-authenticate\n    with: {mode: |}", "", "usernameless", ""},
		"deep in with":               {head + "  - id: who\n    use: prompt\n    with:\n      inputs:\n        - identifier: x\n          type: |", "", "EMAIL_INPUT", ""},
		"a target":                   {head + "  - id: key\n    use: passkey-authenticate\n    next: |\n  - {id: done, use: authorization-code}", "", "done", ""},
		"the end":                    {head + "  - id: key\n    use: passkey-authenticate\n    next: {success: |}", "", "end", ""},
		"an outcome":                 {head + "  - id: key\n    use: passkey-authenticate\n    next: {|}", "", "success", "mode"},
		"an outcome of a prompt":     {head + "  - id: who\n    use: prompt\n    with: {actions: [{ref: go}]}\n    next: {|}", "", "go", "<action>"},
		"an outcome in block style":  {head + "  - id: key\n    use: passkey-authenticate\n    next:\n      f|", "f", "failure", ""},
		"a sub-flow":                 {head + "  - id: key\n    use: flow\n    with: {flow: |}", "", "key", ""},
		"an outcome of a sub-flow":   {head + "  - id: key\n    use: flow\n    with: {flow: key}\n    next: {|}", "", "in", ""},
		"the second node":            {head + "  - id: key\n    use: passkey-authenticate\n  - id: who\n    use: prompt\n    with:\n      |", "", "actions", "mode"},
		"an outcome as a target":     {"flowType: SUBFLOW\noutcomes: {in: Yes.}\nnodes:\n  - {id: ask, use: prompt, next: |}", "", "in", "end"},
		"an attribute":               {head + "  - {id: new, use: user-create, with: {attributes: {|}}}", "", "given_name", ""},
		"an input":                   {head + "  - {id: who, use: prompt, with: {inputs: [{identifier: mail}]}}\n  - {id: find, use: user-resolve, with: {from: |}}", "", "mail", ""},
		"an expression":              {head + "  - id: a\n    use: decision\n    with: {cases: [{when: has(user.attributes.em|)}]}", "user.attributes.em", "user.attributes.email", ""},
		"an input in an expression":  {head + "  - {id: who, use: prompt, with: {inputs: [{identifier: mail}]}}\n  - id: a\n    use: decision\n    with:\n      cases:\n        - when: '!inp|'", "inp", "inputs.mail", ""},
		"a reply in an expression":   {head + "  - {id: ask, use: http-request, with: {as: risk, reply: {score: {at: /s, type: number}}}}\n  - {id: a, use: http-request, with: {body: {x: |}}}", "", "replies.risk.score", ""},
		"a member of the request":    {head + "  - {id: a, use: http-request, with: {body: {x: request.|}}}", "request.", "request.origin", ""},
		"a waiver":                   {"waive:\n  - rule: |", "", "takeover", ""},
	} {
		got, err := proverWithSubflow(t).Complete(cursor(t, tt.text))
		if err != nil {
			t.Fatal(name, err)
		}
		has := func(label string) bool {
			return slices.ContainsFunc(got.Options, func(c Completion) bool { return c.Label == label })
		}
		if got.Typed != tt.typed || !has(tt.has) || tt.lacks != "" && has(tt.lacks) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestDescribe(t *testing.T) {
	for name, tt := range map[string]struct{ old, mark, text, fact string }{
		"a kind":            {"use: prompt", "use: pro|mpt", "Shows a form", ""},
		"a member":          {"flowType: A", "flow|Type: A", "The purpose of the flow", ""},
		"a node":            {"id: done", "id: do|ne", "authorization-code", "an authenticated user"},
		"a target":          {"success: done", "success: d|one", "authorization-code", "an authenticated user"},
		"an outcome":        {"{success: done", "{succ|ess: done", "password", ""},
		"a member of with":  {"conceal: true", "con|ceal: true", "", ""},
		"nothing of note":   {"username, type", "user|name, type", "", ""},
		"between the words": {"nodes:\n", "nodes:\n|", "", ""},
	} {
		got, err := proverWithSubflow(t).Describe(cursor(t, strings.Replace(passwordOrKey, tt.old, tt.mark, 1)))
		if err != nil {
			t.Fatal(name, err)
		}
		if !strings.Contains(got.Text, tt.text) || tt.fact != "" && !slices.Contains(got.Facts, tt.fact) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Each fix removes its finding.
func TestFixes(t *testing.T) {
	for name, tt := range map[string]struct{ old, mistake string }{
		"a kind":            {"use: user-resolve", "use: user-resolv"},
		"a member":          {"conceal: true", "concael: true"},
		"a value":           {"type: PASSWORD_INPUT", "type: PASSWORD_INPT"},
		"a target":          {"failure: who", "failure: chec"},
		"an outcome":        {"{success: done", "{sucess: done"},
		"a quoted target":   {"failure: who", `failure: "check1"`},
		"a missing outcome": {"{in: done, out: who}", "{in: done}"},
	} {
		s := proverWithSubflow(t)
		source := Source{Text: strings.Replace(passwordOrKey, tt.old, tt.mistake, 1)}
		before := s.check(source).result.Findings
		fixes, err := s.Fixes(source)
		if err != nil {
			t.Fatal(name, err)
		}
		if len(fixes) == 0 {
			t.Errorf("%s: no fix for %v", name, before)
			continue
		}
		f := fixes[0]
		lines := strings.Split(source.Text, "\n")
		runes := []rune(lines[f.Line-1])
		lines[f.Line-1] = string(runes[:f.Column-1]) + f.Insert + string(runes[f.EndColumn-1:])
		for _, p := range s.check(Source{Text: strings.Join(lines, "\n")}).result.Findings {
			if p.Path == before[f.Finding].Path && p.Message == before[f.Finding].Message {
				t.Errorf("%s: %+v leaves %v", name, f, p)
			}
		}
	}
}

func TestCompare(t *testing.T) {
	s := proverWithSubflow(t)
	got, err := s.Compare(Versions{Source{Text: passwordOrKey}, Source{Text: strings.Replace(passwordOrKey, "label: Go}", "label: Continue}", 1)}})
	if err != nil || len(got) == 0 || !strings.Contains(got[0].Text, "→") {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := s.Compare(Versions{Source{Text: "x"}, Source{Text: passwordOrKey}}); err == nil || !strings.Contains(err.Error(), "the first version") {
		t.Errorf("a version with errors: %v", err)
	}
}
