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

/** place lays the graph out from top to bottom. Edges between the same nodes are drawn as one. */
export function place(list: FlowNode[], findings: Finding[]): Placed {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 40, ranksep: 70 });
  graph.setDefaultEdgeLabel(() => ({}));
  const all = [...list];
  const known = new Set(list.map((node) => node.id));
  for (const target of new Set(list.flatMap((node) => node.next.map((edge) => edge.target)))) {
    if (!known.has(target)) {
      all.push({ id: target, use: "", next: [], index: -1 }); // end, or a node that is missing
    }
  }
  for (const node of all) {
    graph.setNode(node.id, { width, height });
  }
  const edges = new Map<string, Placed["edges"][number]>();
  for (const node of list) {
    for (const { outcome, target } of node.next) {
      const id = `${node.id}→${target}`;
      const edge = edges.get(id) ?? { id, source: node.id, target, outcomes: [], isBad: false };
      edge.outcomes.push(outcome);
      edges.set(id, edge);
      graph.setEdge(node.id, target);
    }
  }
  dagre.layout(graph);
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
      const { x, y } = graph.node(node.id);
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
