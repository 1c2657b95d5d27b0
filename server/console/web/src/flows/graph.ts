// The graph of a definition: its nodes and edges, and where they are drawn.
import dagre from "@dagrejs/dagre";
import type { Finding } from "../api";

export interface FlowNode {
  id: string;
  use: string;
  next: { outcome: string; target: string }[];
  /** index is the place in the list of nodes. */
  index: number;
  /** with is the configuration, as it is written. */
  with?: unknown;
}

export interface Placed {
  nodes: { id: string; use: string; x: number; y: number; isBad: boolean }[];
  edges: { id: string; source: string; target: string; outcomes: string[]; isBad: boolean }[];
}

/** nodesOf returns the nodes of a parsed definition; what is not yet written right is left out. */
export function nodesOf(definition: unknown): FlowNode[] {
  const list = (definition as { nodes?: unknown } | null)?.nodes;
  if (!Array.isArray(list)) {
    return [];
  }
  return list.flatMap((node: unknown, index): FlowNode[] => {
    const { id, use, next, with: config } = (node ?? {}) as { id?: unknown; use?: unknown; next?: unknown; with?: unknown };
    if (typeof id !== "string") {
      return [];
    }
    const targets = typeof next === "string" ? [["", next]] : Object.entries((next ?? {}) as Record<string, unknown>);
    return [{
      id, index, use: typeof use === "string" ? use : "", with: config,
      next: targets.flatMap(([outcome, target]) => (typeof target === "string" ? [{ outcome: String(outcome), target }] : [])),
    }];
  });
}

const width = 180;
const height = 56;

/** Layout has the centers of the nodes by their ids. */
export type Layout = Map<string, { x: number; y: number }>;

/** shapeOf returns what the layout depends on: the ids of the nodes and of their targets, as text. */
export const shapeOf = (list: FlowNode[]) => JSON.stringify(list.map((node) => [node.id, ...node.next.map((edge) => edge.target)]));

/** layOut lays a graph out from top to bottom. It takes long for a large graph. */
export function layOut(shape: string): Layout {
  performance.mark("flow layout");
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 40, ranksep: 70 });
  graph.setDefaultEdgeLabel(() => ({}));
  const list = JSON.parse(shape) as string[][];
  for (const id of list.flat()) {
    graph.setNode(id, { width, height });
  }
  for (const [id = "", ...targets] of list) {
    targets.forEach((target) => graph.setEdge(id, target));
  }
  dagre.layout(graph);
  return new Map(graph.nodes().map((id) => [id, graph.node(id)]));
}

/** place marks the errors in a graph. Edges between the same nodes are drawn as one. */
export function place(list: FlowNode[], layout: Layout, findings: Finding[]): Placed {
  const all = [...list];
  const known = new Set(list.map((node) => node.id));
  for (const target of new Set(list.flatMap((node) => node.next.map((edge) => edge.target)))) {
    if (!known.has(target)) {
      all.push({ id: target, use: "", next: [], index: -1 }); // end, or a node that is missing
    }
  }
  const edges = new Map<string, Placed["edges"][number]>();
  for (const node of list) {
    for (const { outcome, target } of node.next) {
      const id = `${node.id}→${target}`;
      const edge = edges.get(id) ?? { id, source: node.id, target, outcomes: [], isBad: false };
      edge.outcomes.push(outcome);
      edges.set(id, edge);
    }
  }
  const errors = findings.filter((finding) => !finding.warning);
  const ids = new Set(list.map((node) => node.id));
  const own = (id: string) => (ids.has(id) ? id : id.split(".")[0] ?? id); // the node that uses the sub-flow
  const run = errors.find((finding) => finding.trace)?.trace ?? [];
  run.forEach((step, i) => markBad(edges, own(step.node), own(run[i + 1]?.node ?? "")));
  for (const { path } of errors) {
    const [, index, outcome] = /^nodes\[(\d+)\]\.next(?:\.(.+))?$/.exec(path) ?? [];
    const node = index === undefined ? undefined : list[Number(index)];
    for (const edge of node?.next ?? []) {
      if (outcome === undefined || edge.outcome === outcome) {
        markBad(edges, node?.id ?? "", edge.target);
      }
    }
  }
  const bad = new Set(errors.map((finding) => own(finding.node ?? "")));
  return {
    nodes: all.map((node) => {
      const { x, y } = layout.get(node.id) ?? { x: 0, y: 0 };
      return { id: node.id, use: node.use, x: x - width / 2, y: y - height / 2, isBad: bad.has(node.id) };
    }),
    edges: [...edges.values()],
  };
}

function markBad(edges: Map<string, Placed["edges"][number]>, source: string, target: string) {
  const edge = edges.get(`${source}→${target}`);
  if (edge) {
    edge.isBad = true;
  }
}
