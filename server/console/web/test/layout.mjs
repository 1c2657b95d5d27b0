// Lays flows out with src/flows/layout.ts, and verifies that no edge crosses a node and no label covers
// another label or a node: in the flow files of the arguments, and in random flows. Run by TestLayout of
// package console.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { compiled } from "./compiled.mjs";

const [{ layOut, labelSize, nodeHeight, nodeWidth }, { nodesOf, shapeOf }] = await compiled("layout", "graph");

/** pointsOf returns points of a path with the commands M, L and C, close to each other. */
function pointsOf(path) {
  const points = [];
  for (const [, command, list] of path.matchAll(/([MLC])([^MLC]*)/g)) {
    const n = list.trim().split(/[\s,]+/).map(Number);
    const from = points.at(-1) ?? [n[0], n[1]];
    const at = command === "C"
      ? (t) => [0, 1].map((k) => (1 - t) ** 3 * from[k] + 3 * t * (1 - t) ** 2 * n[k] + 3 * t * t * (1 - t) * n[2 + k] + t ** 3 * n[4 + k])
      : (t) => [0, 1].map((k) => from[k] + t * (n[k] - from[k]));
    for (let i = 1; i <= 40; i++) {
      points.push(at(i / 40));
    }
  }
  return points;
}

const boxAt = ({ x, y }, width, height) => ({ left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 });
const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

let state = 1;
function random(n) { // xorshift
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % n;
}

/** randomFlow returns a definition in which each node has up to three outcomes, some of them with conditions. */
function randomFlow() {
  const count = 3 + random(30);
  return { nodes: Array.from({ length: count }, (_, i) => {
    const outcomes = ["success", "failure", "a-longer-outcome"].slice(0, 1 + random(3));
    const target = () => (random(8) ? `node${random(3) ? Math.min(i + 1 + random(4), count - 1) : random(count)}` : "end");
    return { id: `node${i}`, use: "decision", next: Object.fromEntries(outcomes.map((one) => [one, target()])), ...(random(4) === 0 && { with: { cases: [{ outcome: outcomes[0], when: "user.hasPasskey && user.isAuthenticated" }] } }) };
  }) };
}

const flows = [
  ...process.argv.slice(2).map((file) => [file, parse(readFileSync(file, "utf8"))]),
  ...Array.from({ length: 60 }, (_, i) => [`random flow ${i}`, randomFlow()]),
];
let edgeCount = 0;
for (const [file, definition] of flows) {
  const shape = JSON.parse(shapeOf(nodesOf(definition)));
  const layout = layOut(shape);
  const nodes = shape.nodes.map((id) => ({ id, box: boxAt(layout.nodes.get(id), nodeWidth, nodeHeight) }));
  const labels = [];
  for (const { id, source, target, lines } of shape.edges) {
    const { path, label } = layout.edges.get(id);
    for (const { id: node, box } of nodes) {
      const isInside = ([x, y]) => x > box.left + 1 && x < box.right - 1 && y > box.top + 1 && y < box.bottom - 1;
      assert(source === target || !pointsOf(path).some(isInside), `${file}: the edge ${id} crosses the node ${node}`);
    }
    if (lines.join("") !== "") {
      const { width, height } = labelSize(lines);
      labels.push({ id, box: boxAt(label, width, height) });
    }
    edgeCount++;
  }
  for (const [i, one] of labels.entries()) {
    for (const other of [...labels.slice(i + 1), ...nodes]) {
      assert(!overlap(one.box, other.box), `${file}: the label of ${one.id} covers that of ${other.id}`);
    }
  }
}
console.log(`${flows.length} flows with ${edgeCount} edges`);
