// The sign-in of the console: authorization code with PKCE (RFC 7636). Tokens are kept in memory
// only; the session of the browser at the server makes a new sign-in quick.
import { dropAllDrafts, keepDraft } from "./draft";
import { dropAllScenarios } from "./flows/scenariostore";
import { forgetRecent } from "./recent";
import { request } from "./request";

const base = new URL(".", document.baseURI);

/** serverURL is the base address of the API. */
export const serverURL = new URL("..", base).href.replace(/\/$/, "");

const redirectURI = `${serverURL}/console`;
const clientID = "CONSOLE";
const pending = "postern.console.sign-in"; // PKCE verifier, state and the page to return to

let accessToken = "";
let idToken = "";
let granted: string[] = [];
let isUnfinished = false; // the user signed in for a change that no page repeats by itself
let refused: Action | undefined; // the newest action that the server refused until the user signs in again
let repetition: Action | undefined; // the action for which the user signed in, until a page takes it
let isRepeated = false; // the user signed in for a change that a page repeats by itself, and has not yet

export class SignInError extends Error {}

/** Action is something that a page can do, with arguments that have no secrets. */
interface Action {
  key: string;
  args: unknown;
  subject?: string; // the user who wanted it
}

function randomText(): string {
  return encode(crypto.getRandomValues(new Uint8Array(32)));
}

function encode(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function challengeOf(verifier: string): Promise<string> {
  return encode(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))));
}

/** authorizationURL is the address of an authorization request whose answer the console cannot redeem: state and PKCE verifier are forgotten. */
export async function authorizationURL(client: string, redirect: string, scope: string, more: Record<string, string>): Promise<string> {
  const query = new URLSearchParams({
    client_id: client, redirect_uri: redirect, response_type: "code", scope,
    state: randomText(), nonce: randomText(), code_challenge: await challengeOf(randomText()), code_challenge_method: "S256", ...more,
  });
  return `${serverURL}/oauth2/authorize?${query}`;
}

/** startSignIn leaves the console for the sign-in page; more are parameters of the request, and isForChange that the server refused a change. */
export async function startSignIn(more: Record<string, string> = {}, isForChange = false): Promise<never> {
  const isRepeated = keepDraft();
  const action = isForChange && !isRepeated && refused ? { ...refused, subject: subject() } : undefined;
  const isUnfinished = !isRepeated && isForChange && !action;
  const verifier = randomText();
  const state = randomText();
  sessionStorage.setItem(pending, JSON.stringify({ verifier, state, page: location.pathname + location.search, isUnfinished, isRepeated, action }));
  const query = new URLSearchParams({
    client_id: clientID, redirect_uri: redirectURI, response_type: "code", scope: "openid profile system",
    state, code_challenge: await challengeOf(verifier), code_challenge_method: "S256", ...more,
  });
  location.assign(`${serverURL}/oauth2/authorize?${query}`);
  return new Promise(() => {}); // the page goes away
}

/** finishSignIn handles the redirect back. It returns the page to show, or null if the address has no answer. */
async function finishSignIn(): Promise<string | null> {
  const answer = new URLSearchParams(location.search);
  if (!answer.has("state") || (!answer.has("code") && !answer.has("error"))) {
    return null;
  }
  const started = JSON.parse(sessionStorage.getItem(pending) ?? "{}") as { verifier?: string; state?: string; page?: string; isUnfinished?: boolean; isRepeated?: boolean; action?: Action };
  sessionStorage.removeItem(pending);
  if (!started.verifier || answer.get("state") !== started.state) {
    return null; // an old address, or not ours: sign in again
  }
  if (answer.has("error")) {
    throw new SignInError(answer.get("error_description") ?? answer.get("error") ?? "");
  }
  const reply = await request(`${serverURL}/oauth2/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code", client_id: clientID, redirect_uri: redirectURI,
      code: answer.get("code") ?? "", code_verifier: started.verifier,
    }),
  });
  const body = (await reply.json().catch(() => ({}))) as { access_token?: string; id_token?: string; scope?: string; error_description?: string };
  if (!reply.ok || !body.access_token) {
    throw new SignInError(body.error_description ?? `HTTP ${reply.status}`);
  }
  accessToken = body.access_token;
  idToken = body.id_token ?? "";
  granted = (body.scope ?? "").split(" ");
  isUnfinished = started.isUnfinished ?? false;
  isRepeated = started.isRepeated ?? false;
  repetition = started.action;
  return started.page ?? "/console";
}

/** signIn returns once there is a token, and shows the page that was asked for. */
export async function signIn(): Promise<void> {
  const page = await finishSignIn();
  if (page === null) {
    await startSignIn();
    return;
  }
  history.replaceState(null, "", page);
}

export function token(): string {
  return accessToken;
}

/** may reports whether the signed-in user has the permission, or one that includes it. The server decides; the console only leaves out what it would refuse. */
export function may(permission: string): boolean {
  return granted.some((scope) => permission === scope || permission.startsWith(`${scope}:`));
}

/** hasUnfinishedChange reports whether the user signed in because the server refused a change, and must press the button again. */
export function hasUnfinishedChange(): boolean {
  return isUnfinished;
}

/** takeRepetition reports once whether the sign-in that just ended was for the refused change of the shown page. After a sign-in that the user gave up, the draft is still there, but a later visit must not make the change. */
export function takeRepetition(): boolean {
  const was = isRepeated;
  isRepeated = false;
  return was;
}

/** noteRefusal keeps an action that the server refuses until the user signs in again, in place of the one before. */
export function noteRefusal(action: Action | undefined): void {
  refused = action;
}

/** takeAction returns an action of the page once, if the sign-in that just ended was for it and its user signed in. */
export function takeAction(key: string): Action | undefined {
  const taken = repetition?.key === key && repetition.subject === subject() ? repetition : undefined;
  if (taken) {
    repetition = undefined;
  }
  return taken;
}

/** dropAction forgets the action for which the user signed in: the user has gone to another page. */
export function dropAction(): void {
  repetition = refused = undefined;
}

/** subject returns the id of the signed-in user, from the ID token (OpenID Connect Core §2); "" if it has none. The token came from the server itself, so its signature is not checked (§3.1.3.7). */
export function subject(): string {
  const payload = idToken.split(".")[1];
  return payload ? String((JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/"))) as { sub?: string }).sub ?? "") : "";
}

/** hasPermissions reports whether the signed-in user has any permission of the API. Without one, the token is not even for the API (RFC 8707). */
export function hasPermissions(): boolean {
  return granted.some((scope) => scope === "system" || scope.startsWith("system:"));
}

/** applicationID is the id of the console in every store. */
const applicationID = "01900000-0000-7000-8000-000000000001";

/** accountURL is the page where users manage their own account. It links back here. */
export const accountURL = `${serverURL}/gate/account?from=${applicationID}`;

/** signOut ends the session of the browser, and removes what the tab keeps of the user's work. */
export function signOut(): void {
  const query = new URLSearchParams({ client_id: clientID });
  if (idToken) {
    query.set("id_token_hint", idToken);
  }
  accessToken = idToken = "";
  dropAllScenarios();
  dropAllDrafts();
  forgetRecent();
  location.assign(`${serverURL}/oauth2/logout?${query}`);
}
