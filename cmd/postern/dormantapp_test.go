package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/schemas"
)

// A user who has lost an authenticator app that was never used to sign in replaces it with the password and
// a code by mail.
func TestReplacingAnAppThatWasNeverUsed(t *testing.T) {
	onEmailChanges(t, func(t *testing.T, w *emailChangeTest) {
		for _, flow := range []string{"sign-in", "password-sign-in", "password-then-passkey"} {
			name := "user-of-" + flow
			w.apply(schemas.SetTOTP{TOTP: schemas.TOTP{UserID: w.person(name), Secret: []byte("sealed"), CreatedAt: time.Now().Add(-time.Hour)}})
			app := w.application(w.token, "App of "+flow, "authFlowId", flow)
			s := w.begin(app, "AUTHENTICATION")
			if flow == "sign-in" {
				s = w.answer(s, "password", nil)
			}
			s = w.answer(s, "continue", map[string]string{"username": name, "password": "wheel of forty cogs"})
			s = w.answer(s, "lost", nil)
			s = w.answer(s, "no-codes", nil)
			s = w.answer(s, "submit", map[string]string{"code": w.box.codeTo(t, name)})
			key := totp.Key{Secret: s.Data.AdditionalData["totpSecret"], Algorithm: totp.SHA1, Digits: 6}
			if key.Secret == "" {
				t.Fatalf("%s: no key in %+v", flow, s)
			}
			code, err := key.Code(time.Now())
			if err != nil {
				t.Fatal(err)
			}
			s = w.answer(s, "submit", map[string]string{"otp": code})
			if s.StepID == "enrol" {
				s = w.answer(s, "skip", nil)
			}
			if s.FlowStatus != schemas.Complete {
				t.Errorf("%s: the run ends with %+v", flow, s)
			}
		}
	})
}

// codeTo returns the code in the next mail to a user that has one: the others are notices.
func (b *mailbox) codeTo(t *testing.T, name string) string {
	t.Helper()
	for text := range b.mails {
		found := regexp.MustCompile(`(?m)^    ([0-9]{6})\r$`).FindStringSubmatch(text)
		if found != nil && strings.Contains(text, "<"+name+"@example.org>") {
			return found[1]
		}
	}
	return ""
}
