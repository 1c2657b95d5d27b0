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
	i := languageIndex(m.Language)
	says := codeTranslation(i)
	if m.Invitation {
		says = invitationTranslation(i)
	}
	subject, lead, ignore := says.subject, says.lead, says.ignore
	if singleLine(m.Application) != "" {
		subject, lead = says.subjectFor, says.leadFor
	}
	if m.NewAddress {
		ignore = says.newAddress
	}
	return content{
		language: languages()[i], subject: fill(subject, m), before: []string{fill(lead, m)}, code: m.Code, link: m.Link,
		after: []string{fill(says.valid, m), fill(ignore, m)},
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
