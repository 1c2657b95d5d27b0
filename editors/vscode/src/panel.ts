// The panel with the graph of a flow. It follows the text and the cursor, and moves the cursor.
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import type { Graph } from "./extension";

const delay = 250; // milliseconds without a change before the graph is drawn again
const nextColumn: vscode.ViewColumn = -2; // next to the active one

export class GraphPanel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private uri: vscode.Uri | undefined;
  private graph: Graph | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly listeners: vscode.Disposable[];

  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly graphOf: (uri: vscode.Uri) => Promise<Graph>,
  ) {
    this.listeners = [
      vscode.workspace.onDidChangeTextDocument((e) => this.refreshSoon(e.document)),
      vscode.window.onDidChangeTextEditorSelection((e) => this.markNode(e.textEditor)),
      vscode.window.onDidChangeActiveTextEditor((editor) => {
        if (editor?.document.languageId === "postern-flow") this.follow(editor);
      }),
    ];
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.panel?.dispose();
    for (const l of this.listeners) l.dispose();
  }

  async show(uri: vscode.Uri | undefined): Promise<void> {
    if (!uri) {
      void vscode.window.showInformationMessage("Open a flow to see its graph.");
      return;
    }
    this.uri = uri;
    if (!this.panel) {
      const resources = vscode.Uri.joinPath(this.extensionUri, "dist");
      this.panel = vscode.window.createWebviewPanel("posternFlows.graph", "Graph", { viewColumn: nextColumn, preserveFocus: true }, {
        enableScripts: true,
        localResourceRoots: [resources],
      });
      this.panel.onDidDispose(() => (this.panel = undefined));
      this.panel.webview.onDidReceiveMessage((message: { ready?: true; node?: string }) => {
        if (message.ready) void this.refresh();
        else if (message.node) void this.reveal(message.node);
      });
      this.panel.webview.html = page(this.panel.webview, vscode.Uri.joinPath(resources, "graph.js"));
    } else {
      this.panel.reveal(undefined, true);
      await this.refresh();
    }
  }

  private follow(editor: vscode.TextEditor): void {
    if (!this.panel || editor.document.uri.toString() === this.uri?.toString()) return;
    this.uri = editor.document.uri;
    void this.refresh();
  }

  private refreshSoon(document: vscode.TextDocument): void {
    if (!this.panel || document.uri.toString() !== this.uri?.toString()) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.refresh(), delay);
  }

  /** A text that cannot be drawn keeps the last graph, with the reason. */
  private async refresh(): Promise<void> {
    const uri = this.uri;
    if (!this.panel || !uri) return;
    try {
      const graph = await this.graphOf(uri);
      if (uri !== this.uri) return; // another flow was chosen
      this.graph = graph;
      this.panel.title = `Graph of ${uri.path.split("/").pop()}`;
      await this.panel.webview.postMessage({ svg: graph.svg, proven: graph.proven });
      for (const editor of vscode.window.visibleTextEditors) this.markNode(editor);
    } catch (error) {
      await this.panel?.webview.postMessage({ failed: error instanceof Error ? error.message : String(error) });
    }
  }

  private markNode(editor: vscode.TextEditor): void {
    if (!this.panel || editor.document.uri.toString() !== this.uri?.toString()) return;
    const line = editor.selection.active.line;
    const node = this.graph?.nodes.find((n) => n.range.start.line <= line && line <= n.range.end.line);
    void this.panel.webview.postMessage({ marked: node?.id ?? "" });
  }

  /** Moves the cursor to a node. One of a sub-flow leads to the node that uses it. */
  private async reveal(id: string): Promise<void> {
    const node = this.graph?.nodes.find((n) => n.id === id) ?? this.graph?.nodes.find((n) => id.startsWith(n.id + "."));
    if (!node || !this.uri) return;
    const shown = vscode.window.visibleTextEditors.find((e) => e.document.uri.toString() === this.uri?.toString());
    const editor = await vscode.window.showTextDocument(this.uri, { viewColumn: shown?.viewColumn ?? vscode.ViewColumn.One });
    const at = new vscode.Position(node.range.start.line, node.range.start.character);
    editor.selection = new vscode.Selection(at, at);
    editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }
}

/** The page allows nothing but its own script and style. The drawing comes as a message. */
function page(webview: vscode.Webview, script: vscode.Uri): string {
  const nonce = randomBytes(16).toString("base64");
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'">
<title>Graph</title>
<style nonce="${nonce}">
body { padding: 0; }
#note { padding: 6px 12px; color: var(--vscode-descriptionForeground); }
#graph { overflow: auto; background: var(--vscode-editor-background); }
[data-node] { cursor: pointer; outline: none; }
[data-node]:focus-visible rect, [data-node].marked rect { stroke: var(--vscode-focusBorder); stroke-width: 3; }
</style>
</head>
<body>
<p id="note" role="status"></p>
<div id="graph"></div>
<script nonce="${nonce}" src="${webview.asWebviewUri(script).toString()}"></script>
</body>
</html>`;
}
