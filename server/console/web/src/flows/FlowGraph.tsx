// The graph of a flow, drawn from its text. Each node has a label that names its edges, for screen
// readers, and is reached with the keyboard.
import { Background, Controls, MarkerType, Position, ReactFlow, ReactFlowProvider } from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { useMemo } from "react";
import type { Finding } from "../api";
import { type FlowNode, place } from "./graph";

export function FlowGraph({ nodes, findings, onSelect }: { nodes: FlowNode[]; findings: Finding[]; onSelect: (node: string) => void }) {
  const placed = useMemo(() => place(nodes, findings), [nodes, findings]);
  const labels = new Map(nodes.map((node) => [node.id, `${node.id}, ${node.use}${node.next.map((edge) => `; ${edge.outcome} → ${edge.target}`).join("")}`]));
  return (
    <div className="graph">
      <ReactFlowProvider>
        <ReactFlow
          fitView
          fitViewOptions={{ maxZoom: 1 }}
          nodesDraggable={false}
          nodesConnectable={false}
          edgesFocusable={false}
          colorMode="system"
          onNodesChange={(changes) => changes.forEach((change) => change.type === "select" && change.selected && onSelect(change.id))}
          nodes={placed.nodes.map((node) => ({
            id: node.id, position: { x: node.x, y: node.y }, width: 180, height: 56,
            className: node.isBad ? "bad" : "", ariaLabel: labels.get(node.id) ?? node.id, sourcePosition: Position.Bottom, targetPosition: Position.Top,
            data: { label: <><strong>{node.id}</strong><br /><span className="quiet">{node.use}</span></> },
          }))}
          edges={placed.edges.map((edge) => ({
            id: edge.id, source: edge.source, target: edge.target, label: edge.outcomes.join(", "),
            className: edge.isBad ? "bad" : "", markerEnd: { type: MarkerType.ArrowClosed },
          }))}
        >
          <Background />
          <Controls showInteractive={false} />
        </ReactFlow>
      </ReactFlowProvider>
    </div>
  );
}
