// The client of the API, generated from its OpenAPI description.
import createClient from "openapi-fetch";
import type { components, paths } from "./description";
import { prepare, type SpecialField } from "./fields";
import { request } from "./request";
import { serverURL, token } from "./session";
import { language } from "./texts";

export type Failure = components["schemas"]["Error"];
export type Finding = components["schemas"]["Finding"];
export type AuditEvent = components["schemas"]["AuditEvent"];

export const api = createClient<paths>({ baseUrl: serverURL, fetch: request });

api.use({
  onRequest({ request }) {
    request.headers.set("Authorization", `Bearer ${token()}`);
    return request;
  },
});

/** RequestError is a failed request. Its failure is undefined if the reply is not from the API but, for example, from a proxy. */
export class RequestError extends Error {
  readonly status: number;
  readonly failure: Failure | undefined;
  readonly permission: string; // that the user lacks, or ""
  readonly proof: { class: string; maxAge: number } | undefined; // the sign-in that the change needs (RFC 9470 §3); the class may be "", and the age is in seconds

  constructor(reply: Response, body: unknown) {
    const failure = typeof body === "object" && body !== null && "description" in body ? body as Failure : undefined;
    super(failure?.description.defaultValue ?? `HTTP ${reply.status}`);
    this.status = reply.status;
    this.failure = failure;
    const challenge = reply.headers.get("WWW-Authenticate") ?? "";
    const maxAge = failure?.code === "insufficient_user_authentication" ? /max_age=(\d+)/.exec(challenge)?.[1] ?? "0" : undefined;
    this.proof = maxAge === undefined ? undefined : { class: /acr_values="([^"]+)"/.exec(challenge)?.[1] ?? "", maxAge: Number(maxAge) };
    this.permission = reply.status === 403 ? /scope="([^"]+)"/.exec(challenge)?.[1] ?? "" : "";
  }
}

/** isForbidden reports whether a request failed for lack of a permission: changes and filters cannot help then. */
export const isForbidden = (error: unknown) => error instanceof RequestError && error.status === 403;

/** send calls the API where the path is only known at run time. */
export async function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<{ data: unknown; etag: string }> {
  const options: RequestInit = { method, headers: { Authorization: `Bearer ${token()}`, Accept: "application/json", ...headers } };
  if (body !== undefined) {
    options.body = typeof body === "string" ? body : JSON.stringify(body);
    options.headers = { "Content-Type": "application/json", ...options.headers };
  }
  const reply = await request(serverURL + path, options);
  const text = await reply.text();
  const data: unknown = text && reply.headers.get("Content-Type")?.startsWith("application/json") ? JSON.parse(text) : text;
  if (!reply.ok) {
    throw new RequestError(reply, data);
  }
  return { data, etag: reply.headers.get("ETag") ?? "" };
}

/** must returns the data of a reply of the generated client, or throws its error. */
export function must<T>(reply: { data?: T; error?: unknown; response: Response }): T {
  if (reply.data === undefined) {
    throw new RequestError(reply.response, reply.error);
  }
  return reply.data;
}

/** Schema is a JSON Schema, as far as forms use it. */
export interface Schema {
  $ref?: string;
  allOf?: Schema[];
  type?: string | string[];
  title?: string;
  description?: string;
  enum?: string[];
  default?: unknown;
  format?: string;
  pattern?: string;
  field?: SpecialField;
  $defs?: Record<string, Schema>;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  readOnly?: boolean;
  writeOnly?: boolean;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  additionalProperties?: boolean | Schema;
  "x-credential"?: boolean;
  "x-labels"?: Record<string, string>; // words for the values of an enum
  "x-unit"?: string; // "seconds" for a duration
  "x-group"?: string; // the group and section of the noun's form, such as protocol/redirects
  "x-order"?: number;
  "x-hidden"?: boolean;
  "x-groups"?: { name: string; title: string; description?: string; sections?: { name: string; title: string; description?: string }[] }[];
}

let description: Promise<{ components: { schemas: Record<string, Schema> } }> | undefined;

async function readDescription(): Promise<{ components: { schemas: Record<string, Schema> } }> {
  const reply = await request(`${serverURL}/openapi.json`);
  const data: unknown = await reply.json().catch(() => undefined);
  if (!reply.ok || data === undefined) {
    throw new RequestError(reply, data);
  }
  return data as never;
}

/** schemaTexts are the texts of the schemas in other languages than English. */
const schemaTexts: Record<string, () => Promise<{ default: Record<string, string> }>> = {
  de: () => import("../../../../schemas/texts/de.json"),
  fr: () => import("../../../../schemas/texts/fr.json"),
};

/** schemaOf returns the schema with the name from the description of the API, without references. */
export async function schemaOf(name: string): Promise<Schema> {
  description ??= readDescription();
  const texts = (await schemaTexts[language]?.())?.default;
  const { components } = await description.catch((error: unknown) => {
    description = undefined; // the next form reads it again
    throw error;
  });
  return prepare(components.schemas[name] ?? {}, (other) => components.schemas[other], name, texts);
}
