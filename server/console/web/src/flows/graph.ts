// The graph of a definition: its nodes and edges, and where they are drawn.
import type { Finding } from "../api";
import { type Layout, nodeHeight, nodeWidth, type Route, type Shape } from "./layout";

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
  edges: (DrawnEdge & { route: Route | undefined; isBad: boolean })[];
}

/** DrawnEdge is all edges from a node to another one, with the lines of their label. */
interface DrawnEdge {
  id: string;
  source: string;
  target: string;
  outcomes: string[];
  lines: string[];
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

/** edgesOf joins the edges between the same nodes. */
function edgesOf(list: FlowNode[]): DrawnEdge[] {
  const edges = new Map<string, DrawnEdge>();
  for (const node of list) {
    for (const { outcome, target } of node.next) {
      const id = `${node.id}→${target}`;
      const edge = edges.get(id) ?? { id, source: node.id, target, outcomes: [], lines: [] };
      edge.outcomes.push(outcome);
      edges.set(id, edge);
    }
  }
  const conditions = new Map(list.map((node) => [node.id, conditionsOf(node)]));
  return [...edges.values()].map((edge) => ({ ...edge, lines: linesOf(edge.outcomes, conditions.get(edge.source) ?? []) }));
}

interface Condition {
  outcome: string;
  when: string;
}

/** conditionsOf returns the cases of a node that decides. */
function conditionsOf(node: FlowNode): Condition[] {
  const cases = (node.with as { cases?: unknown } | null | undefined)?.cases;
  return Array.isArray(cases)
    ? cases.filter((one: Partial<Condition> | null): one is Condition => typeof one?.outcome === "string" && typeof one.when === "string")
    : [];
}

/** lineLength is the number of letters after which a label continues in another line. */
const lineLength = 30;

/** linesOf returns the lines of a label: the outcomes without a condition, and then each condition. */
function linesOf(outcomes: string[], conditions: Condition[]): string[] {
  const lines: string[] = [];
  for (const outcome of outcomes.filter((one) => !conditions.some((condition) => condition.outcome === one))) {
    const joined = lines.length ? `${lines.at(-1)}, ${outcome}` : outcome;
    joined.length > lineLength && lines.length ? lines.push(outcome) : lines.splice(-1, 1, joined);
  }
  for (const { outcome, when } of conditions.filter((condition) => outcomes.includes(condition.outcome))) {
    const line = `${outcome}: ${when.replace(/\s+/g, " ").trim()}`;
    lines.push(line.length > 2 * lineLength ? `${line.slice(0, 2 * lineLength - 1)}…` : line);
  }
  return lines;
}

/** shapeOf returns what the layout depends on, as text. */
export function shapeOf(list: FlowNode[]): string {
  const edges = edgesOf(list);
  const nodes = [...new Set([...list.map((node) => node.id), ...edges.map((edge) => edge.target)])];
  return JSON.stringify({ nodes, edges: edges.map(({ id, source, target, lines }) => ({ id, source, target, lines })) } satisfies Shape);
}

/** place marks the errors in a graph. */
export function place(list: FlowNode[], layout: Layout, findings: Finding[]): Placed {
  const all = [...list];
  const known = new Set(list.map((node) => node.id));
  for (const target of new Set(list.flatMap((node) => node.next.map((edge) => edge.target)))) {
    if (!known.has(target)) {
      all.push({ id: target, use: "", next: [], index: -1 }); // end, or a node that is missing
    }
  }
  const edges = new Map(edgesOf(list).map((edge): [string, Placed["edges"][number]] => [edge.id, { ...edge, route: layout.edges.get(edge.id), isBad: false }]));
  const errors = findings.filter((finding) => !finding.warning && !finding.follows); // without those that others cause
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
  const bad = new Set(errors.map((finding) => own(finding.cause?.node ?? finding.node ?? "")));
  return {
    nodes: all.map((node) => {
      const { x, y } = layout.nodes.get(node.id) ?? { x: 0, y: 0 };
      return { id: node.id, use: node.use, x: x - nodeWidth / 2, y: y - nodeHeight / 2, isBad: bad.has(node.id) };
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
