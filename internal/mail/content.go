package mail

import (
	"golang.org/x/text/language"

	"github.com/postern-id/postern/schemas"
)

// content is the text of a mail in one language.
type content struct {
	language language.Tag
	subject  string
	before   []string // the paragraphs before the code
	code     string
	link     string
	after    []string // the paragraphs after them
}

// contentOf composes the text of a mail in the recipient's language.
func contentOf(m schemas.Mail) content {
	if m.Notice != "" {
		return noticeContent(m)
	}
	says, tag := translationFor(m.Language)
	subject, lead := says.subject, says.lead
	if singleLine(m.Application) != "" {
		subject, lead = says.subjectFor, says.leadFor
	}
	filled := func(text string) string { return fill(text, m.Application, m.Code, m.Minutes) }
	return content{
		language: tag, subject: filled(subject), before: []string{filled(lead)}, code: m.Code,
		after: []string{filled(says.valid), filled(says.ignore)},
	}
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
