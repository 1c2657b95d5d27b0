// A page without a server and without libraries that signs users in with Postern (authorization code
// with PKCE).
import { apiURL, clientID, issuer, postLogoutURI, redirectURI, resource, scope } from "./config.js";

const given = new URLSearchParams(location.search);

const base64url = (bytes) => btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));
const sha256 = async (text) => base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));

/** metadata returns the endpoints of the issuer. */
async function metadata() {
  const reply = await fetch(`${issuer}/.well-known/openid-configuration`, { signal: AbortSignal.timeout(10_000) });
  const found = await reply.json();
  if (found.issuer !== issuer) {
    throw new Error(`the issuer is ${found.issuer}, expected ${issuer}`);
  }
  return found;
}

async function signIn() {
  const pending = { state: random(), nonce: random(), verifier: random() };
  sessionStorage.setItem("pending", JSON.stringify(pending));
  const { authorization_endpoint } = await metadata();
  location.assign(`${authorization_endpoint}?${new URLSearchParams({
    response_type: "code", client_id: clientID, redirect_uri: redirectURI, scope,
    ...(resource && { resource }),
    state: pending.state, nonce: pending.nonce, code_challenge: await sha256(pending.verifier), code_challenge_method: "S256",
  })}`);
}

/** finish exchanges the code in the address of the page. */
async function finish() {
  const pending = JSON.parse(sessionStorage.getItem("pending") ?? "{}");
  sessionStorage.removeItem("pending");
  history.replaceState(null, "", redirectURI); // a reload must not send the code again
  if (!pending.state || given.get("state") !== pending.state || given.get("iss") !== issuer) {
    throw new Error("this page did not start this sign-in");
  }
  if (given.has("error")) {
    throw new Error(given.get("error_description") ?? given.get("error"));
  }
  const tokens = await requestTokens({ grant_type: "authorization_code", code: given.get("code"), redirect_uri: redirectURI, code_verifier: pending.verifier });
  if (claims(tokens.id_token).nonce !== pending.nonce) {
    throw new Error("the ID token is not for this sign-in");
  }
}

/** requestTokens stores the tokens that the token endpoint returns. Refresh tokens are for one use. */
async function requestTokens(form) {
  const { token_endpoint } = await metadata();
  const reply = await fetch(token_endpoint, { method: "POST", credentials: "omit", signal: AbortSignal.timeout(10_000),
    body: new URLSearchParams({ client_id: clientID, ...form }) });
  const body = await reply.json();
  if (!reply.ok) {
    sessionStorage.removeItem("tokens");
    throw new Error(body.error_description ?? body.error);
  }
  const tokens = { ...stored(), ...body, expires: Date.now() + body.expires_in * 1000 };
  sessionStorage.setItem("tokens", JSON.stringify(tokens));
  return tokens;
}

const stored = () => JSON.parse(sessionStorage.getItem("tokens") ?? "null");

/** claims decodes an ID token. It came from the token endpoint, so its signature needs no check. */
function claims(token) {
  const bytes = Uint8Array.from(atob(token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
}

async function callAPI() {
  let tokens = stored();
  if (Date.now() > tokens.expires - 10_000) {
    tokens = await requestTokens({ grant_type: "refresh_token", refresh_token: tokens.refresh_token });
  }
  const reply = await fetch(apiURL, { headers: { Authorization: `Bearer ${tokens.access_token}` }, credentials: "omit", signal: AbortSignal.timeout(10_000) });
  document.getElementById("reply").textContent = JSON.stringify(await reply.json());
}

async function signOut() {
  const { id_token } = stored();
  sessionStorage.removeItem("tokens");
  const { end_session_endpoint } = await metadata();
  location.assign(`${end_session_endpoint}?${new URLSearchParams({ client_id: clientID, id_token_hint: id_token, post_logout_redirect_uri: postLogoutURI })}`);
}

/** show displays the button that fits, and what the ID token says about the user. */
function show() {
  const tokens = stored();
  const user = tokens && claims(tokens.id_token);
  document.getElementById("user").textContent = user ? user.name ?? user.preferred_username ?? user.sub : "";
  document.getElementById("signed-in").hidden = !user;
  document.getElementById("sign-in").hidden = Boolean(user);
}

/** attempt runs a step, and shows why it failed. */
async function attempt(step) {
  try {
    await step();
    document.getElementById("alert").textContent = "";
  } catch (error) {
    document.getElementById("alert").textContent = error.message;
  }
  show();
}

for (const [id, step] of Object.entries({ "sign-in": signIn, "api": callAPI, "sign-out": signOut })) {
  document.getElementById(id).addEventListener("click", () => attempt(step));
}
await attempt(given.has("state") ? finish : async () => {});
