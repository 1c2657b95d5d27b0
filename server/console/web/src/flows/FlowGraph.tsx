// The graph of a flow, drawn from its text. Each node has a label that names its edges, for screen
// readers, and is reached with the keyboard.
import { Background, ControlButton, Controls, type Edge, getViewportForBounds, MarkerType, type Node, Position, ReactFlow, ReactFlowProvider, useReactFlow, useStore } from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { useCallback, useEffect, useMemo, useRef } from "react";
import type { Finding } from "../api";
import type { Exit, Proof, UserState } from "./checker";
import { FlowEdge } from "./FlowEdge";
import { type FlowNode, place, type Placed, shapeOf } from "./graph";
import { type Layout, layOut, nodeHeight, nodeWidth, type Shape } from "./layout";
import { describe, type Place } from "./ProofPanel";
import { t } from "../texts";

/** Marks are what a simulation shows in the graph: the way of the run, where it is, and the outcomes that no scenario reaches. */
export interface Marks {
  walked: Exit[];
  at: string | undefined;
  missed: Exit[];
}

/** GraphChanges are the changes that the graph asks for; without them it cannot be changed. */
export interface GraphChanges {
  connect: (source: string, target: string) => void;
  remove: (place: Place) => void;
}

/** FlowGraph reports the node or edge that is selected, and the edge that the pointer is at. */
export function FlowGraph({ nodes, findings, proof, marks, changes, selected, onSelect, onPoint }: { marks?: Marks; changes?: GraphChanges; selected?: Place | undefined; nodes: FlowNode[]; findings: Finding[]; proof: Proof | undefined; onSelect: (place: Place) => void; onPoint: (place: Place) => void }) {
  const shape = shapeOf(nodes);
  const layout = useMemo(() => measured(shape), [shape]);
  const placed = useMemo(() => place(nodes, layout, findings), [nodes, layout, findings]);
  const drawnNodes = useKept(useMemo(() => drawNodes(nodes, placed, proof, marks, selected), [nodes, placed, proof, marks, selected]));
  const drawnEdges = useKept(useMemo(() => drawEdges(placed, proof, marks, selected), [placed, proof, marks, selected]));
  const isEditable = changes !== undefined;
  return (
    <div className="graph">
      <ReactFlowProvider>
        <ReactFlow
          nodesDraggable={false}
          nodesConnectable={isEditable}
          deleteKeyCode={isEditable ? deleteKeys : null}
          onBeforeDelete={useSteady(async ({ nodes: [node], edges: [edge] }) => { // the text changes, and then the graph
            if (node) {
              changes?.remove({ node: node.id });
            } else if (edge) {
              changes?.remove(ends(edge.id));
            }
            return false;
          })}
          onConnect={useSteady(({ source, target }) => changes?.connect(source, target))}
          edgeTypes={edgeTypes}
          minZoom={0.1}
          edgesFocusable
          colorMode="system"
          aria-label={t("Graph")}
          ariaLabelConfig={useMemo(() => instructions(isEditable), [isEditable])}
          onNodesChange={useSteady((changes) => changes.forEach((change) => change.type === "select" && change.selected && onSelect({ node: change.id })))}
          onEdgesChange={useSteady((changes) => changes.forEach((change) => change.type === "select" && change.selected && onSelect(ends(change.id))))}
          onEdgeMouseEnter={useSteady((_, edge) => onPoint(ends(edge.id)))}
          nodes={drawnNodes}
          edges={drawnEdges}
        >
          <Background />
          <FitControls layout={layout} />
        </ReactFlow>
      </ReactFlowProvider>
    </div>
  );
}

/** measured lays a graph out, and marks that in the timeline of the browser. */
function measured(shape: string): Layout {
  performance.mark("flow layout");
  return layOut(JSON.parse(shape) as Shape);
}

const edgeTypes = { flow: FlowEdge };
const deleteKeys = ["Delete", "Backspace"];

/** useSteady returns a function that stays the same and calls the newest one: the graph draws everything again for another function. */
function useSteady<Args extends unknown[], Result>(newest: (...args: Args) => Result): (...args: Args) => Result {
  const called = useRef(newest);
  called.current = newest;
  return useCallback((...args: Args) => called.current(...args), []);
}

/** useKept returns the list with the items of the last list that have not changed: only the others are drawn again. */
function useKept<T extends Node | Edge>(list: T[]): T[] {
  const last = useRef({ list: [] as T[], items: new Map<string, { item: T; content: string }>() });
  return useMemo(() => {
    const next = new Map(list.map((item) => {
      const content = JSON.stringify({ ...item, data: item.data?.["content"] });
      const known = last.current.items.get(item.id);
      return [item.id, known?.content === content ? known : { item, content }] as const;
    }));
    const kept = [...next.values()].map(({ item }) => item);
    const isSame = kept.length === last.current.list.length && kept.every((item, i) => item === last.current.list[i]);
    last.current = { list: isSame ? last.current.list : kept, items: next };
    return last.current.list;
  }, [list]);
}

/** symbols show what is certain about the user at a node, as the color of its border does. */
const symbols: Record<UserState, string> = { anyone: "", identified: "◔ ", created: "◑ ", authenticated: "● " };

/** drawNodes returns the nodes as they are drawn. */
function drawNodes(nodes: FlowNode[], placed: Placed, proof: Proof | undefined, marks: Marks | undefined, selected: Place | undefined): Node[] {
  const users = new Map(proof?.nodes.map((node) => [node.id, node.user]));
  const labels = new Map(nodes.map((node) => [node.id, `${node.id}, ${node.use}${node.next.map((edge) => `; ${edge.outcome} → ${edge.target}`).join("")}`]));
  return placed.nodes.map((node) => ({
    id: node.id, selected: selected?.node === node.id && !selected.target, position: { x: node.x, y: node.y }, width: nodeWidth, height: nodeHeight,
    className: [selected?.node === node.id ? "chosen" : "", node.isBad ? "bad" : "", users.get(node.id) ?? "", marks ? markNode(marks, node.id).kind : ""].join(" ").trim(),
    ariaLabel: (labels.get(node.id) ?? node.id) + (node.isBad ? `; ${t("has an error")}` : "") + (marks ? markNode(marks, node.id).text : ""),
    sourcePosition: Position.Bottom, targetPosition: Position.Top,
    data: { content: node.use, label: <><span className="mark" aria-hidden="true">{node.isBad ? "⚠ " : symbols[users.get(node.id) ?? "anyone"]}</span><strong>{node.id}</strong><br /><span className="quiet">{node.use}</span></> },
  }));
}

/** drawEdges returns the edges as they are drawn. */
function drawEdges(placed: Placed, proof: Proof | undefined, marks: Marks | undefined, selected: Place | undefined): Edge[] {
  return placed.edges.map((edge) => ({
    id: edge.id, type: "flow", selected: selected?.node === edge.source && selected.target === edge.target, source: edge.source, target: edge.target,
    data: { content: { route: edge.route, lines: edge.lines } },
    ariaLabel: `${edge.source} —${edge.lines.join(", ")}→ ${edge.target}${gain(proof, edge.source, edge.target)}${edge.isBad ? `; ${t("leads to an error")}` : ""}${marks ? markEdge(marks, edge.source, edge.outcomes).text : ""}`,
    className: [edge.isBad ? "bad" : "", marks ? markEdge(marks, edge.source, edge.outcomes).kind : ""].join(" ").trim(), markerEnd: { type: MarkerType.ArrowClosed, color: "var(--ink-2)", width: 20, height: 20 },
  }));
}

/** instructions are what a screen reader says of the graph and its controls. */
const instructions = (isEditable: boolean) => {
  const node = isEditable ? t("Press Enter to select the node, and Delete to remove it.") : t("Press Enter to select the node.");
  return {
    "node.a11yDescription.default": node, "node.a11yDescription.keyboardDisabled": node,
    "edge.a11yDescription.default": isEditable ? t("Press Enter to select the edge, and Delete to remove it.") : t("Press Enter to select the edge."),
    "controls.ariaLabel": t("View of the graph"), "controls.zoomIn.ariaLabel": t("Zoom in"), "controls.zoomOut.ariaLabel": t("Zoom out"),
  };
};

/** FitControls show the whole graph again when its size or that of its frame has changed, or on demand. */
function FitControls({ layout: { width, height } }: { layout: Layout }) {
  const { setViewport } = useReactFlow();
  const frameWidth = useStore((state) => state.width);
  const frameHeight = useStore((state) => state.height);
  const fit = useCallback(() => {
    if (frameWidth && frameHeight) {
      void setViewport(getViewportForBounds({ x: 0, y: 0, width, height }, frameWidth, frameHeight, 0.1, 1, 0.05));
    }
  }, [width, height, frameWidth, frameHeight, setViewport]);
  useEffect(fit, [fit]);
  const label = t("Show the whole graph");
  return (
    <Controls showInteractive={false} showFitView={false}>
      <ControlButton onClick={fit} title={label} aria-label={label}>
        <svg viewBox="0 0 12 12" aria-hidden="true"><path d="M0 4V0h4M8 0h4v4M12 8v4H8M4 12H0V8" fill="none" stroke="currentColor" strokeWidth="1.5" /></svg>
      </ControlButton>
    </Controls>
  );
}

/** own reports whether the id is that of the node, or of a node in the sub-flow that it uses. */
export const own = (id: string, node: string) => id === node || id.startsWith(`${node}.`);

function markNode({ at, walked, missed }: Marks, node: string): { kind: string; text: string } {
  if (at !== undefined && own(at, node)) {
    return { kind: "waits", text: `; ${t("the run waits here")}` };
  }
  if (walked.some((exit) => own(exit.node, node))) {
    return { kind: "walked", text: `; ${t("passed by the run")}` };
  }
  return missed.some((exit) => exit.node === node && exit.outcome === "") ? { kind: "missed", text: `; ${t("not reached by a scenario")}` } : { kind: "", text: "" };
}

function markEdge({ walked, missed }: Marks, source: string, outcomes: string[]): { kind: string; text: string } {
  const includes = (exits: Exit[]) => exits.some((exit) => exit.node === source && (outcomes.includes(exit.outcome) || outcomes.includes("")));
  if (includes(walked)) {
    return { kind: "walked", text: `; ${t("passed by the run")}` };
  }
  return includes(missed) ? { kind: "missed", text: `; ${t("not reached by a scenario")}` } : { kind: "", text: "" };
}

const separator = "→";

/** ends returns the place of the edge with the id: see place. */
function ends(id: string): Place {
  const [node = "", target = ""] = id.split(separator);
  return { node, target };
}

/** gain names what is certain about the user after an edge that changes it. */
function gain(proof: Proof | undefined, source: string, target: string): string {
  const node = proof?.nodes.find((one) => one.id === source);
  const edge = node?.edges.find((one) => one.target === target);
  return edge && edge.user !== node?.user ? `: ${describe(edge.user)}` : "";
}
