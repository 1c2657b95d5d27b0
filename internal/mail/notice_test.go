package mail

import (
	"mime"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/translations"
	"github.com/postern-id/postern/schemas"
)

// Every event has a text in every language, and the mail contains its time, the browser and the
// link.
func TestNotices(t *testing.T) {
	const link = "https://id.example.org/gate/lock#0123-abc_D"
	for _, l := range translations.Builtin().Languages() {
		tag := l.Tag
		texts := map[string]bool{}
		for _, action := range schemas.NoticeActions() {
			m := schemas.Mail{To: "ada@example.org", Notice: action, At: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), Link: link, Browser: "<b>Firefox</b>\r\nBcc: x@example.org", Application: "Shop", Language: tag}
			header, parts := read(t, m)
			subject, err := new(mime.WordDecoder).DecodeHeader(header.Get("Subject"))
			if err != nil || !strings.HasSuffix(subject, " – Shop") || header.Get("Content-Language") != tag || header.Get("Bcc") != "" {
				t.Errorf("%s, %s: the subject is %q, %v; %v", tag, action, subject, err, header)
			}
			texts[strings.TrimSuffix(subject, " – Shop")] = true
			for kind, text := range parts {
				if !strings.Contains(text, link) || !strings.Contains(text, "2030-01-02 03:04 UTC") || !strings.Contains(text, "Firefox") {
					t.Errorf("%s, %s: %s is %s", tag, action, kind, text)
				}
			}
			if strings.Contains(parts["text/html"], "<b>") {
				t.Errorf("%s, %s: the browser is markup in %s", tag, action, parts["text/html"])
			}
		}
		if len(texts) != len(schemas.NoticeActions()) || texts[""] {
			t.Errorf("%s: %d texts for %d events: %v", tag, len(texts), len(schemas.NoticeActions()), texts)
		}
	}
}

// A mail about a change by an administrator does not suggest that the user made it.
func TestNoticesOfAdministrators(t *testing.T) {
	for _, l := range translations.Builtin().Languages() {
		m := schemas.Mail{To: "ada@example.org", Notice: "passkey.deleted", At: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), Link: "https://id.example.org/gate/lock#x", Application: "Shop", Language: l.Tag, ByAdministrator: true}
		_, parts := read(t, m)
		text := strings.Join(strings.Fields(parts["text/plain"]), " ")
		for _, key := range []string{"notice.leadAdministrator", "notice.lockAdministrator"} {
			if want := fill(l.Mails[key], l, m); !strings.Contains(text, want) {
				t.Errorf("%s: the mail lacks %q: %s", l.Tag, want, text)
			}
		}
		if strings.Contains(text, l.Mails["notice.lock"]) || !strings.Contains(text, l.Mails["event.passkey.deleted"]) {
			t.Errorf("%s: the mail is %s", l.Tag, text)
		}
	}
}
