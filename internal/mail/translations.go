package mail

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/language"
)

// translation are the texts of a mail with a code. {app}, {code} and {minutes} are
// placeholders.
type translation struct {
	subject, subjectFor, lead, leadFor, valid, ignore string
}

// languages are the available languages; the first is the default.
func languages() []language.Tag {
	return []language.Tag{language.English, language.German, language.French}
}

func readTranslation(i int) translation {
	return []translation{
		{
			subject: "Your code", subjectFor: "Your code for {app}",
			lead: "Your code is:", leadFor: "Your code for {app} is:",
			valid:  "It is valid for {minutes} minutes and can be used once. Enter it on the page where you requested it, and do not share it.",
			ignore: "If you did not request a code, ignore this mail: without the code, no one can sign in.",
		},
		{
			subject: "Ihr Code", subjectFor: "Ihr Code für {app}",
			lead: "Ihr Code lautet:", leadFor: "Ihr Code für {app} lautet:",
			valid:  "Er gilt {minutes} Minuten lang und nur einmal. Geben Sie ihn auf der Seite ein, auf der Sie ihn angefordert haben, und sagen Sie ihn niemandem.",
			ignore: "Wenn Sie keinen Code angefordert haben, brauchen Sie nichts zu tun: Ohne ihn kommt niemand hinein.",
		},
		{
			subject: "Votre code", subjectFor: "Votre code pour {app}",
			lead: "Votre code :", leadFor: "Votre code pour {app} :",
			valid:  "Il est valable {minutes} minutes et une seule fois. Saisissez-le sur la page où vous l'avez demandé, et ne le dites à personne.",
			ignore: "Si vous n'avez pas demandé de code, ne faites rien : sans lui, personne n'entre.",
		},
	}[i]
}

// translationFor returns the texts for a language tag (BCP 47), and their language.
func translationFor(tag string) (translation, language.Tag) {
	i := languageIndex(tag)
	return readTranslation(i), languages()[i]
}

// languageIndex returns the index of the language that fits a tag best.
func languageIndex(tag string) int {
	_, i, confidence := language.NewMatcher(languages()).Match(language.Make(tag))
	if confidence == language.No {
		return 0
	}
	return i
}

// fill replaces the placeholders. The name is reduced to one line of plain text.
func fill(text, app, code string, minutes int) string {
	return strings.NewReplacer("{app}", singleLine(app), "{code}", code, "{minutes}", strconv.Itoa(minutes)).Replace(text)
}

// singleLine replaces line breaks, which could inject a header field.
func singleLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}
