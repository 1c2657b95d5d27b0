// The server, the client and the API of this page. The values fit `make run`.
export const issuer = "http://localhost:8090";
export const clientID = "EXAMPLE";
export const redirectURI = `${location.origin}/`; // the address of this page
export const postLogoutURI = redirectURI;
export const scope = "openid profile email";
export const apiURL = "http://localhost:8090/oauth2/userinfo"; // an API that allows the origin of this page (CORS)
export const resource = issuer; // the identifier of that API, for the audience of the access token
