// A client generated from the OpenAPI description signs in and manages an application. It prints
// what it did as one line of JSON.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

const [base, applicationId, username, password] = process.argv.slice(2) as [string, string, string, string];
const api = createClient<paths>({ baseUrl: base });

/** must returns the data of a reply, or throws its error. */
function must<T>(what: string, reply: { data?: T; error?: unknown; response: Response }): T {
  if (reply.data === undefined) {
    throw new Error(`${what}: ${reply.response.status} ${JSON.stringify(reply.error)}`);
  }
  return reply.data;
}

type Step = components["schemas"]["Step"];

async function answer(step: Step, action: string, inputs: Record<string, string>): Promise<Step> {
  const body = { executionId: step.executionId, challengeToken: step.challengeToken, action, inputs };
  return must(action, await api.POST("/flow/execute", { body }));
}

async function signIn(): Promise<string> {
  let step = must("start", await api.POST("/flow/execute", { body: { applicationId, flowType: "AUTHENTICATION" } }));
  step = await answer(step, "password", {});
  step = await answer(step, "continue", { username, password });
  if (step.flowStatus !== "COMPLETE" || step.assertion === undefined) {
    throw new Error(`the sign-in is ${step.flowStatus}: ${JSON.stringify(step.error)}`);
  }
  return step.assertion;
}

const assertion = await signIn();
api.use({
  onRequest({ request }) {
    request.headers.set("Authorization", `Bearer ${assertion}`);
    return request;
  },
});

const me = must("me", await api.GET("/users/me"));
const body: components["schemas"]["ApplicationRequest"] = {
  name: "Generated",
  inboundAuthConfig: [{ type: "oauth2", config: { redirectUris: ["https://shop.example/callback"], grantTypes: ["authorization_code"] } }],
};
const created = must("create", await api.POST("/applications", { body }));
const path = { id: created.id as string };
const patched = must("patch", await api.PATCH("/applications/{id}", {
  params: { path },
  body: { description: "changed" },
  headers: { "Content-Type": "application/merge-patch+json" },
}));
const listed = must("list", await api.GET("/applications", { params: { query: { filter: 'name eq "Generated"', limit: 5 } } }));
const secret = must("secret", await api.POST("/applications/{id}/client-secret", { params: { path } }));
const removed = await api.DELETE("/applications/{id}", { params: { path } });
const missing = await api.GET("/applications/{id}", { params: { path } });

console.log(JSON.stringify({
  username: (me.attributes as Record<string, unknown>)["username"],
  description: patched.description,
  listed: listed.applications.map((a) => a.name),
  hasSecret: secret.clientSecret.length > 0,
  removed: removed.response.status,
  missing: missing.error?.code,
}));
