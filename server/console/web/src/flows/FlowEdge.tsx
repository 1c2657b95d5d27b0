// An edge of the graph on the route of the layout, with its outcomes and conditions.
import { BaseEdge, type Edge, type EdgeProps } from "@xyflow/react";
import { labelSize, lineHeight, type Route } from "./layout";

type RoutedEdge = Edge<{ content: { route: Route | undefined; lines: string[] } }, "flow">;

export function FlowEdge({ data, markerEnd }: EdgeProps<RoutedEdge>) {
  const { route, lines = [] } = data?.content ?? {};
  if (!route) {
    return null;
  }
  const { path, label } = route;
  const { width, height } = labelSize(lines);
  return (
    <>
      <BaseEdge path={path} {...(markerEnd !== undefined && { markerEnd })} />
      {lines.join("") !== "" && (
        <g className="outcomes" transform={`translate(${label.x} ${label.y})`}>
          <rect x={-width / 2} y={-height / 2} width={width} height={height} rx={3} />
          {lines.map((line, i) => <text key={line} y={(i - (lines.length - 1) / 2) * lineHeight}>{line}</text>)}
        </g>
      )}
    </>
  );
}
