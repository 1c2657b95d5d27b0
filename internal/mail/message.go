package mail

import (
	"fmt"
	"html/template"
	"strings"

	gomail "github.com/wneessen/go-mail"

	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/schemas"
)

// htmlTemplate is the HTML of a mail. It has no images and no links, so there is no tracking and
// nothing to click.
const htmlTemplate = `<!doctype html><html lang="{{.Language}}"><meta charset="utf-8"><body style="font-family: sans-serif; line-height: 1.5">` +
	`<p>{{.Lead}}</p><p style="font-size: 2em; letter-spacing: .2em"><strong>{{.Code}}</strong></p><p>{{.Valid}}</p><p>{{.Ignore}}</p></body></html>`

// newMessage composes the mail of a delivery. Its id is stable, so that mailboxes recognize
// a duplicate (RFC 5322 §3.6.4).
func newMessage(d schemas.Delivery, from string, m schemas.Mail) (*gomail.Msg, error) {
	says, language := translationFor(m.Language)
	subject, lead := says.subject, says.lead
	if singleLine(m.Application) != "" {
		subject, lead = says.subjectFor, says.leadFor
	}
	filled := func(text string) string { return fill(text, m.Application, m.Code, m.Minutes) }
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	if err := msg.From(from); err != nil {
		return nil, fmt.Errorf("mail.from of the configuration: %w", err)
	}
	if err := msg.To(m.To); err != nil {
		return nil, fmt.Errorf("%w: the mail address is invalid", delivery.ErrRefused) // the address is personal data
	}
	msg.Subject(filled(subject))
	msg.SetDate()
	msg.SetMessageIDWithValue(d.ID + "@" + domain(from))
	// RFC 3834 §5: prevents out-of-office replies.
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetGenHeader("Content-Language", language.String())
	text := strings.Join([]string{filled(lead), "    " + m.Code, filled(says.valid), filled(says.ignore)}, "\r\n\r\n") + "\r\n"
	msg.SetBodyString(gomail.TypeTextPlain, text)
	html, err := template.New("mail").Parse(htmlTemplate)
	if err != nil {
		return nil, err
	}
	err = msg.AddAlternativeHTMLTemplate(html, map[string]string{
		"Language": language.String(), "Lead": filled(lead), "Code": m.Code, "Valid": filled(says.valid), "Ignore": filled(says.ignore),
	})
	return msg, err
}

// domain returns the domain of an address, or of an address in angle brackets.
func domain(address string) string {
	return strings.TrimRight(address[strings.LastIndexByte(address, '@')+1:], "> ")
}
