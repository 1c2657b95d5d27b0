// The texts of the pages of users and their invitations. The English texts are the keys.

export const german: Record<string, string> = {
  "Invitation": "Einladung",
  "Application": "Anwendung",
  "Invite": "Einladen",
  "Send a new invitation": "Neue Einladung senden",
  "Withdraw the invitation": "Einladung zurückziehen",
  "The link in the mail will no longer work.": "Der Link in der Mail funktioniert dann nicht mehr.",
  "The invitation was sent to {email}.": "Die Einladung wurde an {email} gesendet.",
  "The invitation was withdrawn.": "Die Einladung wurde zurückgezogen.",
  "Invited to {app} at {email}, valid until {time}.": "Eingeladen zu {app} unter {email}, gültig bis {time}.",
  "The link has been opened.": "Der Link wurde geöffnet.",
  "No application has an invitation flow. Set one in the settings of an application.": "Keine Anwendung hat einen Ablauf für Einladungen. Legen Sie bei einer Anwendung einen fest.",
};

export const french: Record<string, string> = {
  "Invitation": "Invitation",
  "Application": "Application",
  "Invite": "Inviter",
  "Send a new invitation": "Envoyer une nouvelle invitation",
  "Withdraw the invitation": "Retirer l’invitation",
  "The link in the mail will no longer work.": "Le lien dans l’e-mail ne fonctionnera plus.",
  "The invitation was sent to {email}.": "L’invitation a été envoyée à {email}.",
  "The invitation was withdrawn.": "L’invitation a été retirée.",
  "Invited to {app} at {email}, valid until {time}.": "Invité à {app} à l’adresse {email}, valable jusqu’au {time}.",
  "The link has been opened.": "Le lien a été ouvert.",
  "No application has an invitation flow. Set one in the settings of an application.": "Aucune application n’a de flux d’invitation. Définissez-en un dans les réglages d’une application.",
};
