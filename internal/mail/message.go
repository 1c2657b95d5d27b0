package mail

import (
	"fmt"
	"html/template"
	"maps"
	"strings"

	gomail "github.com/wneessen/go-mail"

	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/internal/design"
	"github.com/postern-id/postern/schemas"
)

// htmlTemplate is the HTML of a mail. It has no images, so there is no tracking. Readers of mails know neither custom
// properties nor, some of them, style sheets: the light colors are in the elements, and the dark ones in a style sheet.
const htmlTemplate = `<!doctype html><html lang="{{.Language}}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">` +
	`<meta name="supported-color-schemes" content="light dark"><style>{{.Dark}}</style></head>` +
	`<body class="paper" style="margin:0;padding:24px 12px;background:{{.Paper}};color:{{.Ink}};font:16px/1.55 -apple-system,'Segoe UI',Roboto,sans-serif">` +
	`<div class="card" style="max-width:520px;margin:0 auto;padding:32px 28px;background:{{.Surface}};border:1px solid {{.Line}};border-radius:16px">` +
	`{{range .Before}}<p style="margin:0 0 16px">{{.}}</p>{{end}}` +
	`{{with .Code}}<p class="code" style="margin:0 0 20px;padding:14px 18px;background:{{$.Sunken}};border-radius:10px;font:600 28px/1.3 ui-monospace,Menlo,Consolas,monospace;letter-spacing:.18em;text-align:center"><strong>{{.}}</strong></p>{{end}}` +
	`{{with .Link}}<p style="margin:0 0 20px;word-break:break-all"><a class="link" href="{{.}}" style="color:{{$.Green}};font-weight:600">{{.}}</a></p>{{end}}` +
	`{{range .After}}<p class="quiet" style="margin:0 0 12px;color:{{$.Quiet}};font-size:14px">{{.}}</p>{{end}}</div></body></html>`

// colors returns the colors of a mail by their names in its template.
func colors(scheme design.Scheme) map[string]any {
	named := map[string]any{}
	for name, token := range map[string]string{"Paper": "paper", "Surface": "surface", "Sunken": "sunken", "Line": "line", "Ink": "ink", "Quiet": "ink-2", "Green": "green"} {
		named[name] = template.CSS(design.Token(token, scheme))
	}
	return named
}

// darkStyle returns the style sheet of a mail for readers who prefer dark colors.
func darkStyle() template.CSS {
	c := colors(design.Dark)
	return template.CSS(fmt.Sprintf("@media (prefers-color-scheme:dark){.paper{background:%s!important;color:%s!important}.card{background:%s!important;border-color:%s!important}"+
		".quiet{color:%s!important}.code{background:%s!important}.link{color:%s!important}}", c["Paper"], c["Ink"], c["Surface"], c["Line"], c["Quiet"], c["Sunken"], c["Green"]))
}

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
	shown := colors(design.Light)
	maps.Copy(shown, map[string]any{"Language": text.language, "Before": text.before, "Code": text.code, "Link": text.link, "After": text.after, "Dark": darkStyle()})
	err = msg.AddAlternativeHTMLTemplate(html, shown)
	return msg, err
}

// domain returns the domain of an address, or of an address in angle brackets.
func domain(address string) string {
	return strings.TrimRight(address[strings.LastIndexByte(address, '@')+1:], "> ")
}
