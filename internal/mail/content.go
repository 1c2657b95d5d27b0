package mail

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/postern-id/postern/internal/translations"
	"github.com/postern-id/postern/schemas"
)

// timeFormat is how mails show times, in UTC.
const timeFormat = "2006-01-02 15:04 UTC"

// content is the text of a mail in one language.
type content struct {
	language string // BCP 47
	subject  string
	before   []string // the paragraphs before the code
	code     string
	link     string
	after    []string // the paragraphs after them
}

// contentOf composes the text of a mail in the recipient's language.
func contentOf(languages *translations.Catalog, m schemas.Mail) content {
	l := languages.Match(m.Language)
	text := func(key string) string { return fill(l.Mails[key], l, m) }
	if m.Notice != "" {
		return noticeContent(l.Tag, m, text)
	}
	kind, named, ignore := "code.", "", "ignore"
	if m.Invitation {
		kind = "invitation."
	}
	valid := kind + "valid"
	if m.Recovery {
		kind = "recovery."
	}
	if singleLine(m.Application) != "" {
		named = "For"
	}
	if m.NewAddress {
		ignore = "newAddress"
	}
	before := []string{text(kind + "lead" + named)}
	if m.Replaces {
		before = append([]string{text(kind + "replaces")}, before...)
	}
	return content{
		language: l.Tag, subject: text(kind + "subject" + named), before: before, code: m.Code, link: m.Link,
		after: []string{text(valid), text(kind + ignore)},
	}
}

// noticeContent composes the text of a mail about an event.
func noticeContent(tag string, m schemas.Mail, text func(key string) string) content {
	lead, lock := "notice.lead", "notice.lock"
	if m.ByAdministrator {
		lead, lock = "notice.leadAdministrator", "notice.lockAdministrator"
	}
	before := []string{text(lead)}
	if m.Browser != "" {
		before = append(before, text("notice.browser"))
	}
	return content{
		language: tag, subject: text("notice.subject"), before: append(before, text(lock)), link: m.Link, after: []string{text("notice.expires")},
	}
}

// fill replaces the placeholders: {app} is the name of the application or the service, {code} the
// code, {minutes} how long it is valid, {time} the time of an event or of the end of an invitation in
// UTC, {what} the event, and {browser} the browser of a sign-in. Names are reduced to one line of
// plain text.
func fill(text string, l *translations.Language, m schemas.Mail) string {
	return strings.NewReplacer("{app}", singleLine(m.Application), "{code}", m.Code, "{minutes}", strconv.Itoa(m.Minutes),
		"{time}", m.At.UTC().Format(timeFormat), "{what}", l.Mails["event."+m.Notice], "{browser}", singleLine(m.Browser)).Replace(text)
}

// singleLine replaces line breaks, which could inject a header field.
func singleLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// paragraphs returns the text with the code as an indented paragraph of its own.
func (c content) paragraphs() []string {
	list := append([]string{}, c.before...)
	if c.code != "" {
		list = append(list, "    "+c.code)
	}
	if c.link != "" {
		list = append(list, c.link)
	}
	return append(list, c.after...)
}
