package mail

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/schemas"
)

func ask(b *Mailbox, method, accept string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/try/mail", nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	return w
}

// The mailbox accepts and rejects the mails that a mail server would get, and keeps the newest.
func TestMailboxKeepsTheNewestMails(t *testing.T) {
	b := NewMailbox(nil)
	for i := range mailboxSize + 5 {
		m := ada()
		m.Code = fmt.Sprintf("%06d", i)
		if err := b.Send(t.Context(), code(t, m)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Send(t.Context(), code(t, schemas.Mail{Code: "999999"})); err != nil {
		t.Errorf("a mail without a recipient: %v", err)
	}
	for name, d := range map[string]schemas.Delivery{"no mail": {Body: []byte("x")}, "no address": code(t, schemas.Mail{To: "ada", Code: "1"})} {
		if err := b.Send(t.Context(), d); !errors.Is(err, delivery.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w := ask(b, "GET", "application/json")
	var mails []Received
	datatest.Unmarshal(t, w.Body.Bytes(), &mails)
	if len(mails) != mailboxSize || mails[0].To != "ada@example.org" || mails[0].Subject != "Your code for Shop" || !strings.Contains(mails[0].Text, "000104") {
		t.Errorf("%d mails, the newest is %v", len(mails), mails[0])
	}
}

// Values in mails are text on the page, and the page cannot load anything from elsewhere.
func TestMailboxPage(t *testing.T) {
	b := NewMailbox(nil)
	if w := ask(b, "GET", "text/html"); !strings.Contains(w.Body.String(), "No mail yet.") {
		t.Errorf("the empty page is %s", w.Body)
	}
	m := ada()
	m.Application = "<script>alert(1)</script> javascript:x https://shop.example.org/?a=1&b=\"2"
	if err := b.Send(t.Context(), code(t, m)); err != nil {
		t.Fatal(err)
	}
	w := ask(b, "GET", "text/html")
	page := w.Body.String()
	if strings.Contains(page, "<script") || strings.Contains(page, `href="javascript`) || !strings.Contains(page, "012345") ||
		!strings.Contains(page, `<a href="https://shop.example.org/?a=1&amp;b=%222"`) {
		t.Errorf("the page is %s", page)
	}
	if h := w.Header(); h.Get("Cache-Control") != "no-store" || h.Get("Content-Security-Policy") != mailboxPolicy || h.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("the header fields are %v", h)
	}
	if w := ask(b, "DELETE", ""); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("DELETE: %d %v", w.Code, w.Header())
	}
}
