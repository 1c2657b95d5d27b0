// Where the nodes and edges of a flow are drawn, from top to bottom. Labels have layers of their own:
// no edge crosses a node, and no label covers another one.
import dagre from "@dagrejs/dagre";

export const nodeWidth = 180;
export const nodeHeight = 56;

/** lineHeight is that of the lines of a label, whose letters are at most letterWidth wide on average. */
export const lineHeight = 14;
const letterWidth = 6;

/** room is the least distance of an edge from the corners of its nodes. */
const room = 14;

export interface Point {
  x: number;
  y: number;
}

/** Route is the path of an edge, as in SVG, and the center of its label. */
export interface Route {
  path: string;
  label: Point;
}

/** Layout has the centers of the nodes, and the routes of the edges, by their ids. All is within the size, from (0, 0) on. */
export interface Layout {
  width: number;
  height: number;
  nodes: Map<string, Point>;
  edges: Map<string, Route>;
}

/** Shape is what a layout depends on. */
export interface Shape {
  nodes: string[];
  edges: { id: string; source: string; target: string; lines: string[] }[];
}

/** layOut lays a graph out. It takes long for a large graph. */
export function layOut({ nodes, edges }: Shape): Layout {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 40, edgesep: 20, ranksep: 60 });
  for (const id of nodes) {
    graph.setNode(id, { width: nodeWidth, height: nodeHeight });
  }
  for (const { source, target, lines } of edges) {
    graph.setEdge(source, target, { ...labelSize(lines), labelpos: "c" });
  }
  dagre.layout(graph);
  const centers = new Map<string, Point>(graph.nodes().map((id) => [id, graph.node(id)]));
  const { width = 0, height = 0 } = graph.graph();
  const layers = new Set([...centers.values()].map(({ y }) => y));
  return {
    width, height,
    nodes: centers,
    edges: new Map(edges.map(({ id, source, target }) => {
      const { points, x, y } = graph.edge(source, target) as { points: Point[]; x: number; y: number };
      const [from, to] = [centers.get(source), centers.get(target)];
      const path = source === target || !from || !to ? loop(from ?? { x, y }, x) : route(from, to, points.slice(1, -1), layers);
      return [id, { path, label: { x, y } }];
    })),
  };
}

/** labelSize returns the size of a label of several lines. */
export const labelSize = (lines: string[]) => ({
  width: letterWidth * Math.max(...lines.map((line) => [...line].length)) + 8, height: lineHeight * lines.length + 4,
});

/** route returns the path from a node through places to a node. It is vertical in the layers of nodes. */
function route(from: Point, to: Point, places: Point[], layers: Set<number>): string {
  const half = (Math.sign(to.y - from.y) * nodeHeight) / 2;
  const leave = (node: Point, next: Point) => Math.min(Math.max(next.x, node.x - nodeWidth / 2 + room), node.x + nodeWidth / 2 - room);
  const first = { x: leave(from, places[0] ?? to), y: from.y + half };
  const last = { x: leave(to, places.at(-1) ?? from), y: to.y - half };
  const points = [first, ...places.flatMap((at) => (layers.has(at.y) ? [{ x: at.x, y: at.y - half }, { x: at.x, y: at.y + half }] : [at])), last];
  return `M${first.x} ${first.y}${points.slice(1).map((point, i) => curve(points[i] ?? first, point)).join("")}`;
}

/** curve returns a curve that begins and ends vertically. */
function curve(from: Point, to: Point): string {
  const middle = (from.y + to.y) / 2;
  return `C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${to.y}`;
}

/** loop returns the path of an edge from a node to itself, on its right, through the x of the label. */
function loop(node: Point, x: number): string {
  const right = node.x + nodeWidth / 2;
  const turn = right + (x - right) * (4 / 3); // the curve reaches three quarters of the way to its control points
  return `M${right} ${node.y - room}C${turn} ${node.y - nodeHeight} ${turn} ${node.y + nodeHeight} ${right} ${node.y + room}`;
}
