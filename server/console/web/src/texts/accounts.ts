// The texts about the signed-in user, permissions and the parts of an account. The English texts are the keys.

export const german: Record<string, string> = {
  "Your account": "Ihr Konto",
  "Your account: {name}": "Ihr Konto: {name}",
  "Your account has no permissions here": "Ihr Konto hat hier keine Berechtigungen",
  "You are signed in as {name}.": "Sie sind als {name} angemeldet.",
  "The console is for administrators. Ask an administrator for a role, and sign in again afterwards.": "Die Konsole ist für die Administration. Bitten Sie die Administration um eine Rolle, und melden Sie sich danach neu an.",
  "To change your account, you must have signed in within the last {n} minutes.": "Um Ihr Konto zu ändern, müssen Sie sich in den letzten {n} Minuten angemeldet haben.",
  "This change ({name}) affects administrators of this service. For that, you must have signed in with your passkey within the last {n} minutes.": "Diese Änderung ({name}) betrifft die Administration dieses Dienstes. Dafür müssen Sie sich in den letzten {n} Minuten mit Ihrem Passkey angemeldet haben.",
  "Sign in again. What you have entered is kept.": "Melden Sie sich neu an. Ihre Eingaben bleiben erhalten.",
  "needs a recent sign-in with your passkey": "erfordert eine kürzliche Anmeldung mit Ihrem Passkey",
  "You are signed in. Press the button again to make the change.": "Sie sind angemeldet. Drücken Sie den Knopf noch einmal, um die Änderung auszuführen.",
};

export const french: Record<string, string> = {
  "Your account": "Votre compte",
  "Your account: {name}": "Votre compte : {name}",
  "Your account has no permissions here": "Votre compte n’a aucune permission ici",
  "You are signed in as {name}.": "Vous êtes connecté en tant que {name}.",
  "The console is for administrators. Ask an administrator for a role, and sign in again afterwards.": "La console est réservée à l’administration. Demandez un rôle à l’administration, puis reconnectez-vous.",
  "To change your account, you must have signed in within the last {n} minutes.": "Pour modifier votre compte, vous devez vous être connecté dans les {n} dernières minutes.",
  "This change ({name}) affects administrators of this service. For that, you must have signed in with your passkey within the last {n} minutes.": "Ce changement ({name}) concerne les administrateurs de ce service. Pour cela, vous devez vous être connecté avec votre clé d’accès dans les {n} dernières minutes.",
  "Sign in again. What you have entered is kept.": "Reconnectez-vous. Votre saisie est conservée.",
  "needs a recent sign-in with your passkey": "exige une connexion récente avec votre clé d’accès",
  "You are signed in. Press the button again to make the change.": "Vous êtes connecté. Appuyez de nouveau sur le bouton pour faire le changement.",
};
