// Changes of a flow's graph as changes of its text. Everything that a change does not concern stays
// as it is, byte by byte: comments, order, quotes and indentation.
import { isMap, isScalar, isSeq, type Pair, parse, parseDocument, type Scalar, type YAMLMap, type YAMLSeq } from "yaml";

/** Edit is a change of the graph. The outcome "" stands for all outcomes of a node. */
export type Edit =
  | { change: "add"; node: string; use: string }
  | { change: "remove"; node: string }
  | { change: "rename"; node: string; to: string }
  | { change: "connect"; node: string; outcome: string; target: string }
  | { change: "disconnect"; node: string; outcome: string };

/** EditError says why a text cannot be changed. */
export class EditError extends Error {}

type Range = [number, number, number];
type FlowMap = YAMLMap<Scalar, unknown>;
type Member = Pair<Scalar, unknown>;

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

/** Text is a parsed flow. */
interface Text {
  text: string;
  root: FlowMap;
  list: YAMLSeq<FlowMap>;
}

function read(text: string): Text {
  const document = parseDocument(text, { logLevel: "silent", keepSourceTokens: true });
  const [error] = document.errors;
  if (error) {
    throw new EditError(`the text is not valid YAML: ${error.message.split("\n")[0] ?? ""}`);
  }
  const root = document.contents;
  const list = isMap(root) ? root.get("nodes", true) : undefined;
  if (!isMap(root) || !isSeq(list) || list.items.some((item) => !isMap(item) || item.anchor)) {
    throw new EditError("the flow has no list `nodes` of objects; write it in the text");
  }
  return { text, root: root as FlowMap, list: list as YAMLSeq<FlowMap> };
}

const idOf = (node: FlowMap) => String(node.get("id"));

function find({ list }: Text, id: string): FlowMap {
  const found = list.items.filter((node) => idOf(node) === id);
  if (found.length !== 1 || !found[0]) {
    throw new EditError(found.length === 0 ? `there is no node ${id}` : `several nodes have the id ${id}; change their ids in the text`);
  }
  return found[0];
}

function checkNew({ list }: Text, id: string) {
  if (!/^[A-Za-z][\w-]{0,63}$/.test(id) || id === "end") {
    throw new EditError(`${JSON.stringify(id)} cannot be an id; use a letter, then up to 63 letters, digits, dashes or underscores`);
  }
  if (list.items.some((node) => idOf(node) === id)) {
    throw new EditError(`there is a node ${id} already; choose another id`);
  }
}

const rangeOf = (node: unknown): Range => (node as { range: Range }).range;

const memberOf = (map: FlowMap, name: string): Member | undefined => map.items.find((pair) => String(pair.key.value) === name);

/** splice replaces a part of the text. */
const splice = (text: string, from: number, to: number, insert: string) => text.slice(0, from) + insert + text.slice(to);

const lineStart = (text: string, at: number) => text.lastIndexOf("\n", at - 1) + 1;

/** lineEnd returns the end of the line, before its line break. */
function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  const last = end < 0 ? text.length : end;
  return text[last - 1] === "\r" ? last - 1 : last;
}

const lineBreak = (text: string) => (text.includes("\r\n") ? "\r\n" : "\n");

/** isJSON reports whether the text is JSON, which quotes every word. */
const isJSON = (text: string) => text.trimStart().startsWith("{");

/** word writes a string as the text needs it: with quotes only if YAML would read something else. */
function word(text: string, value: string, like?: Scalar): string {
  if (isJSON(text) || like?.type === "QUOTE_DOUBLE") {
    return JSON.stringify(value);
  }
  if (like?.type === "QUOTE_SINGLE") {
    return `'${value.replaceAll("'", "''")}'`;
  }
  const isPlain = /^[A-Za-z][\w-]*$/.test(value) && parse(value) === value && !/^(y|n|yes|no|on|off)$/i.test(value);
  return isPlain ? value : JSON.stringify(value);
}

/** endOf returns the end of a member's value, or of its name if it has none. */
const endOf = (member: Member): number => (member.value ? rangeOf(member.value)[1] : lineEndOfKey(member));

const lineEndOfKey = (member: Member): number => rangeOf(member.key)[1] + 1;

/** addMember adds a member, written in flow style, at the end of an object. */
function addMember(text: string, map: FlowMap, name: string, value: string): string {
  const member = `${word(text, name)}: ${value}`;
  const last = map.items.at(-1);
  if (!last) {
    return splice(text, rangeOf(map)[0] + 1, rangeOf(map)[0] + 1, member);
  }
  if (map.flow) {
    const end = last.value ? endOf(last) : rangeOf(last.key)[1];
    const own = text.slice(lineStart(text, rangeOf(last.key)[0]), rangeOf(last.key)[0]);
    const separator = own.trim() === "" && text.slice(rangeOf(map)[0], end).includes("\n") ? `,${lineBreak(text)}${own}` : ", ";
    return splice(text, end, end, separator + member);
  }
  const first = rangeOf(map.items[0]?.key)[0];
  const end = contentEnd(text, endOf(last), last.value);
  return splice(text, end, end, lineBreak(text) + " ".repeat(first - lineStart(text, first)) + member);
}

/** contentEnd returns the end of the last line of a value that ends at a place, with its comment. */
function contentEnd(text: string, end: number, value: unknown): number {
  let at = end;
  if (isScalar(value) && (value.type === "BLOCK_LITERAL" || value.type === "BLOCK_FOLDED")) {
    return text[at - 1] === "\n" ? lineEnd(text, at - 1) : at;
  }
  while (isCollectionInBlock(value)) { // ends with its last item, maybe some lines after which the parser says
    const last: unknown = isMap(value) ? (value.items.at(-1) as Member).value ?? (value.items.at(-1) as Member).key : (value as YAMLSeq).items.at(-1);
    at = rangeOf(last)[1];
    if (isScalar(last) && (last.type === "BLOCK_LITERAL" || last.type === "BLOCK_FOLDED")) {
      return text[at - 1] === "\n" ? lineEnd(text, at - 1) : at;
    }
    value = last;
  }
  return lineEnd(text, at);
}

const isCollectionInBlock = (value: unknown): boolean => (isMap(value) || isSeq(value)) && !value.flow && value.items.length > 0;

/** removeMember removes a member of an object that has others. */
function removeMember(text: string, map: FlowMap, member: Member): string {
  return removeItem(text, map.flow ?? false, map.items.map((one) => ({ from: rangeOf(one.key)[0], to: one.value ? endOf(one) : rangeOf(one.key)[1], value: one.value ?? one.key })), map.items.indexOf(member));
}

/** Item is the place of a member or of an item of a list. */
interface Item {
  from: number;
  to: number;
  value: unknown;
}

/** removeItem removes an item with its lines, the comments in them, and the blank lines above. Comments above stay. */
function removeItem(text: string, isFlow: boolean, items: Item[], index: number): string {
  const item = items[index];
  const before = items[index - 1];
  const after = items[index + 1];
  if (!item) {
    return text;
  }
  if (isFlow) {
    return before ? splice(text, before.to, item.to, "") : splice(text, item.from, after?.from ?? item.to, "");
  }
  const end = contentEnd(text, item.to, item.value);
  const start = lineStart(text, item.from);
  if (after && text.slice(start, item.from).trim() !== "") { // the first member follows a dash
    return splice(text, item.from, after.from, "");
  }
  if (start === 0) {
    return splice(text, 0, Math.min(end + lineBreak(text).length, text.length), "");
  }
  const blank = /(?:\r?\n[ \t]*)*\r?\n$/.exec(text.slice(0, start)); // the blank lines above, too
  return splice(text, blank?.index ?? start, end, "");
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
  const dash = dashOf(text, last);
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

/** dashOf returns the place of the dash before an item of a list. */
const dashOf = (text: string, item: FlowMap): number => text.lastIndexOf("-", rangeOf(item)[0] - 1);

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
  const items = list.items.map((item) => ({ from: list.flow ? rangeOf(item)[0] : dashOf(text, item), to: rangeOf(item)[1], value: item }));
  return removeItem(text, list.flow ?? false, items, index);
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
    return replaceNext(text, map, word(text, target));
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
function replaceNext(text: string, map: FlowMap, by: string): string {
  const [from] = rangeOf(map);
  if (map.flow) {
    return splice(text, from, rangeOf(map)[1], by);
  }
  const name = text.lastIndexOf(":", from);
  return splice(text, name + 1, contentEnd(text, rangeOf(map)[1], map), ` ${by}`);
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

