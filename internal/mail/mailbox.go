package mail

import (
	"context"
	"encoding/json"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/postern-id/postern/internal/translations"
	"github.com/postern-id/postern/schemas"
)

// mailboxSize is how many mails a mailbox keeps.
const mailboxSize = 100

// Received is a mail in a mailbox.
type Received struct {
	To      string    `json:"to"`
	Subject string    `json:"subject"`
	Text    string    `json:"text"` // paragraphs, separated by empty lines
	At      time.Time `json:"at"`
}

// Mailbox keeps the newest mails in memory instead of sending them, and shows them on a page. It is
// for development: anyone who opens the page sees all codes.
type Mailbox struct {
	page      *template.Template
	languages *translations.Catalog

	mu    sync.Mutex
	mails []Received // the newest first
}

// NewMailbox returns an empty mailbox.
func NewMailbox(languages *translations.Catalog) *Mailbox {
	page := template.New("mailbox").Funcs(template.FuncMap{"split": splitLinks})
	return &Mailbox{page: template.Must(page.Parse(mailboxTemplate)), languages: languages}
}

// Send puts the mail of a delivery, whose body is a schemas.Mail as JSON, into the mailbox. It
// implements delivery.Sender and accepts and rejects the same mails as Sender.Send.
func (b *Mailbox) Send(_ context.Context, d schemas.Delivery) error {
	m, err := readMail(d)
	if err != nil || m.To == "" {
		return err
	}
	text := contentOf(b.languages, m)
	if _, err := newMessage(d, "no-reply@localhost", m.To, text); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mails = slices.Insert(b.mails, 0, Received{m.To, text.subject, strings.Join(text.paragraphs(), "\n\n"), d.CreatedAt})
	b.mails = b.mails[:min(len(b.mails), mailboxSize)]
	return nil
}

// Mails returns the mails in the mailbox, newest first.
func (b *Mailbox) Mails() []Received {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]Received{}, b.mails...)
}

// mailboxPolicy allows only the page's own style.
const mailboxPolicy = "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// mailboxTemplate is the page of a mailbox. It loads itself again every five seconds. Links in the
// text can be followed.
const mailboxTemplate = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <meta http-equiv="refresh" content="5">
  <title>Mailbox · Postern</title>
  <link rel="icon" href="icon.svg" type="image/svg+xml">
  <link rel="stylesheet" href="design.css">
  <link rel="stylesheet" href="try.css">
</head>
<body>
  <main>
    <h1>Mailbox</h1>
    <p>The server runs without a mail server, so its mails arrive here. They are kept in memory, newest first.</p>
    <p><a href="./">Back to the try-it page</a></p>
    {{- range .}}
    <article>
      <h2>{{.Subject}}</h2>
      <p class="hint">To {{.To}}, <time datetime="{{.At.Format "2006-01-02T15:04:05Z07:00"}}">{{.At.Format "2006-01-02 15:04:05 MST"}}</time></p>
      {{- range split .Text}}
      <p>{{range .}}{{if .IsLink}}<a href="{{.Text}}" rel="noreferrer">{{.Text}}</a>{{else}}{{.Text}}{{end}}{{end}}</p>
      {{- end}}
    </article>
    {{- else}}
    <p>No mail yet.</p>
    {{- end}}
  </main>
</body>
</html>
`

// piece is a part of a paragraph.
type piece struct {
	Text   string
	IsLink bool
}

// splitLinks splits a text into paragraphs, and each at its links, which stand between spaces.
func splitLinks(text string) (paragraphs [][]piece) {
	for _, paragraph := range strings.Split(text, "\n\n") {
		var pieces []piece
		for i, word := range strings.Split(strings.TrimSpace(paragraph), " ") {
			if i > 0 {
				pieces = append(pieces, piece{Text: " "})
			}
			link := strings.HasPrefix(word, "https://") || strings.HasPrefix(word, "http://")
			pieces = append(pieces, piece{word, link})
		}
		paragraphs = append(paragraphs, pieces)
	}
	return paragraphs
}

// ServeHTTP answers GET and HEAD with the page, or with the mails as JSON if the client accepts
// application/json.
func (b *Mailbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", mailboxPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "the mailbox supports only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	// Writing fails only for a disconnected client.
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		h.Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(b.Mails())
		return
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	_ = b.page.Execute(w, b.Mails())
}
