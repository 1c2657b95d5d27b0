// The text of a flow with the places of its parts, and the replacements that edits are made of.
import { type CST, type Document, isMap, isScalar, isSeq, type Pair, parse, parseDocument, type Scalar, type YAMLMap, type YAMLSeq } from "yaml";

/** EditError says why a text cannot be changed. */
export class EditError extends Error {}

type Range = [number, number, number];
export type FlowMap = YAMLMap<Scalar, unknown>;
export type Member = Pair<Scalar, unknown>;

/** Text is a parsed flow. */
export interface Text {
  text: string;
  document: Document.Parsed;
  root: FlowMap;
  list: YAMLSeq<FlowMap>;
}

export function read(text: string): Text {
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
  return { text, document, root: root as FlowMap, list: list as YAMLSeq<FlowMap> };
}

export const idOf = (node: FlowMap) => String(node.get("id"));

export function find({ list }: Text, id: string): FlowMap {
  const found = list.items.filter((node) => idOf(node) === id);
  if (found.length !== 1 || !found[0]) {
    throw new EditError(found.length === 0 ? `there is no node ${id}` : `several nodes have the id ${id}; change their ids in the text`);
  }
  return found[0];
}

export const rangeOf = (node: unknown): Range => (node as { range: Range }).range;

export const memberOf = (map: FlowMap, name: string): Member | undefined => map.items.find((pair) => String(pair.key.value) === name);

/** splice replaces a part of the text. */
export const splice = (text: string, from: number, to: number, insert: string) => text.slice(0, from) + insert + text.slice(to);

export const lineStart = (text: string, at: number) => text.lastIndexOf("\n", at - 1) + 1;

/** lineEnd returns the end of the line, before its line break. */
function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  const last = end < 0 ? text.length : end;
  return text[last - 1] === "\r" ? last - 1 : last;
}

export const lineBreak = (text: string) => (text.includes("\r\n") ? "\r\n" : "\n");

/** isJSON reports whether the text is JSON, which quotes every word. */
export const isJSON = (text: string) => text.trimStart().startsWith("{");

/** word writes a string as the text needs it: with quotes only if YAML would read something else. */
export function word(text: string, value: string, like?: Scalar): string {
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
export const endOf = (member: Member): number => (member.value ? rangeOf(member.value)[1] : lineEndOfKey(member));

export const lineEndOfKey = (member: Member): number => rangeOf(member.key)[1] + 1;

/** addMember adds a member, written in flow style, after another one, or at the end of an object. */
export function addMember(text: string, map: FlowMap, name: string, value: string, last = map.items.at(-1)): string {
  const member = `${word(text, name)}: ${value}`;
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
export function contentEnd(text: string, end: number, value: unknown): number {
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
export function removeMember(text: string, map: FlowMap, member: Member): string {
  return removeItem(text, map.flow ?? false, map.items.map((one) => ({ from: rangeOf(one.key)[0], to: one.value ? endOf(one) : rangeOf(one.key)[1], value: one.value ?? one.key })), map.items.indexOf(member));
}

/** Item is the place of a member or of an item of a list. */
export interface Item {
  from: number;
  to: number;
  value: unknown;
}

/** removeItem removes an item with its lines, the comments in them, and the blank lines above. Comments above stay. */
export function removeItem(text: string, isFlow: boolean, items: Item[], index: number): string {
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

/** dashOf returns the place of the dash before an item of a list in block style. */
export function dashOf(list: YAMLSeq, index: number): number {
  const token = (list.srcToken as CST.BlockSequence).items[index];
  return token?.start.find(({ type }) => type === "seq-item-ind")?.offset ?? rangeOf(list.items[index])[0];
}

/** itemsOf returns the places of the items of a list. */
export const itemsOf = (list: YAMLSeq): Item[] => list.items.map((item, i) => ({ from: list.flow ? rangeOf(item)[0] : dashOf(list, i), to: rangeOf(item)[1], value: item }));
