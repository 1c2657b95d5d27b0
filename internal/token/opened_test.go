package token

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// What makes a token invalid is noticed although its signature was verified before.
func TestVerifiedTokensAreCheckedAgain(t *testing.T) {
	now, live := noon(), true
	keys := &ring{}
	i := newIssuerWith(t, keys, Options{Now: func() time.Time { return now },
		Live: func(_ context.Context, _ schemas.TokenRef, _ string, scope []string) (bool, []string, error) {
			return live, slices.DeleteFunc(scope, func(s string) bool { return s == "system" && !live }), nil
		}})
	valid := issueAccess(t, i, newAccess())
	verify := func(raw, audience string) error {
		c, err := i.Verify(t.Context(), raw, audience)
		if err == nil {
			clear(c.Audience) // the caller may change what it gets
			clear(c.AMR)
			clear(c.Scope)
		}
		return err
	}
	for range 3 {
		if err := verify(valid, app); err != nil {
			t.Fatal(err)
		}
	}
	for name, invalid := range map[string]func() error{
		"another audience":  func() error { return verify(valid, "https://other.example") },
		"another signature": func() error { return verify(valid[:len(valid)-4]+"AAAA", app) },
		"another payload":   func() error { return verify(strings.Replace(valid, ".", ".A", 1), app) },
		"revoked": func() error {
			live = false
			defer func() { live = true }()
			return verify(valid, app)
		},
		"expired": func() error {
			now = now.Add(24 * time.Hour)
			defer func() { now = noon() }()
			return verify(valid, app)
		},
		"its key is gone": func() error {
			kept := keys.keys
			keys.keys = nil
			defer func() { keys.keys = kept }()
			return errors.Join(i.Reload(t.Context()), verify(valid, app))
		},
	} {
		if err := invalid(); !schemas.HasClass(err, schemas.Unauthenticated) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
