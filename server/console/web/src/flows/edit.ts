// Changes of a flow's graph as changes of its text. Everything that a change does not concern stays
// as it is, byte by byte: comments, order, quotes and indentation.
import { isMap, isScalar, isSeq, type Scalar, type YAMLSeq } from "yaml";
import { type Config, configure } from "./configure";
import { addMember, contentEnd, dashOf, EditError, find, type FlowMap, idOf, itemsOf, lineBreak, lineEndOfKey, lineStart, memberOf, rangeOf, read, removeItem, removeMember, splice, type Text, word } from "./flowtext";

/** Edit is a change of the graph. The outcome "" stands for all outcomes of a node. */
export type Edit =
  | { change: "add"; node: string; use: string }
  | { change: "remove"; node: string }
  | { change: "rename"; node: string; to: string }
  | { change: "connect"; node: string; outcome: string; target: string }
  | { change: "disconnect"; node: string; outcome: string }
  | { change: "configure"; node: string; with: Config | undefined };

/** edit returns the text after the change. The outcomes are those that the node has, if they are known. */
export function edit(text: string, change: Edit, outcomes: string[] = []): string {
  switch (change.change) {
    case "add":
      return addNode(text, change.node, change.use);
    case "remove":
      return removeNode(text, change.node);
    case "rename":
      return renameNode(text, change.node, change.to);
    case "connect":
      return connect(text, change.node, change.outcome, change.target, outcomes);
    case "disconnect":
      return disconnect(text, change.node, change.outcome);
    case "configure":
      return configure(text, change.node, change.with);
  }
}

/** difference returns the smallest single replacement that makes a text another. */
export function difference(before: string, after: string): { from: number; to: number; insert: string } {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) {
    start++;
  }
  let end = 0;
  while (end < most - start && before[before.length - 1 - end] === after[after.length - 1 - end]) {
    end++;
  }
  return { from: start, to: before.length - end, insert: after.slice(start, after.length - end) };
}

function checkNew({ list }: Text, id: string) {
  if (!/^[A-Za-z][\w-]{0,63}$/.test(id) || id === "end") {
    throw new EditError(`${JSON.stringify(id)} cannot be an id; use a letter, then up to 63 letters, digits, dashes or underscores`);
  }
  if (list.items.some((node) => idOf(node) === id)) {
    throw new EditError(`there is a node ${id} already; choose another id`);
  }
}

function addNode(text: string, id: string, use: string): string {
  const flow = read(text);
  checkNew(flow, id);
  const { list } = flow;
  const node = `{${word(text, "id")}: ${word(text, id)}, ${word(text, "use")}: ${word(text, use)}}`;
  const last = list.items.at(-1);
  if (!last) {
    const [from, to] = rangeOf(list);
    return splice(text, from, to, list.flow ? `[${node}]` : node);
  }
  if (list.flow) {
    const own = text.slice(lineStart(text, rangeOf(last)[0]), rangeOf(last)[0]);
    const separator = own.trim() === "" ? `,${lineBreak(text)}${own}` : ", ";
    return splice(text, rangeOf(last)[1], rangeOf(last)[1], separator + node);
  }
  const dash = dashOf(list, list.items.length - 1);
  const indent = text.slice(lineStart(text, dash), dash);
  const end = contentEnd(text, rangeOf(last)[1], last);
  const br = lineBreak(text);
  const between = text.slice(contentEndOfNode(text, list, list.items.length - 2), dash).includes(br + br) ? br + br : br;
  return splice(text, end, end, `${between}${indent}- id: ${word(text, id)}${br}${indent}  use: ${word(text, use)}`);
}

/** contentEndOfNode returns where a node ends; that of none is the end of the text. */
function contentEndOfNode(text: string, list: YAMLSeq<FlowMap>, index: number): number {
  const node = list.items[index];
  return node ? contentEnd(text, rangeOf(node)[1], node) : text.length;
}

function removeNode(text: string, id: string): string {
  let flow = read(text);
  find(flow, id);
  if (flow.list.items.length === 1) {
    throw new EditError("a flow needs a node; add another one first");
  }
  for (const node of flow.list.items.filter((one) => idOf(one) !== id)) {
    for (const outcome of outcomesTo(node, id)) {
      text = disconnect(text, idOf(node), outcome);
    }
  }
  flow = read(text);
  const { list } = flow;
  const index = list.items.findIndex((node) => idOf(node) === id);
  return removeItem(text, list.flow ?? false, itemsOf(list), index);
}

/** outcomesTo returns the outcomes of a node that lead to a target. */
function outcomesTo(node: FlowMap, target: string): string[] {
  const next = memberOf(node, "next")?.value;
  if (isScalar(next)) {
    return next.value === target ? [""] : [];
  }
  return isMap(next) ? (next as FlowMap).items.filter((pair) => isScalar(pair.value) && pair.value.value === target).map((pair) => String(pair.key.value)) : [];
}

function renameNode(text: string, id: string, to: string): string {
  const flow = read(text);
  find(flow, id);
  if (id === to) {
    return text;
  }
  checkNew(flow, to);
  const places: Scalar[] = [];
  const add = (value: unknown) => {
    if (isScalar(value) && value.value === id) {
      places.push(value);
    }
  };
  for (const node of flow.list.items) {
    add(memberOf(node, "id")?.value);
    const next = memberOf(node, "next")?.value;
    add(next);
    if (isMap(next)) {
      (next as FlowMap).items.forEach((pair) => add(pair.value));
    }
  }
  const waivers = flow.root.get("waive", true);
  if (isSeq(waivers)) {
    waivers.items.forEach((waiver) => isMap(waiver) && add(waiver.get("node", true)));
  }
  places.sort((a, b) => rangeOf(b)[0] - rangeOf(a)[0]);
  return places.reduce((changed, place) => splice(changed, rangeOf(place)[0], rangeOf(place)[1], word(text, to, place)), text);
}

function connect(text: string, id: string, outcome: string, target: string, outcomes: string[]): string {
  const flow = read(text);
  const node = find(flow, id);
  if (target !== "end") {
    find(flow, target);
  }
  const member = memberOf(node, "next");
  const next = member?.value;
  const one = `{${word(text, outcome)}: ${word(text, target)}}`;
  const whole = outcome === "" ? word(text, target) : one;
  if (!member) {
    return addMember(text, node, "next", whole);
  }
  if (isScalar(next) && typeof next.value === "string") {
    const [from, to] = rangeOf(next);
    if (outcome === "") {
      return splice(text, from, to, word(text, target, next));
    }
    const others = outcomes.filter((other) => other !== outcome);
    if (others.length === 0 && !outcomes.includes(outcome)) {
      throw new EditError(`all outcomes of ${id} lead to ${next.value}; name them in the text, or choose one target for all`);
    }
    const targets = outcomes.includes(outcome) ? outcomes : [...outcomes, outcome];
    return splice(text, from, to, `{${targets.map((name) => `${word(text, name)}: ${word(text, name === outcome ? target : String(next.value))}`).join(", ")}}`);
  }
  if (!isMap(next)) {
    const at = next ? rangeOf(next) : undefined; // nothing is written after `next:`
    const from = lineEndOfKey(member);
    return at && at[1] > at[0] ? splice(text, at[0], at[1], whole) : splice(text, from, from, ` ${whole}`);
  }
  const map = next as FlowMap;
  if (outcome === "") {
    return replaceNext(text, map, text.indexOf(":", rangeOf(member.key)[1]) + 1, word(text, target));
  }
  const edge = memberOf(map, outcome);
  if (!edge) {
    return addMember(text, map, outcome, word(text, target));
  }
  if (!isScalar(edge.value) || rangeOf(edge.value)[0] === rangeOf(edge.value)[1]) {
    throw new EditError(`the target of ${id} for ${outcome} is not an id; change it in the text`);
  }
  const [from, to] = rangeOf(edge.value);
  return splice(text, from, to, word(text, target, edge.value));
}

/** replaceNext replaces an object of targets. */
function replaceNext(text: string, map: FlowMap, colon: number, by: string): string {
  const [from] = rangeOf(map);
  if (map.flow) {
    return splice(text, from, rangeOf(map)[1], by);
  }
  return splice(text, colon, contentEnd(text, rangeOf(map)[1], map), ` ${by}`);
}

function disconnect(text: string, id: string, outcome: string): string {
  const node = find(read(text), id);
  const member = memberOf(node, "next");
  const next = member?.value;
  if (member && outcome === "") {
    return removeMember(text, node, member);
  }
  const edge = isMap(next) ? memberOf(next as FlowMap, outcome) : undefined;
  if (!member || !edge) {
    throw new EditError(isScalar(next) ? `all outcomes of ${id} lead to ${String(next.value)}; name them in the text` : `${id} has no target for ${outcome}`);
  }
  const map = next as FlowMap;
  return map.items.length === 1 ? removeMember(text, node, member) : removeMember(text, map, edge);
}

