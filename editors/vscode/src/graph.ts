// The script of the page with the graph.
declare function acquireVsCodeApi(): { postMessage(message: unknown): void };

type Message = { svg?: string; proven?: boolean; marked?: string; failed?: string };

const editor = acquireVsCodeApi();
const graph = document.getElementById("graph")!;
const note = document.getElementById("note")!;
let marked = "";

function draw(svg: string): void {
  const root = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  if (root.localName !== "svg") throw new Error("the drawing cannot be read");
  graph.replaceChildren(document.importNode(root, true));
  for (const node of nodesOf(graph)) {
    const id = node.getAttribute("data-node");
    node.addEventListener("click", () => editor.postMessage({ node: id }));
    node.addEventListener("keydown", (e) => {
      const key = (e as KeyboardEvent).key;
      if (key !== "Enter" && key !== " ") return;
      e.preventDefault();
      editor.postMessage({ node: id });
    });
  }
  mark(marked);
}

function nodesOf(root: Element): Element[] {
  return [...root.querySelectorAll("[data-node]")];
}

function mark(id: string): void {
  marked = id;
  for (const node of nodesOf(graph)) {
    const is = node.getAttribute("data-node") === id;
    node.classList.toggle("marked", is);
    if (is) node.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}

window.addEventListener("message", (e: MessageEvent<Message>) => {
  const { svg, proven, marked: id, failed } = e.data;
  if (failed !== undefined) note.textContent = `The graph is not current: ${failed}`;
  if (svg !== undefined) {
    note.textContent = proven ? "" : "The flow has errors, so nothing is proven of it.";
    draw(svg);
  }
  if (id !== undefined) mark(id);
});

editor.postMessage({ ready: true });
