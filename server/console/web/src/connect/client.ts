// What code needs to know about an application.
import type { Item } from "../nouns";

/** Client is an application as its code sees it. */
export interface Client {
  kind: "secret" | "public" | "machine" | "flow"; // flow: without an OAuth client
  issuer: string;
  applicationID: string;
  clientID: string;
  redirectURIs: string[];
  postLogoutURIs: string[];
  scopes: string[];
}

interface Config {
  clientId?: string;
  redirectUris?: string[];
  postLogoutRedirectUris?: string[];
  grantTypes?: string[];
  scopes?: string[];
  publicClient?: boolean;
  tokenEndpointAuthMethod?: string;
}

function kindOf(application: Item, config: Config): Client["kind"] {
  if (config.grantTypes?.includes("client_credentials") && !config.grantTypes.includes("authorization_code")) {
    return "machine";
  }
  const isPublic = config.publicClient ?? (config.tokenEndpointAuthMethod === "none" || application["type"] === "SPA" || application["type"] === "MOBILE");
  return isPublic ? "public" : "secret";
}

const configOf = (application: Item) => (application["inboundAuthConfig"] as { config?: Config }[] | undefined)?.[0]?.config;

/** withPostLogoutURI returns the change of an application that registers a post-logout URI. */
export function withPostLogoutURI(application: Item, uri: string): { inboundAuthConfig: { type: "oauth2"; config: Config }[] } {
  const config = configOf(application);
  return { inboundAuthConfig: [{ type: "oauth2", config: { ...config, postLogoutRedirectUris: [...(config?.postLogoutRedirectUris ?? []), uri] } }] };
}

/** hasSecret reports whether an application authenticates with a client secret. A public client does not, nor does one with a key. */
export function hasSecret(application: Item): boolean {
  const config = configOf(application);
  return config !== undefined && kindOf(application, config) !== "public" && config.tokenEndpointAuthMethod !== "private_key_jwt";
}

/** clientOf returns the client of an application that the API has returned. */
export function clientOf(application: Item, issuer: string): Client {
  const config = configOf(application);
  return {
    kind: config ? kindOf(application, config) : "flow",
    issuer,
    applicationID: application.id,
    clientID: config?.clientId ?? "",
    redirectURIs: config?.redirectUris ?? [],
    postLogoutURIs: config?.postLogoutRedirectUris ?? [],
    scopes: config?.scopes ?? ["openid", "profile", "email"],
  };
}
