package notice

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/schemas"
)

// memory is a store with one user and one session.
type memory struct {
	user  *schemas.User
	links []schemas.Link
	mails []schemas.Mail
}

func (m *memory) User(_ context.Context, id string) (*schemas.User, error) {
	if id != m.user.ID {
		return nil, schemas.Errorf(schemas.NotFound, schemas.CodeUserNotFound, "none")
	}
	return m.user, nil
}

func (*memory) Session(_ context.Context, id string) (*schemas.Session, error) {
	if id != "s1" {
		return nil, nil
	}
	return &schemas.Session{ID: id, Client: "Firefox on Linux"}, nil
}

func (m *memory) CountLinks(_ context.Context, userID, purpose, subject string, after time.Time) (n int, _ error) {
	for _, l := range m.links {
		if l.UserID == userID && l.Purpose == purpose && l.Subject == subject && l.CreatedAt.After(after) {
			n++
		}
	}
	return n, nil
}

func (m *memory) Apply(_ context.Context, changes []schemas.Change) error {
	for _, change := range changes {
		switch c := change.(type) {
		case schemas.CreateLink:
			m.links = append(m.links, c.Link)
		case schemas.QueueDelivery:
			var mail schemas.Mail
			if err := json.Unmarshal(c.Delivery.Body, &mail); err != nil {
				return err
			}
			m.mails = append(m.mails, mail)
		}
	}
	return nil
}

type plain struct{}

func (plain) Seal(text []byte, _ string) []byte { return text }

func (plain) Open(sealed []byte, _ string) ([]byte, error) { return sealed, nil }

func noon() time.Time { return time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC) }

func newNotifier(verified bool) (*memory, *Notifier) {
	m := &memory{user: &schemas.User{ID: "u1", CreatedAt: noon().Add(-time.Hour), Attributes: map[string]any{"email": "ada@example.org", "email_verified": verified, "locale": "de"}}}
	return m, &Notifier{Store: m, Sealer: delivery.Sealer{Box: plain{}}, LockPage: "https://id.example.org/gate/lock", Service: "Example", Mails: true, Now: noon}
}

func send(t *testing.T, n *Notifier, notice schemas.Notice) {
	t.Helper()
	body := datatest.Marshal(t, notice)
	if err := n.Send(t.Context(), schemas.Delivery{Body: body}); err != nil {
		t.Fatal(err)
	}
}

func added(action string) schemas.Notice {
	return schemas.Notice{UserID: "u1", Action: action, At: noon()}
}

func TestRecipients(t *testing.T) {
	for name, test := range map[string]struct {
		verified bool
		change   func(*Notifier, *schemas.Notice)
		want     string
	}{
		"the verified address":                    {true, func(*Notifier, *schemas.Notice) {}, "ada@example.org"},
		"an address that anybody could enter":     {false, func(*Notifier, *schemas.Notice) {}, ""},
		"the former address":                      {false, func(_ *Notifier, n *schemas.Notice) { n.To = "old@example.org" }, "old@example.org"},
		"a credential with which the user begins": {true, func(_ *Notifier, n *schemas.Notice) { n.At = noon().Add(-time.Hour) }, ""},
		"a deleted user":                          {true, func(_ *Notifier, n *schemas.Notice) { n.UserID = "u2" }, ""},
		"a server without mail":                   {true, func(n *Notifier, _ *schemas.Notice) { n.Mails = false }, ""},
	} {
		m, n := newNotifier(test.verified)
		notice := added("passkey.registered")
		test.change(n, &notice)
		send(t, n, notice)
		if test.want == "" && len(m.mails)+len(m.links) > 0 || test.want != "" && (len(m.mails) != 1 || m.mails[0].To != test.want) {
			t.Errorf("%s: the mails are %v, want one to %q", name, m.mails, test.want)
		}
	}
}

// The mail has a link whose token the store does not have.
func TestMailHasALink(t *testing.T) {
	m, n := newNotifier(true)
	notice := added("user.signed_in")
	notice.SessionID, notice.ByAdministrator = "s1", true
	send(t, n, notice)
	mail, link := m.mails[0], m.links[0]
	token, found := strings.CutPrefix(mail.Link, "https://id.example.org/gate/lock#")
	if !found || string(schemas.HashSecret(token)) != string(link.TokenHash) || link.UserID != "u1" || !link.ExpiresAt.Equal(noon().Add(linkTTL)) {
		t.Errorf("the link is %q, stored as %v", mail.Link, link)
	}
	if mail.Browser != "Firefox on Linux" || mail.Language != "de" || mail.Notice != "user.signed_in" || mail.Application != "Example" || !mail.ByAdministrator {
		t.Errorf("the mail is %v", mail)
	}
}

// Many events of one kind do not hide another kind.
func TestMailsAreLimited(t *testing.T) {
	m, n := newNotifier(true)
	for range maxMails + 3 {
		send(t, n, added("user.signed_in"))
	}
	if len(m.mails) != maxMails {
		t.Errorf("%d mails, want %d", len(m.mails), maxMails)
	}
	send(t, n, added("passkey.registered"))
	n.Now = func() time.Time { return noon().Add(period + time.Second) }
	send(t, n, added("user.signed_in"))
	if len(m.mails) != maxMails+2 {
		t.Errorf("%d mails, want %d", len(m.mails), maxMails+2)
	}
	if err := n.Send(t.Context(), schemas.Delivery{Body: []byte("x")}); !errors.Is(err, delivery.ErrRefused) {
		t.Errorf("what is no notice: %v", err)
	}
}
