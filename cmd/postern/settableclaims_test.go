package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/postern-id/postern/flows/chains"
	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// foundClaim describes a claim that users can set, as in the archives: claim: what users set: where.
func foundClaim(c schemas.SettableClaim) string {
	at := cmp.Or(c.Place.UserType, c.Place.Scope, c.Place.Provider)
	if c.Place.Node != "" {
		at = c.Place.Flow + "/" + c.Place.Node
	}
	text := c.Claim + ": " + c.Reads + ": " + strings.TrimSpace(string(c.Place.Kind)+" "+at)
	if c.Authoritative {
		text += ": authoritative"
	}
	return text
}

// Each archive is a system of user types, flows, applications and providers, and lists the claims of it that users can
// set. Both flow check, which reads files, and prove, which applies them to a store, find them and nothing else.
func TestSettableClaimsAreFound(t *testing.T) {
	sequential(t)
	environ := append(testEnvironment(t.TempDir()), `POSTERN_HTTP_TARGETS={"hr":{"url":"https://hr.example"}}`)
	newTestAppIn(t, environ).close()
	exported := filepath.Join(t.TempDir(), "out")
	mustRun(t, environ, "export", exported)
	bad, good := 0, 0
	for _, file := range datatest.Glob(t, "testdata/claims/*.txtar") {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(exported)); err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, f := range archive.Files {
			if f.Name == "finds" {
				want = strings.Split(strings.TrimSuffix(string(f.Data), "\n"), "\n")
				continue
			}
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, f.Name)), 0o755); err != nil {
				t.Fatal(err)
			}
			datatest.WriteFile(t, filepath.Join(dir, f.Name), string(f.Data))
		}
		if want[0] == "" {
			want = nil
			good++
		} else {
			bad++
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { findsClaims(t, environ, dir, want) })
	}
	if bad < 12 || good < 8 {
		t.Errorf("there are %d systems with such claims, and %d without", bad, good)
	}
}

// findsClaims runs both commands on a folder.
func findsClaims(t *testing.T, environ []string, dir string, want []string) {
	var report chains.Report
	datatest.Unmarshal(t, jsonOutput(t, environ, "prove", "--format", "json", dir), &report)
	var got, messages []string
	refused := false
	for _, c := range report.Claims {
		got, messages = append(got, foundClaim(c)), append(messages, claims.Message(&c))
		refused = refused || c.Authoritative
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("prove found\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var checked struct {
		Refused  int
		Findings []schemas.Problem
	}
	datatest.Unmarshal(t, jsonOutput(t, environ, "flow", "check", "--format", "json", filepath.Join(dir, "flows")), &checked)
	var found []string
	for _, p := range checked.Findings {
		if p.Waived {
			continue
		}
		if p.Rule != schemas.RuleClaim {
			t.Errorf("another finding: %+v", p)
			continue
		}
		found = append(found, p.Message)
		if p.Line == 0 {
			t.Errorf("the finding has no line: %+v", p)
		}
	}
	slices.Sort(found)
	if slices.Sort(messages); !slices.Equal(found, messages) {
		t.Errorf("flow check found\n%s\nexpected\n%s", strings.Join(found, "\n"), strings.Join(messages, "\n"))
	}
	if (checked.Refused > 0) != refused {
		t.Errorf("flow check refused %d files", checked.Refused)
	}
}

// jsonOutput returns what a command prints, also if it has findings.
func jsonOutput(t *testing.T, environ []string, args ...string) []byte {
	t.Helper()
	var out, failures bytes.Buffer
	p := program{args: args, environ: environ, stdout: &out, stderr: &failures}
	if p.run(t.Context()); !json.Valid(out.Bytes()) {
		t.Fatalf("%v: %s %s", args, &out, &failures)
	}
	return out.Bytes()
}
