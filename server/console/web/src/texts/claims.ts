// The texts about the claims of applications. The English texts are the keys.

export const german: Record<string, string> = {
  "Claims": "Claims", "What the application learns": "Was die Anwendung erfährt",
  "What the application would learn now about a user, and why. Nothing is sent to the application.": "Was die Anwendung jetzt über einen Benutzer erfahren würde, und warum. An die Anwendung wird nichts gesendet.",
  "Separated by spaces. Empty: all that the application may request.": "Durch Leerzeichen getrennt. Leer: alle, die die Anwendung anfordern darf.",
  "Show the claims of {name}": "Claims von {name} anzeigen",
  "{name}, with the scopes {scopes}": "{name}, mit den Scopes {scopes}",
  "ID token": "ID-Token",
  "Userinfo": "Userinfo",
  "Access token": "Access-Token",
  "Introspection": "Introspection",
  "Assertion": "Assertion",
  "Claim": "Claim",
  "Declared by": "Deklariert von",
  "Why": "Warum",
  "In: {documents}.": "In: {documents}.",
  "Not released.": "Nicht freigegeben.",
  "Users can set it:": "Benutzer können ihn setzen:",
};

export const french: Record<string, string> = {
  "Claims": "Claims", "What the application learns": "Ce que l'application apprend",
  "What the application would learn now about a user, and why. Nothing is sent to the application.": "Ce que l’application apprendrait maintenant sur un utilisateur, et pourquoi. Rien n’est envoyé à l’application.",
  "Separated by spaces. Empty: all that the application may request.": "Séparés par des espaces. Vide : tous ceux que l’application peut demander.",
  "Show the claims of {name}": "Afficher les claims de {name}",
  "{name}, with the scopes {scopes}": "{name}, avec les scopes {scopes}",
  "ID token": "Jeton d’identité",
  "Userinfo": "Userinfo",
  "Access token": "Jeton d’accès",
  "Introspection": "Introspection",
  "Assertion": "Assertion",
  "Claim": "Claim",
  "Declared by": "Déclaré par",
  "Why": "Pourquoi",
  "In: {documents}.": "Dans : {documents}.",
  "Not released.": "Non communiqué.",
  "Users can set it:": "Les utilisateurs peuvent le définir :",
};
