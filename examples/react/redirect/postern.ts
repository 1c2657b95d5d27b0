/** The address of Postern: its server.public_url, without a trailing slash. */
export const baseUrl = "http://localhost:8090";

/** The clientId of the application at Postern. It is public: there is no secret in a browser. */
export const clientId = "EXAMPLE_REACT";

/**
 * The requested scopes. profile and email put the name and the address into the
 * ID token; without them the app only gets an id.
 */
export const scopes = ["openid", "profile", "email"];

/** The redirect URI, and the address to which a sign-out returns. Register both to the letter. */
export const redirectUri = window.location.origin;
export const postLogoutUri = window.location.origin;
