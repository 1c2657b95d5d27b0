package mail

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/language"

	"github.com/postern-id/postern/schemas"
)

// timeFormat is how mails show times, in UTC.
const timeFormat = "2006-01-02 15:04 UTC"

// translation are the texts of a mail with a code or an invitation. {app}, {code}, {minutes} and
// {time}, when an invitation expires, are placeholders.
type translation struct {
	subject, subjectFor, lead, leadFor, valid, ignore, newAddress string
}

// languages are the available languages; the first is the default.
func languages() []language.Tag {
	return []language.Tag{language.English, language.German, language.French}
}

// codeTranslation returns the texts of a mail with a code.
func codeTranslation(i int) translation {
	return []translation{
		{
			subject: "Your code", subjectFor: "Your code for {app}",
			lead: "Your code is:", leadFor: "Your code for {app} is:",
			valid:      "It is valid for {minutes} minutes and can be used once. Enter it on the page where you requested it, and do not share it.",
			ignore:     "If you did not request a code, ignore this mail: without the code, no one can sign in.",
			newAddress: "The code confirms this address for an account. If you did not request it, ignore this mail: without the code, no account gets the address.",
		},
		{
			subject: "Ihr Code", subjectFor: "Ihr Code für {app}",
			lead: "Ihr Code lautet:", leadFor: "Ihr Code für {app} lautet:",
			valid:      "Er gilt {minutes} Minuten lang und nur einmal. Geben Sie ihn auf der Seite ein, auf der Sie ihn angefordert haben, und sagen Sie ihn niemandem.",
			ignore:     "Wenn Sie keinen Code angefordert haben, brauchen Sie nichts zu tun: Ohne ihn kommt niemand hinein.",
			newAddress: "Der Code bestätigt diese Adresse für ein Konto. Wenn Sie ihn nicht angefordert haben, brauchen Sie nichts zu tun: Ohne ihn erhält kein Konto die Adresse.",
		},
		{
			subject: "Votre code", subjectFor: "Votre code pour {app}",
			lead: "Votre code :", leadFor: "Votre code pour {app} :",
			valid:      "Il est valable {minutes} minutes et une seule fois. Saisissez-le sur la page où vous l'avez demandé, et ne le dites à personne.",
			ignore:     "Si vous n'avez pas demandé de code, ne faites rien : sans lui, personne n'entre.",
			newAddress: "Ce code confirme cette adresse pour un compte. Si vous ne l'avez pas demandé, ne faites rien : sans lui, aucun compte n'obtient l'adresse.",
		},
	}[i]
}

// invitationTranslation returns the texts of an invitation.
func invitationTranslation(i int) translation {
	return []translation{
		{
			subject: "Your invitation", subjectFor: "Your invitation to {app}",
			lead: "An account has been created for you. Use this link to set up how you sign in:", leadFor: "An account at {app} has been created for you. Use this link to set up how you sign in:",
			valid:  "The link is valid until {time}, and until you have set up a way to sign in. Do not share it.",
			ignore: "If you did not expect this invitation, ignore this mail.",
		},
		{
			subject: "Ihre Einladung", subjectFor: "Ihre Einladung zu {app}",
			lead: "Für Sie wurde ein Konto angelegt. Richten Sie mit diesem Link ein, wie Sie sich anmelden:", leadFor: "Für Sie wurde ein Konto bei {app} angelegt. Richten Sie mit diesem Link ein, wie Sie sich anmelden:",
			valid:  "Der Link gilt bis {time}, und nur, bis Sie eine Anmeldemethode eingerichtet haben. Geben Sie ihn niemandem weiter.",
			ignore: "Wenn Sie diese Einladung nicht erwartet haben, brauchen Sie nichts zu tun.",
		},
		{
			subject: "Votre invitation", subjectFor: "Votre invitation à {app}",
			lead: "Un compte a été créé pour vous. Utilisez ce lien pour choisir comment vous connecter :", leadFor: "Un compte a été créé pour vous chez {app}. Utilisez ce lien pour choisir comment vous connecter :",
			valid:  "Le lien est valable jusqu'au {time}, et seulement tant que vous n'avez pas configuré de moyen de connexion. Ne le partagez pas.",
			ignore: "Si vous n'attendiez pas cette invitation, ne faites rien.",
		},
	}[i]
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
func fill(text string, m schemas.Mail) string {
	return strings.NewReplacer("{app}", singleLine(m.Application), "{code}", m.Code, "{minutes}", strconv.Itoa(m.Minutes),
		"{time}", m.At.UTC().Format(timeFormat)).Replace(text)
}

// singleLine replaces line breaks, which could inject a header field.
func singleLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}
