// Changes of the configuration of a node, its member `with`, as changes of the text: only the values
// that differ are written. The rest stays as it is, byte by byte.
import { isMap, isScalar, isSeq, parse, type Scalar, type YAMLSeq } from "yaml";
import { addMember, contentEnd, dashOf, EditError, find, type FlowMap, isJSON, itemsOf, lineBreak, lineStart, type Member, memberOf, rangeOf, read, removeItem, removeMember, splice, type Text, word } from "./flowtext";

/** Config is the configuration of a node: its member `with`. */
export type Config = Record<string, unknown>;

type Path = (string | number)[];

/** Step is a change of one value. The items of a list are numbered as they are before the step. */
type Step =
  | { step: "set"; path: Path; value: unknown }
  | { step: "insert"; path: Path; value: unknown }
  | { step: "remove"; path: Path }
  | { step: "swap"; path: Path; index: number; other: number };

/** configure returns the text with another configuration of a node; without members it has none. */
export function configure(text: string, id: string, wanted: Config | undefined): string {
  const flow = read(text);
  const node = find(flow, id);
  const before = memberOf(node, "with") ? (node.toJS(flow.document) as Config)["with"] : undefined;
  const after = wanted && Object.keys(wanted).length === 0 && !same(before, wanted) ? undefined : wanted;
  if (same(before, after)) {
    return text;
  }
  const steps: Step[] = after === undefined ? [{ step: "remove", path: ["with"] }] : differences(before, after, ["with"]);
  const changed = steps.reduce((current, step) => apply(read(current), id, step), text);
  if (!same(parse(changed, { logLevel: "silent" }), expected(flow, flow.list.items.indexOf(node), after))) {
    throw new EditError("this change would change more than the value; make it in the text");
  }
  return changed;
}

/** expected returns the definition with another configuration of a node. */
function expected({ document }: Text, index: number, after: Config | undefined): unknown {
  const definition = document.toJS() as { nodes: Config[] };
  const { with: _, ...others } = definition.nodes[index] ?? {};
  return { ...definition, nodes: definition.nodes.map((node, i) => (i === index ? { ...others, ...(after && { with: after }) } : node)) };
}

const isObject = (value: unknown): value is Config => typeof value === "object" && value !== null && !Array.isArray(value);

/** same compares values; the order of members does not matter. */
function same(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, i) => same(item, b[i]));
  }
  if (isObject(a) && isObject(b)) {
    const names = Object.keys(a);
    return names.length === Object.keys(b).length && names.every((name) => name in b && same(a[name], b[name]));
  }
  return Object.is(a, b);
}

/** differences returns the steps from a value to another. None of them empties an object or a list. */
function differences(before: unknown, after: unknown, path: Path): Step[] {
  if (same(before, after)) {
    return [];
  }
  if (isObject(before) && isObject(after) && Object.keys(before).length > 0 && Object.keys(after).length > 0) {
    const steps = Object.entries(after).flatMap(([name, value]): Step[] => (name in before ? differences(before[name], value, [...path, name]) : [{ step: "set", path: [...path, name], value }]));
    return [...steps, ...Object.keys(before).filter((name) => !(name in after)).map((name): Step => ({ step: "remove", path: [...path, name] }))];
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length > 0 && after.length > 0) {
    return listDifferences(before, after, path);
  }
  return [{ step: "set", path, value: after }];
}

function listDifferences(before: unknown[], after: unknown[], path: Path): Step[] {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && same(before[start], after[start])) {
    start++;
  }
  let end = 0;
  while (end < most - start && same(before.at(-1 - end), after.at(-1 - end))) {
    end++;
  }
  const old = before.slice(start, before.length - end);
  const now = after.slice(start, after.length - end);
  const last = old.length - 1;
  if (last > 0 && old.length === now.length && same(old, [now[last], ...now.slice(1, -1), now[0]])) {
    return [{ step: "swap", path, index: start, other: start + last }];
  }
  const shared = Math.min(old.length, now.length);
  const steps = old.slice(0, shared).flatMap((item, i) => differences(item, now[i], [...path, start + i]));
  const added = now.slice(shared).map((value, i): Step => ({ step: "insert", path: [...path, start + shared + i], value }));
  const removed = old.slice(shared).map((_, i): Step => ({ step: "remove", path: [...path, start + old.length - 1 - i] }));
  return [...steps, ...added, ...removed];
}

/** Place is where a value is: in an object or a list, which may be in flow style. */
interface Place {
  owner: FlowMap | YAMLSeq;
  key: string | number;
  inFlow: boolean;
}

const valueAt = (owner: FlowMap | YAMLSeq, key: string | number): unknown => (isSeq(owner) ? owner.items[Number(key)] : memberOf(owner as FlowMap, String(key))?.value);

function locate(flow: Text, id: string, path: Path): Place {
  let owner: FlowMap | YAMLSeq = find(flow, id);
  let inFlow = Boolean(flow.list.flow);
  for (const key of path.slice(0, -1)) {
    inFlow ||= Boolean(owner.flow);
    const value = valueAt(owner, key);
    if (!isMap(value) && !isSeq(value)) {
      throw new EditError(`${path.join(".")} of ${id} refers to a value elsewhere; change it in the text`);
    }
    owner = value as FlowMap | YAMLSeq;
  }
  return { owner, key: path.at(-1) ?? "", inFlow: inFlow || Boolean(owner.flow) };
}

function apply(flow: Text, id: string, step: Step): string {
  const { text } = flow;
  if (step.step === "swap") {
    const { owner } = locate(flow, id, [...step.path, step.index]);
    return swap(text, owner as YAMLSeq, step.index, step.other);
  }
  const { owner, key, inFlow } = locate(flow, id, step.path);
  if (isSeq(owner)) {
    const index = Number(key);
    switch (step.step) {
      case "insert":
        return insertItem(text, owner, index, write(text, step.value, inFlow));
      case "remove":
        return removeItem(text, owner.flow ?? false, itemsOf(owner), index);
      case "set":
        return replaceItem(text, owner.items[index], step.value, inFlow);
    }
  }
  const member = memberOf(owner, String(key));
  if (step.step === "remove") {
    return member ? removeMember(text, owner, member) : text;
  }
  if (member) {
    return replaceMember(text, member, step.value, inFlow);
  }
  const isWith = step.path.length === 1;
  return addMember(text, owner, String(key), write(text, step.value, inFlow), isWith ? memberOf(owner, "use") : undefined);
}

/** write writes a value in flow style. */
function write(text: string, value: unknown, inFlow: boolean, like?: Scalar): string {
  if (Array.isArray(value)) {
    return `[${value.map((item) => write(text, item, true)).join(", ")}]`;
  }
  if (isObject(value)) {
    return `{${Object.entries(value).map(([name, member]) => `${word(text, name)}: ${write(text, member, true)}`).join(", ")}}`;
  }
  return typeof value === "string" ? writeText(text, value, inFlow, like) : JSON.stringify(value);
}

// Characters that are no printable ones of YAML, or line breaks of some of its versions.
const special = /[\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]/;

/** quote writes a string with double quotes, as JSON and YAML read it. */
const quote = (value: string) => JSON.stringify(value).replace(new RegExp(special, "g"), (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

// Texts that are the same without quotes: a letter first, and nothing that ends them or begins a comment.
// The parser of the server does not read ?, & and | in them as letters.
const plain = /^\p{L}[\p{L}\p{N} _!"$%'()*+./;<=>@^~-]*$/u;
const plainInBlock = /^\p{L}(?:[\p{L}\p{N} _!"$%'()*+./;<=>@^~,[\]{}-]|:(?=[\p{L}\p{N}_]))*$/u;

function writeText(text: string, value: string, inFlow: boolean, like?: Scalar): string {
  if (isJSON(text) || like?.type === "QUOTE_DOUBLE") {
    return quote(value);
  }
  if (like?.type === "QUOTE_SINGLE" && !special.test(value)) {
    return `'${value.replaceAll("'", "''")}'`;
  }
  const isPlain = (inFlow ? plain : plainInBlock).test(value) && !value.endsWith(" ") && parse(value, { logLevel: "silent" }) === value && !/^(y|n|yes|no|on|off)$/i.test(value);
  return isPlain ? value : quote(value);
}

const isBlockText = (value: unknown): value is Scalar => isScalar(value) && (value.type === "BLOCK_LITERAL" || value.type === "BLOCK_FOLDED");

const isInBlock = (value: unknown) => (isMap(value) || isSeq(value)) && !value.flow;

/** replaceItem replaces the value of an item, or of a member on the line of its name. */
function replaceItem(text: string, old: unknown, value: unknown, inFlow: boolean): string {
  const [from, to] = rangeOf(old);
  if (isBlockText(old)) {
    return splice(text, from, contentEnd(text, to, old), (typeof value === "string" && lines(text, old, value)) || write(text, value, inFlow));
  }
  return splice(text, from, isInBlock(old) ? contentEnd(text, to, old) : to, write(text, value, inFlow, isScalar(old) ? old : undefined));
}

/** lines writes a text as the lines of a literal in the place of another; undefined if that is not possible. */
function lines(text: string, old: Scalar, value: string): string | undefined {
  const [from, to] = rangeOf(old);
  const [, comment = "", indent = ""] = /^[|>][-+\d]*([^\r\n]*)\r?\n(?:[ \t]*\r?\n)*( *)/.exec(text.slice(from, to)) ?? [];
  const body = value.endsWith("\n") ? value.slice(0, -1) : value;
  if (indent === "" || !/^[^\s]/.test(body) || body.endsWith("\n") || special.test(body.replaceAll("\n", ""))) {
    return undefined;
  }
  const br = lineBreak(text);
  return `|${body === value ? "-" : ""}${comment}${br}${body.split("\n").map((line) => (line === "" ? "" : indent + line)).join(br)}`;
}

function replaceMember(text: string, member: Member, value: unknown, inFlow: boolean): string {
  const end = rangeOf(member.key)[1];
  const colon = end + (/^\s*:/.exec(text.slice(end, end + 100))?.[0].length ?? 0);
  const old = member.value;
  const isEmpty = !old || rangeOf(old)[0] === rangeOf(old)[1];
  if (isEmpty) { // nothing is written after the name
    return splice(text, colon, colon, `${colon === end ? ":" : ""} ${write(text, value, inFlow)}`);
  }
  return isInBlock(old) ? splice(text, colon, contentEnd(text, rangeOf(old)[1], old), ` ${write(text, value, inFlow)}`) : replaceItem(text, old, value, inFlow);
}

function insertItem(text: string, list: YAMLSeq, index: number, item: string): string {
  const before = list.items[index - 1];
  const after = list.items[index];
  const br = lineBreak(text);
  const ownLine = (at: number) => {
    const own = text.slice(lineStart(text, at), at);
    return own.trim() === "" && text.slice(rangeOf(list)[0], at).includes("\n") ? br + own : " ";
  };
  if (list.flow) {
    if (before) {
      const at = rangeOf(before)[1];
      return splice(text, at, at, `,${ownLine(rangeOf(before)[0])}${item}`);
    }
    const at = after ? rangeOf(after)[0] : rangeOf(list)[0] + 1;
    return splice(text, at, at, after ? `${item},${ownLine(at)}` : item);
  }
  const dash = dashOf(list, Math.max(index - 1, 0));
  const indent = " ".repeat(dash - lineStart(text, dash));
  if (!before) {
    return splice(text, dash, dash, `- ${item}${br}${indent}`);
  }
  const at = contentEnd(text, rangeOf(before)[1], before);
  return splice(text, at, at, `${br}${indent}- ${item}`);
}

/** swap exchanges the texts of two items, with the comments on their lines. */
function swap(text: string, list: YAMLSeq, index: number, other: number): string {
  const part = (item: unknown) => {
    const [from, to] = rangeOf(item);
    return { from, to: list.flow ? to : contentEnd(text, to, item) };
  };
  const first = part(list.items[index]);
  const second = part(list.items[other]);
  const moved = splice(text, second.from, second.to, text.slice(first.from, first.to));
  return splice(moved, first.from, first.to, text.slice(second.from, second.to));
}
