// The texts about the signed-in user, permissions and the parts of an account. The English texts are the keys.

export const german: Record<string, string> = {
  "Your account": "Ihr Konto",
  "Your account: {name}": "Ihr Konto: {name}",
  "Your account has no permissions here": "Ihr Konto hat hier keine Berechtigungen",
  "You are signed in as {name}.": "Sie sind als {name} angemeldet.",
  "The console is for administrators. Ask an administrator for a role, and sign in again afterwards.": "Die Konsole ist für die Administration. Bitten Sie die Administration um eine Rolle, und melden Sie sich danach neu an.",
};

export const french: Record<string, string> = {
  "Your account": "Votre compte",
  "Your account: {name}": "Votre compte : {name}",
  "Your account has no permissions here": "Votre compte n’a aucune permission ici",
  "You are signed in as {name}.": "Vous êtes connecté en tant que {name}.",
  "The console is for administrators. Ask an administrator for a role, and sign in again afterwards.": "La console est réservée à l’administration. Demandez un rôle à l’administration, puis reconnectez-vous.",
};
