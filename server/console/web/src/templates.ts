// Templates of applications: what each kind of application needs from the server.
import type { components } from "./description";

export type ApplicationRequest = components["schemas"]["ApplicationRequest"];

/** Asked is a list of text that a template needs, one item per line. */
export interface Asked {
  label: string;
  help: string;
  example: string;
  required: boolean;
}

export interface Template {
  key: string;
  title: string;
  description: string;
  asks: Asked | undefined;
  request: (name: string, answers: string[]) => ApplicationRequest;
}

const scopes = ["openid", "profile", "email"];

const redirectURIs = (example: string): Asked => ({
  label: "Redirect URIs", help: "Where users return after they have signed in. Your library has a default, see its documentation.", example, required: true,
});

/** signingIn returns the request for an application that users sign in to with the authorization code flow and PKCE. */
function signingIn(type: "SERVER" | "SPA" | "MOBILE", isPublic: boolean): Template["request"] {
  return (name, redirectUris) => ({
    name, type,
    inboundAuthConfig: [{
      type: "oauth2",
      config: {
        grantTypes: ["authorization_code", "refresh_token"], redirectUris, scopes, pkceRequired: true,
        ...(isPublic && { publicClient: true, tokenEndpointAuthMethod: "none" as const }),
      },
    }],
  });
}

export const templates: Template[] = [
  {
    key: "web", title: "Web application with a server", description: "The server of the application keeps a client secret. Express, Next.js, Django, Spring Boot, ASP.NET Core, PHP and others.",
    asks: redirectURIs("https://app.example.com/callback"), request: signingIn("SERVER", false),
  },
  {
    key: "spa", title: "Single-page application", description: "The application runs in the browser, without a secret. React, Vue, Angular and others.",
    asks: redirectURIs("https://app.example.com/"), request: signingIn("SPA", true),
  },
  {
    key: "native", title: "Mobile or desktop application", description: "The application is installed on a device and has no secret.",
    asks: redirectURIs("com.example.app:/callback"), request: signingIn("MOBILE", true),
  },
  {
    key: "cli", title: "Command-line program", description: "The program opens the browser and receives the answer on a port of this computer.",
    asks: undefined, request: (name) => signingIn("MOBILE", true)(name, ["http://127.0.0.1/callback"]),
  },
  {
    key: "machine", title: "Service without users", description: "The service gets tokens for itself with its client secret.",
    asks: { label: "Scopes", help: "The permissions of the service, as defined by resource servers.", example: "system:users:read", required: false },
    request: (name, asked) => ({
      name, type: "M2M", inboundAuthConfig: [{ type: "oauth2", config: { grantTypes: ["client_credentials"], ...(asked.length > 0 && { scopes: asked }) } }],
    }),
  },
  {
    key: "api", title: "Sign-in pages of your own", description: "The application shows the pages itself and calls POST /flow/execute.",
    asks: { label: "Origins of your pages", help: "Pages of these origins may call the server and use passkeys.", example: "https://app.example.com", required: false },
    request: (name, origins) => ({ name, type: "SPA", ...(origins.length > 0 && { passkeyAllowedOrigins: origins }) }),
  },
];
