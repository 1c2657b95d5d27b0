// The extension starts `postern lsp` and shows the graph of a flow next to its text.
import * as vscode from "vscode";
import { LanguageClient, State, type LanguageClientOptions, type ServerOptions } from "vscode-languageclient/node";
import { GraphPanel } from "./panel";

const language = "postern-flow";
const showGraph = "posternFlows.showGraph";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const panel = new GraphPanel(context.extensionUri, (uri) => graphOf(uri));
  context.subscriptions.push(
    panel,
    vscode.commands.registerCommand(showGraph, (uri?: string) => panel.show(uri ? vscode.Uri.parse(uri) : activeFlow())),
    vscode.commands.registerCommand("posternFlows.restart", restart),
    vscode.workspace.onDidChangeConfiguration((e) => {
      if (e.affectsConfiguration("posternFlows.path")) void restart();
    }),
  );
  await restart();
}

export async function deactivate(): Promise<void> {
  await client?.dispose();
}

function activeFlow(): vscode.Uri | undefined {
  const document = vscode.window.activeTextEditor?.document;
  return document?.languageId === language ? document.uri : undefined;
}

async function restart(): Promise<void> {
  await client?.dispose();
  const command = vscode.workspace.getConfiguration("posternFlows").get<string>("path") || "postern";
  const server: ServerOptions = { command, args: ["lsp"] };
  const options: LanguageClientOptions = {
    documentSelector: [{ language }],
    initializationOptions: { graphCommand: showGraph },
  };
  client = new LanguageClient("posternFlows", "Postern flows", server, options);
  try {
    await client.start();
  } catch (error) {
    const choice = await vscode.window.showErrorMessage(
      `Postern flows: "${command} lsp" does not start: ${String(error)}. Install postern, or set its path.`,
      "Open settings",
    );
    if (choice) await vscode.commands.executeCommand("workbench.action.openSettings", "posternFlows.path");
  }
}

/** The result of the command postern.graph of the server. */
export interface Graph {
  svg: string;
  proven: boolean;
  nodes: { id: string; kind: string; range: { start: { line: number; character: number }; end: { line: number; character: number } } }[];
}

async function graphOf(uri: vscode.Uri): Promise<Graph> {
  if (client?.state !== State.Running) throw new Error("the language server does not run");
  return client.sendRequest("workspace/executeCommand", { command: "postern.graph", arguments: [client.code2ProtocolConverter.asUri(uri)] });
}
