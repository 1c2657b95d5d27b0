// The code of each stack, from the files that `postern app create --stack` prints, too:
// internal/stacks. Its Go code and this file must agree; e2e compares them.
import stacks from "../../../../../internal/stacks/stacks.json";
import type { Client } from "./client";

/** Stack is an entry of stacks.json, which internal/stacks documents. */
export interface Stack {
  name: string;
  title: string;
  type: string;
  page?: string;
  redirect?: string;
  postLogout?: string;
  scopes?: string[];
  claims?: unknown[];
}

export interface SnippetFile {
  path: string;
  text: string;
}

const snippets = import.meta.glob<string>("../../../../../internal/stacks/snippets/*.txt", { query: "?raw", import: "default", eager: true });

const kinds: Record<string, Client["kind"]> = { web: "secret", spa: "public", native: "public", service: "machine", flow: "flow" };

/** stacksFor returns the stacks that an application can have. */
export function stacksFor(client: Client): Stack[] {
  return (stacks as Stack[]).filter(({ type }) => kinds[type] === client.kind);
}

/** snippetOf returns the code of a stack with the values of an application. */
export function snippetOf(stack: Stack, client: Client): SnippetFile[] {
  const text = Object.entries(snippets).find(([path]) => path.endsWith(`/${stack.name}.txt`))?.[1] ?? "";
  const values = valuesOf(stack, client);
  const filled = text.replace(/__([A-Z]+(?:_[A-Z]+)*)__/g, (placeholder, name: string) => values[name] === undefined ? placeholder : escape(values[name]));
  const parts = filled.split(/^-- (.+) --\n/m).slice(1); // path, text, path, text
  return parts.flatMap((path, i) => i % 2 === 0 ? [{ path, text: parts[i + 1] ?? "" }] : []);
}

/**
 * escape percent-encodes the characters with which a value could end a string of a language or start
 * an expression: anyone can choose the redirect URIs of self-registered clients.
 */
function escape(value: string): string {
  return value.replace(/[^A-Za-z0-9\-._~:/?@&()*+,;=%[\] ]/gu, (character) =>
    [...new TextEncoder().encode(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(""));
}

/** postLogoutURI returns the usual post-logout URI of an application with this redirect URI. */
export function postLogoutURI(stack: Stack, redirectURI: string): string {
  if (!stack.postLogout || stack.postLogout === "same") {
    return stack.postLogout ? redirectURI : "";
  }
  return URL.canParse(stack.postLogout, redirectURI) ? new URL(stack.postLogout, redirectURI).href : "";
}

function valuesOf(stack: Stack, client: Client): Record<string, string> {
  const redirectURI = client.redirectURIs[0] ?? stack.redirect ?? "";
  const signedOut = client.postLogoutURIs[0] ?? postLogoutURI(stack, redirectURI);
  const redirect = parse(redirectURI);
  return {
    ISSUER: client.issuer, APPLICATION_ID: client.applicationID, CLIENT_ID: client.clientID,
    SCOPES: client.scopes.join(" "), SCOPES_COMMAS: client.scopes.join(", "),
    REDIRECT_URI: redirectURI, REDIRECT_PATH: redirect?.pathname || "/", REDIRECT_SCHEME: redirect?.protocol.replace(":", "") ?? "",
    BASE_URL: redirect ? `${redirect.protocol}//${redirect.host}` : "", IS_HTTPS: String(redirect?.protocol === "https:"),
    PORT: port(stack, redirect),
    POST_LOGOUT_URI: signedOut, POST_LOGOUT_PATH: parse(signedOut)?.pathname || "/", POST_LOGOUT_URI_ENCODED: encodeURIComponent(signedOut),
  };
}

/** port returns that of a redirect URI on this machine, or the usual one behind a proxy. */
function port(stack: Stack, redirect: URL | undefined): string {
  const isLocal = redirect && ["localhost", "127.0.0.1", "[::1]"].includes(redirect.hostname);
  return (isLocal && redirect.port) || (parse(stack.redirect ?? "")?.port ?? "");
}

const parse = (uri: string) => URL.canParse(uri) ? new URL(uri) : undefined;
