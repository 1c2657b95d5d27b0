package main

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

func newMails(t *testing.T, configured bool, budgets throttle.Budgets) mailer {
	t.Helper()
	box, err := token.NewCipher(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	return mailer{configured: configured, throttle: throttle.New(throttle.Options{Budgets: budgets}), sealer: delivery.Sealer{Box: box}}
}

// A mail is sealed, is valid as long as its code, and leaves nothing in the log.
func TestMails(t *testing.T) {
	m, now := newMails(t, true, throttle.Budgets{}), time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	letter := schemas.Mail{To: "ada@example.org", Code: "123456", Minutes: 10}
	d, err := m.Mail(t.Context(), "ada", letter, now)
	if err != nil {
		t.Fatal(err)
	}
	if d.Kind != schemas.MailDelivery || d.Target != "" || !d.ExpiresAt.Equal(now.Add(10*time.Minute)) {
		t.Errorf("the delivery %+v", d)
	}
	if bytes.Contains(d.Body, []byte("ada")) || bytes.Contains(d.Body, []byte("123456")) {
		t.Error("the store would have the code, and whose it is")
	}
	opened, err := m.sealer.Box.Open(d.Body, d.Kind+" "+d.ID)
	var got schemas.Mail
	if err == nil {
		err = json.Unmarshal(opened, &got)
	}
	if err != nil || got != letter {
		t.Errorf("opened: %+v, %v", got, err)
	}
}

// A flow that sends mails without a mail server names the missing configuration, whether
// the account exists or not.
func TestMailsWithoutServer(t *testing.T) {
	m := newMails(t, false, throttle.Budgets{})
	for _, to := range []string{"ada@example.org", ""} {
		if _, err := m.Mail(t.Context(), "ada", schemas.Mail{To: to}, time.Now()); !schemas.HasClass(err, schemas.Unavailable) || !schemas.HasCode(err, "mail_not_configured") {
			t.Errorf("to %q: got %v", to, err)
		}
	}
}

// Mails to one account are limited, also those to unknown accounts, and mails to others are
// not affected.
func TestMailsAreThrottled(t *testing.T) {
	m := newMails(t, true, throttle.Budgets{AccountMails: throttle.Budget{Burst: 2, Every: time.Hour}})
	for _, name := range []string{"ada", "nobody"} {
		for i := range 3 {
			_, err := m.Mail(t.Context(), name, schemas.Mail{}, time.Now())
			if refused := schemas.HasClass(err, schemas.Throttled); refused != (i == 2) {
				t.Errorf("mail %d about %s: %v", i+1, name, err)
			}
		}
	}
}
