// A client of the tool server that uses the published SDK. It knows
// only the address of /mcp and its credentials. Its one argument is a task as a JSON
// object, and it writes JSON lines: {"open": address} for an address that a
// user has to open in a browser, and at the end the result.
//
//   url       the address of /mcp
//   client    {"id", "secret", "issuer"}: client credentials; otherwise a user
//             signs in
//   token     an access token; no user signs in
//   sdk       v1 or v2; default: v2 for client credentials and v1 otherwise
//   known     the id of a registered client; otherwise the client registers
//             itself
//   versions  protocol versions to offer, each in a connection of its own
//   tools     whether to call all the tools
//   mistakes  a list of {"name", "arguments"}: calls that must fail
import { createServer } from "node:http";

const task = JSON.parse(process.argv[2]);
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

/** The SDK in its two lines of versions. */
const sdks = {
  async v1() {
    const [{ Client }, { StreamableHTTPClientTransport }, { UnauthorizedError }] = await Promise.all([
      import("@modelcontextprotocol/sdk/client/index.js"),
      import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
      import("@modelcontextprotocol/sdk/client/auth.js"),
    ]);
    return { Client, StreamableHTTPClientTransport, UnauthorizedError };
  },
  v2: () => import("@modelcontextprotocol/client"),
};

/** Signs a user in, and stores in memory what a real client stores on disk. */
async function signIn() {
  let arrived;
  const code = new Promise((resolve) => { arrived = resolve; });
  const listener = createServer((request, response) => {
    const query = new URL(request.url, "http://127.0.0.1").searchParams;
    response.end("<title>Back at the client</title>");
    if (query.has("code") || query.has("error")) arrived(query);
  });
  await new Promise((ready) => listener.listen(0, "127.0.0.1", ready));
  const redirectUrl = `http://127.0.0.1:${listener.address().port}/callback`;
  const kept = { client: task.known && { client_id: task.known } };
  const provider = {
    redirectUrl,
    clientMetadata: {
      client_name: "A client of the tools",
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    },
    state: () => "state-of-the-client",
    clientInformation: () => kept.client,
    saveClientInformation: (client) => { kept.client = client; },
    tokens: () => kept.tokens,
    saveTokens: (tokens) => { kept.tokens = tokens; },
    codeVerifier: () => kept.verifier,
    saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
    redirectToAuthorization: (url) => say({ open: url.href }),
  };
  return { provider, kept, code, close: () => { listener.close(); listener.closeAllConnections(); } };
}

/** Calls every tool, as for the set-up of an application. */
async function callAll(client) {
  const called = [];
  const call = async (name, args = {}) => {
    const answer = await client.callTool({ name, arguments: args });
    if (answer.isError) throw new Error(`${name}: ${answer.content[0].text}`);
    called.push(name);
    return answer.structuredContent;
  };
  await call("service_list_applications");
  await call("service_get_application_templates");
  const made = await call("service_create_application", {
    name: "Made by a tool",
    inboundAuthConfig: [{ type: "oauth2", config: { redirectUris: ["https://app.example.org/"], publicClient: true } }],
  });
  const application = await call("service_get_application_by_id", { id: made.id });
  await call("service_get_application_by_client_id", { client_id: made.clientId });
  await call("service_update_application", { ...application, description: "Changed by a tool" });
  await call("service_list_flows", { flow_type: "AUTHENTICATION", limit: 5 });
  const flow = await call("service_get_flow_by_handle", { handle: "sign-in", flow_type: "AUTHENTICATION" });
  const copy = await call("service_create_flow", { handle: "made-by-a-tool", name: "Made by a tool", flowType: flow.flowType, nodes: flow.nodes });
  await call("service_get_flow_by_id", { id: copy.id });
  await call("service_update_flow", { id: copy.id, name: "Changed by a tool", nodes: flow.nodes });
  await call("service_revoke_tokens", { of: "application", id: made.id });
  const react = await call("service_integrate_react_sdk");
  return { called, snippets: react.code_snippets.length };
}

/** Makes mistakes, and keeps what an assistant is shown of each. */
async function mistake(client) {
  const failures = [];
  for (const call of task.mistakes) {
    const answer = await client.callTool(call);
    failures.push({ name: call.name, isError: answer.isError === true, texts: answer.content.map((part) => part.text) });
  }
  return failures;
}

/** Connects as far as it is let, signs in where it is not, and connects. */
async function connect(sdk, options, authProvider, awaited) {
  const begin = () => {
    const client = new sdk.Client({ name: "e2e", version: "1" }, options);
    const admission = task.token ? { requestInit: { headers: { Authorization: `Bearer ${task.token}` } } } : { authProvider };
    const transport = new sdk.StreamableHTTPClientTransport(new URL(task.url), admission);
    return { client, transport };
  };
  const first = begin();
  try {
    await first.client.connect(first.transport);
    return first;
  } catch (error) {
    if (!awaited || !(error instanceof sdk.UnauthorizedError)) throw error;
  }
  const query = await awaited;
  if (query.has("error")) throw new Error(`${query.get("error")}: ${query.get("error_description")}`);
  if (query.get("state") !== "state-of-the-client") throw new Error(`the state came back as ${query.get("state")}`);
  await first.transport.finishAuth(query.get("code"));
  const second = begin();
  await second.client.connect(second.transport);
  return second;
}

async function run() {
  const sdk = await sdks[task.sdk ?? (task.client ? "v2" : "v1")]();
  const person = task.client || task.token ? null : await signIn();
  const provider = task.token ? undefined : person?.provider ?? new sdk.ClientCredentialsProvider({
    clientId: task.client.id, clientSecret: task.client.secret, expectedIssuer: task.client.issuer, scope: "system",
  });
  const seen = { versions: [] };
  for (const version of task.versions ?? [""]) {
    const modern = version >= "2026";
    const options = modern ? { versionNegotiation: { mode: { pin: version } } } : version ? { supportedProtocolVersions: [version] } : {};
    const { client, transport } = await connect(sdk, options, provider, person?.code);
    const { tools } = await client.listTools();
    seen.versions.push(modern ? version : transport.protocolVersion);
    seen.tools = tools.map((tool) => tool.name);
    if (task.mistakes) seen.failures = await mistake(client);
    if (task.tools) Object.assign(seen, await callAll(client));
    await client.close();
  }
  person?.close();
  say({ ...seen, registered: person?.kept.client?.client_id, scope: person?.kept.tokens?.scope });
}

await run();
