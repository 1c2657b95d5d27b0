package mail

import (
	"strings"

	"github.com/postern-id/postern/schemas"
)

// noticeTranslation are the texts of a mail about an event. {app} is the name of the service, {what}
// the event, {time} its time in UTC and {browser} the browser of a sign-in.
type noticeTranslation struct {
	subject, lead, browser, lock, expires string
	events                                map[string]string // by action
}

// noticeContent composes the text of a mail about an event.
func noticeContent(m schemas.Mail) content {
	i := languageIndex(m.Language)
	says := readNoticeTranslation(i)
	filled := func(text string) string {
		return strings.NewReplacer("{app}", singleLine(m.Application), "{what}", says.events[m.Notice],
			"{time}", m.At.UTC().Format(timeFormat), "{browser}", singleLine(m.Browser)).Replace(text)
	}
	before := []string{filled(says.lead)}
	if m.Browser != "" {
		before = append(before, filled(says.browser))
	}
	return content{
		language: languages()[i], subject: filled(says.subject), before: append(before, says.lock), link: m.Link, after: []string{says.expires},
	}
}

func readNoticeTranslation(i int) noticeTranslation {
	return []noticeTranslation{
		{
			subject: "{what} – {app}", lead: "{what}: your account at {app}, {time}.", browser: "Browser: {browser}",
			lock:    "If this was you, you need not do anything. If it was not you, lock your account. This ends all sessions, and only an administrator can unlock it:",
			expires: "The link is valid for seven days and can be used once. It leads to a page that asks you to confirm.",
			events: map[string]string{
				"passkey.registered": "A passkey was added", "passkey.deleted": "A passkey was removed",
				"password.set": "The password was changed", "password.removed": "The password was removed",
				"totp.registered": "An authenticator app was added", "totp.deleted": "The authenticator app was removed",
				"recovery.issued": "New recovery codes were created", "recovery.deleted": "The recovery codes were removed",
				"recovery.used":   "A recovery code was used",
				"identity.linked": "An external account was linked", "identity.unlinked": "An external account was unlinked",
				schemas.EmailChanged: "The email address was changed", "user.signed_in": "Sign-in from a new browser",
			},
		},
		{
			subject: "{what} – {app}", lead: "{what}: Ihr Konto bei {app}, {time}.", browser: "Browser: {browser}",
			lock:    "Wenn Sie das waren, brauchen Sie nichts zu tun. Wenn nicht, sperren Sie Ihr Konto. Das beendet alle Sitzungen, und nur die Verwaltung kann es wieder entsperren:",
			expires: "Der Link gilt sieben Tage lang und nur einmal. Er führt zu einer Seite, auf der Sie die Sperre bestätigen.",
			events: map[string]string{
				"passkey.registered": "Ein Passkey wurde hinzugefügt", "passkey.deleted": "Ein Passkey wurde entfernt",
				"password.set": "Das Passwort wurde geändert", "password.removed": "Das Passwort wurde entfernt",
				"totp.registered": "Eine Authenticator-App wurde hinzugefügt", "totp.deleted": "Die Authenticator-App wurde entfernt",
				"recovery.issued": "Neue Wiederherstellungscodes wurden erstellt", "recovery.deleted": "Die Wiederherstellungscodes wurden entfernt",
				"recovery.used":   "Ein Wiederherstellungscode wurde verwendet",
				"identity.linked": "Ein externes Konto wurde verknüpft", "identity.unlinked": "Die Verknüpfung mit einem externen Konto wurde aufgehoben",
				schemas.EmailChanged: "Die E-Mail-Adresse wurde geändert", "user.signed_in": "Anmeldung in einem neuen Browser",
			},
		},
		{
			subject: "{what} – {app}", lead: "{what} : votre compte chez {app}, {time}.", browser: "Navigateur : {browser}",
			lock:    "Si c'était vous, ne faites rien. Sinon, verrouillez votre compte. Cela met fin à toutes les sessions, et seule l'administration peut le déverrouiller :",
			expires: "Le lien est valable sept jours et une seule fois. Il mène à une page qui vous demande de confirmer.",
			events: map[string]string{
				"passkey.registered": "Une clé d'accès a été ajoutée", "passkey.deleted": "Une clé d'accès a été supprimée",
				"password.set": "Le mot de passe a été modifié", "password.removed": "Le mot de passe a été supprimé",
				"totp.registered": "Une application d'authentification a été ajoutée", "totp.deleted": "L'application d'authentification a été supprimée",
				"recovery.issued": "De nouveaux codes de récupération ont été créés", "recovery.deleted": "Les codes de récupération ont été supprimés",
				"recovery.used":   "Un code de récupération a été utilisé",
				"identity.linked": "Un compte externe a été lié", "identity.unlinked": "Un compte externe a été dissocié",
				schemas.EmailChanged: "L'adresse e-mail a été modifiée", "user.signed_in": "Connexion depuis un nouveau navigateur",
			},
		},
	}[i]
}
