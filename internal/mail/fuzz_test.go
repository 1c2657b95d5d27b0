package mail

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"regexp"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// FuzzMessage looks for a text of a user, a client or an administrator that adds a header field, a
// recipient or an element to a mail.
func FuzzMessage(f *testing.F) {
	for _, text := range hostileTexts() {
		f.Add("ada@example.org", text, text, text, "de")
		f.Add(text, text, "", "https://id.example.com/gate/lock#x", text)
	}
	f.Fuzz(func(t *testing.T, to, application, browser, link, language string) {
		for _, m := range []schemas.Mail{
			{To: to, Application: application, Code: "123456", Minutes: 10, Language: language},
			{To: to, Application: application, Code: "123456", Minutes: 10, Recovery: true, Language: language},
			{To: to, Application: application, Notice: schemas.NoticeActions()[0], Browser: browser, Link: link, Language: language},
			{To: to, Application: application, Invitation: true, Link: link, Language: language},
		} {
			checkMessage(t, m)
		}
	})
}

// hostileTexts are texts that break out of the places of a mail.
func hostileTexts() []string {
	return []string{
		"Shop", "a\r\nBcc: eve@example.net", "a\nSubject: x\n\nbody", "<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "javascript:alert(1)", "=?utf-8?q?=0D=0ABcc:eve@example.net?=",
		"ada@example.org, eve@example.net", "\"ada@example.org\\r\\nRCPT TO:<eve@example.net>\"@example.org", "\u2028\u2029\x00\u202e", "</p></body><script>", "&lt;script&gt;", "data:text/html,<script>alert(1)</script>",
	}
}

// templateTag matches the tags of the template; the address of a link contains no quotes.
var templateTag = regexp.MustCompile(`^<(!doctype html|html lang="[A-Za-z0-9-]*"|/?head|meta charset="utf-8"|meta name="[a-z-]+" content="[a-z =-]+"|/?style|(body|div|p) (class="[a-z]+" )?style="[^"]*"|/?strong|a class="link" href="[^"]*" style="[^"]*"|/(a|p|div|body|html))>$`)

// scriptAddress matches a link that runs a script.
var scriptAddress = regexp.MustCompile(`(?i)href="[\s\x00-\x20]*(javascript|data|vbscript):`)

func checkMessage(t *testing.T, m schemas.Mail) {
	t.Helper()
	msg, err := newMessage(schemas.Delivery{ID: schemas.NewID()}, "Example <no-reply@example.com>", m.To, contentOf(nil, m))
	if err != nil {
		return
	}
	var text bytes.Buffer
	if _, err := msg.WriteTo(&text); err != nil {
		return // the address is rejected when it is sent
	}
	parsed, err := mail.ReadMessage(&text)
	if err != nil {
		t.Fatalf("%+v: %v", m, err)
	}
	for name, values := range parsed.Header {
		known := strings.Contains(" From To Subject Date Message-Id Auto-Submitted Content-Language Content-Type Mime-Version ", " "+name+" ")
		if !known || len(values) != 1 {
			t.Fatalf("%+v: the field %s: %q", m, name, values)
		}
	}
	if list, err := parsed.Header.AddressList("To"); err == nil && len(list) != 1 {
		t.Fatalf("%+v: the recipients %v", m, list)
	}
	_, parameters, err := mime.ParseMediaType(parsed.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	parts := multipart.NewReader(parsed.Body, parameters["boundary"])
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(part.Header.Get("Content-Type"), "text/html") {
			checkHTML(t, part) // NextPart decodes quoted-printable
		}
	}
}

// checkHTML fails if the page has a tag or an address that the template does not have. Texts contain
// no "<", because they are escaped.
func checkHTML(t *testing.T, page io.Reader) {
	t.Helper()
	text, err := io.ReadAll(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range regexp.MustCompile(`<[^>]*>?`).FindAllString(string(text), -1) {
		if !templateTag.MatchString(tag) || scriptAddress.MatchString(tag) {
			t.Fatalf("the tag %q in %s", tag, text)
		}
	}
}
