// The texts of the console in each language. The English texts are the keys.

const german: Record<string, string> = {
  "Overview": "Übersicht", "Applications": "Anwendungen", "Users": "Benutzer", "User types": "Benutzertypen",
  "Organization units": "Organisationseinheiten", "Groups": "Gruppen", "Roles": "Rollen", "Resource servers": "Ressourcenserver",
  "Identity providers": "Identitätsanbieter", "Flows": "Abläufe", "Audit log": "Protokoll",
  "Sign out": "Abmelden", "Skip to content": "Zum Inhalt springen", "Main": "Hauptnavigation",
  "Create": "Anlegen", "Save": "Speichern", "Delete": "Löschen", "Cancel": "Abbrechen", "Reload": "Neu laden", "Try again": "Erneut versuchen",
  "Loading …": "Wird geladen …", "Nothing here yet.": "Noch nichts vorhanden.", "Nothing matches the filter.": "Nichts passt zum Filter.",
  "Filter by": "Filtern nach", "Value": "Wert", "Apply": "Anwenden", "Clear": "Zurücksetzen", "Next page": "Nächste Seite", "First page": "Erste Seite",
  "{n} in total": "{n} insgesamt", "Name": "Name", "Created": "Angelegt", "Changed": "Geändert",
  "Saved.": "Gespeichert.", "Deleted.": "Gelöscht.", "Created.": "Angelegt.",
  "Delete {name}? This cannot be undone.": "{name} löschen? Das lässt sich nicht rückgängig machen.",
  "Someone else has changed this in the meantime.": "Jemand anders hat dies inzwischen geändert.",
  "Your changes are kept. These members differ:": "Ihre Änderungen bleiben erhalten. Diese Angaben unterscheiden sich:",
  "Keep mine": "Meine behalten", "Take theirs": "Fremde übernehmen", "Yours": "Ihre Fassung", "Theirs": "Fremde Fassung",
  "The request failed": "Die Anfrage ist fehlgeschlagen", "Trace id": "Trace-ID",
  "Not a JSON value: {why}": "Kein JSON-Wert: {why}", "one per line": "ein Eintrag je Zeile", "required": "erforderlich", "Not set": "Nicht gesetzt", "Yes": "Ja", "No": "Nein",
  "All members as JSON": "Alle Angaben als JSON", "Form": "Formular", "Members": "Mitglieder",
  "Definition": "Definition", "Graph": "Graph", "Findings": "Befunde", "No findings: the flow is safe.": "Keine Befunde: Der Ablauf ist sicher.",
  "error": "Fehler", "warning": "Warnung", "line {n}": "Zeile {n}", "Versions": "Versionen", "Version {n}": "Version {n}", "active": "aktiv", "Restore": "Wiederherstellen",
  "New flow": "Neuer Ablauf", "Publish": "Veröffentlichen", "Checking …": "Wird geprüft …", "The flow cannot be saved until its errors are fixed.": "Der Ablauf kann erst gespeichert werden, wenn seine Fehler behoben sind.",
  "Weakest chains": "Schwächste Ketten", "When": "Wann", "Action": "Aktion", "Who": "Wer", "What": "Was", "From": "Von", "Details": "Einzelheiten", "Older events": "Ältere Ereignisse",
  "Rotate the client secret": "Client-Geheimnis ersetzen", "Copy it now: it is not shown again.": "Kopieren Sie es jetzt: Es wird nicht noch einmal angezeigt.",
  "Revoke all tokens": "Alle Tokens widerrufen", "Passkeys": "Passkeys", "Sessions": "Sitzungen", "End": "Beenden", "Second factors": "Zweite Faktoren", "Consents": "Einwilligungen", "Linked identities": "Verknüpfte Identitäten",
  "Your session has ended. Sign in again to go on.": "Ihre Sitzung ist beendet. Melden Sie sich wieder an, um fortzufahren.", "Sign in": "Anmelden",
  "The sign-in failed": "Die Anmeldung ist fehlgeschlagen", "There is no such page.": "Diese Seite gibt es nicht.", "Recent events": "Letzte Ereignisse", "Service": "Dienst", "Check": "Prüfen",
  "Protect your account with a passkey": "Schützen Sie Ihr Konto mit einem Passkey",
  "You signed in with a password, which others can guess or phish. With a passkey, sensitive changes are only possible shortly after you have used it.": "Sie haben sich mit einem Passwort angemeldet, das andere erraten oder abfangen können. Mit einem Passkey sind heikle Änderungen nur kurz nach dessen Gebrauch möglich.",
  "Add a passkey": "Passkey hinzufügen", "Later": "Später", "Your passkey is set up. Use it to sign in from now on.": "Ihr Passkey ist eingerichtet. Melden Sie sich von nun an damit an.",
  "This change needs a recent sign-in with your passkey. What you have entered is kept.": "Diese Änderung erfordert eine kürzliche Anmeldung mit Ihrem Passkey. Ihre Eingaben bleiben erhalten.",
};

const french: Record<string, string> = {
  "Overview": "Vue d’ensemble", "Applications": "Applications", "Users": "Utilisateurs", "User types": "Types d’utilisateur",
  "Organization units": "Unités d’organisation", "Groups": "Groupes", "Roles": "Rôles", "Resource servers": "Serveurs de ressources",
  "Identity providers": "Fournisseurs d’identité", "Flows": "Flux", "Audit log": "Journal d’audit",
  "Sign out": "Se déconnecter", "Skip to content": "Aller au contenu", "Main": "Navigation principale",
  "Create": "Créer", "Save": "Enregistrer", "Delete": "Supprimer", "Cancel": "Annuler", "Reload": "Recharger", "Try again": "Réessayer",
  "Loading …": "Chargement …", "Nothing here yet.": "Rien pour l’instant.", "Nothing matches the filter.": "Aucun résultat pour ce filtre.",
  "Filter by": "Filtrer par", "Value": "Valeur", "Apply": "Appliquer", "Clear": "Effacer", "Next page": "Page suivante", "First page": "Première page",
  "{n} in total": "{n} au total", "Name": "Nom", "Created": "Créé", "Changed": "Modifié",
  "Saved.": "Enregistré.", "Deleted.": "Supprimé.", "Created.": "Créé.",
  "Delete {name}? This cannot be undone.": "Supprimer {name} ? Cette action est irréversible.",
  "Someone else has changed this in the meantime.": "Quelqu’un d’autre l’a modifié entre-temps.",
  "Your changes are kept. These members differ:": "Vos modifications sont conservées. Ces champs diffèrent :",
  "Keep mine": "Garder les miennes", "Take theirs": "Prendre les autres", "Yours": "Votre version", "Theirs": "L’autre version",
  "The request failed": "La requête a échoué", "Trace id": "Identifiant de trace",
  "Not a JSON value: {why}": "Valeur JSON incorrecte : {why}", "one per line": "un par ligne", "required": "obligatoire", "Not set": "Non défini", "Yes": "Oui", "No": "Non",
  "All members as JSON": "Tous les champs en JSON", "Form": "Formulaire", "Members": "Membres",
  "Definition": "Définition", "Graph": "Graphe", "Findings": "Constats", "No findings: the flow is safe.": "Aucun constat : le flux est sûr.",
  "error": "erreur", "warning": "avertissement", "line {n}": "ligne {n}", "Versions": "Versions", "Version {n}": "Version {n}", "active": "active", "Restore": "Restaurer",
  "New flow": "Nouveau flux", "Publish": "Publier", "Checking …": "Vérification …", "The flow cannot be saved until its errors are fixed.": "Le flux ne peut être enregistré tant que ses erreurs ne sont pas corrigées.",
  "Weakest chains": "Chaînes les plus faibles", "When": "Quand", "Action": "Action", "Who": "Qui", "What": "Quoi", "From": "Depuis", "Details": "Détails", "Older events": "Événements plus anciens",
  "Rotate the client secret": "Remplacer le secret du client", "Copy it now: it is not shown again.": "Copiez-le maintenant : il ne sera plus affiché.",
  "Revoke all tokens": "Révoquer tous les jetons", "Passkeys": "Clés d’accès", "Sessions": "Sessions", "End": "Terminer", "Second factors": "Seconds facteurs", "Consents": "Consentements", "Linked identities": "Identités liées",
  "Your session has ended. Sign in again to go on.": "Votre session est terminée. Reconnectez-vous pour continuer.", "Sign in": "Se connecter",
  "The sign-in failed": "La connexion a échoué", "There is no such page.": "Cette page n’existe pas.", "Recent events": "Événements récents", "Service": "Service", "Check": "Vérifier",
  "Protect your account with a passkey": "Protégez votre compte avec une clé d’accès",
  "You signed in with a password, which others can guess or phish. With a passkey, sensitive changes are only possible shortly after you have used it.": "Vous vous êtes connecté avec un mot de passe, que d’autres peuvent deviner ou hameçonner. Avec une clé d’accès, les changements sensibles ne sont possibles que peu après son utilisation.",
  "Add a passkey": "Ajouter une clé d’accès", "Later": "Plus tard", "Your passkey is set up. Use it to sign in from now on.": "Votre clé d’accès est prête. Utilisez-la désormais pour vous connecter.",
  "This change needs a recent sign-in with your passkey. What you have entered is kept.": "Ce changement exige une connexion récente avec votre clé d’accès. Votre saisie est conservée.",
};

const languages: Record<string, Record<string, string>> = { de: german, fr: french };

/** language is the language of the console: the first of the browser's that it has. */
export const language = navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag === "en" || tag in languages) ?? "en";

/** t returns a text in the language of the console, with {name} replaced by values. */
export function t(text: string, values: Record<string, string | number> = {}): string {
  const translated = languages[language]?.[text] ?? text;
  return translated.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/** formatTime writes a time in the language and time zone of the browser. */
export function formatTime(time: string | undefined): string {
  return time ? new Date(time).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" }) : "";
}
