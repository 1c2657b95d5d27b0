// Uses the language server as the extension does, with the library of VS Code for the protocol, and
// prints what happened as JSON: node test/server.mjs PATH-OF-POSTERN FOLDER
import { spawn } from "node:child_process";
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import * as lsp from "vscode-languageserver-protocol/node";

const [program, folder] = process.argv.slice(2);
const server = spawn(program, ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
const exited = new Promise((resolve) => server.on("exit", resolve));
const connection = lsp.createProtocolConnection(new lsp.StreamMessageReader(server.stdout), new lsp.StreamMessageWriter(server.stdin));

let waiting = () => {};
const published = new Map();
connection.onNotification(lsp.PublishDiagnosticsNotification.type, (p) => {
  published.set(`${p.uri} ${p.version}`, p.diagnostics);
  waiting();
});
connection.onRequest(lsp.RegistrationRequest.type, () => {});
async function findings(uri, version) {
  while (!published.has(`${uri} ${version}`)) await new Promise((resolve) => (waiting = resolve));
  return published.get(`${uri} ${version}`);
}
connection.listen();

const { capabilities, serverInfo } = await connection.sendRequest(lsp.InitializeRequest.type, {
  processId: process.pid,
  rootUri: pathToFileURL(folder).href,
  workspaceFolders: [{ uri: pathToFileURL(folder).href, name: "flows" }],
  initializationOptions: { graphCommand: "posternFlows.showGraph" },
  capabilities: { workspace: { didChangeWatchedFiles: { dynamicRegistration: true } } },
});
await connection.sendNotification(lsp.InitializedNotification.type, {});

const uri = pathToFileURL(join(folder, "door.flow.yaml")).href;
const textDocument = { uri };
const text = `handle: door
name: Door
flowType: AUTHENTICATION
nodes:
  - id: key
    use: passkey-authenticate
    next: {success: don, failure: key}
  - {id: done, use: authorization-code}
`;
await connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, { textDocument: { uri, languageId: "postern-flow", version: 1, text } });
const before = await findings(uri, 1);
const actions = await connection.sendRequest(lsp.CodeActionRequest.type, { textDocument, range: before[0].range, context: { diagnostics: before } });
const [edit] = actions[0].edit.changes[uri];
await connection.sendNotification(lsp.DidChangeTextDocumentNotification.type, {
  textDocument: { uri, version: 2 },
  contentChanges: [{ range: edit.range, text: edit.newText }],
});
const after = await findings(uri, 2);
const position = { line: 4, character: 9 };
const hover = await connection.sendRequest(lsp.HoverRequest.type, { textDocument, position });
const completion = await connection.sendRequest(lsp.CompletionRequest.type, { textDocument, position: { line: 5, character: 13 } });
const renamed = await connection.sendRequest(lsp.RenameRequest.type, { textDocument, position, newName: "passkey" });
const lenses = await connection.sendRequest(lsp.CodeLensRequest.type, { textDocument });
const graph = await connection.sendRequest(lsp.ExecuteCommandRequest.type, { command: "postern.graph", arguments: [uri] });
const formatted = await connection.sendRequest(lsp.DocumentFormattingRequest.type, { textDocument, options: { tabSize: 2, insertSpaces: true } });
await connection.sendRequest(lsp.ShutdownRequest.type);
await connection.sendNotification(lsp.ExitNotification.type);

console.log(JSON.stringify({
  name: serverInfo.name,
  encoding: capabilities.positionEncoding,
  before: before.map((d) => d.code),
  after: after.map((d) => d.code),
  hover: hover.contents.value,
  kinds: completion.items.map((i) => i.label),
  renames: renamed.changes[uri].length,
  lens: lenses[0].command.command,
  proven: graph.proven,
  drawn: graph.svg.includes('data-node="key"'),
  formatted: formatted.length,
  code: await exited,
}));
