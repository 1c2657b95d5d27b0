/** Where Postern answers: its server.public_url, without a slash at the end. */
export const baseUrl = "https://localhost:8090";

/** The clientId of the application at Postern. It is public: there is no secret in a browser. */
export const clientId = "YOUR_CLIENT_ID";

/**
 * The scopes to ask for. profile and email put the name and the address into the
 * ID token; without them the app learns an id alone.
 */
export const scopes = ["openid", "profile", "email"];
