package mail

import (
	"fmt"
	"html/template"
	"strings"

	gomail "github.com/wneessen/go-mail"

	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/schemas"
)

// htmlTemplate is the HTML of a mail. It has no images, so there is no tracking.
const htmlTemplate = `<!doctype html><html lang="{{.Language}}"><meta charset="utf-8"><body style="font-family: sans-serif; line-height: 1.5">` +
	`{{range .Before}}<p>{{.}}</p>{{end}}{{with .Code}}<p style="font-size: 2em; letter-spacing: .2em"><strong>{{.}}</strong></p>{{end}}{{with .Link}}<p><a href="{{.}}">{{.}}</a></p>{{end}}{{range .After}}<p>{{.}}</p>{{end}}</body></html>`

// newMessage composes the mail of a delivery. Its id is stable, so that mailboxes recognize
// a duplicate (RFC 5322 §3.6.4).
func newMessage(d schemas.Delivery, from, to string, text content) (*gomail.Msg, error) {
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	if err := msg.From(from); err != nil {
		return nil, fmt.Errorf("mail.from of the configuration: %w", err)
	}
	if err := msg.To(to); err != nil {
		return nil, fmt.Errorf("%w: the mail address is invalid", delivery.ErrRefused) // the address is personal data
	}
	msg.Subject(text.subject)
	msg.SetDate()
	msg.SetMessageIDWithValue(d.ID + "@" + domain(from))
	// RFC 3834 §5: prevents out-of-office replies.
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetGenHeader("Content-Language", text.language)
	msg.SetBodyString(gomail.TypeTextPlain, strings.Join(text.paragraphs(), "\r\n\r\n")+"\r\n")
	html, err := template.New("mail").Parse(htmlTemplate)
	if err != nil {
		return nil, err
	}
	err = msg.AddAlternativeHTMLTemplate(html, map[string]any{
		"Language": text.language, "Before": text.before, "Code": text.code, "Link": text.link, "After": text.after,
	})
	return msg, err
}

// domain returns the domain of an address, or of an address in angle brackets.
func domain(address string) string {
	return strings.TrimRight(address[strings.LastIndexByte(address, '@')+1:], "> ")
}
