// What a change of a value means, in words: before it is stored, the user reads what it does. The schema has
// the names; values of secrets are never shown.
import type { Schema } from "./api";
import { t } from "./texts";

type Value = Record<string, unknown>;

const isObject = (value: unknown): value is Value => typeof value === "object" && value !== null && !Array.isArray(value);

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every((item) => typeof item === "string");

/** longest is how long a value may be that is shown. */
const longest = 60;

/** describeChanges returns a text for each difference. Members that stand in others have the names of both. */
export function describeChanges(schema: Schema, before: Value, after: Value, above = ""): string[] {
  const order = (name: string) => schema.properties?.[name]?.["x-order"] ?? Infinity;
  const names = [...new Set([...Object.keys(schema.properties ?? {}), ...Object.keys(before), ...Object.keys(after)])].sort((a, b) => order(a) - order(b) || 0);
  return names.filter((name) => !same(before[name], after[name])).flatMap((name) => {
    const member = schema.properties?.[name] ?? {};
    const title = `${above}${member.title ?? name}`;
    return describe(member, title, before[name], after[name]);
  });
}

function describe(schema: Schema, title: string, before: unknown, after: unknown): string[] {
  if (schema["x-credential"]) {
    return [t("{name} changed", { name: title })];
  }
  if (schema.properties && [before, after].every((value) => value === undefined || isObject(value))) {
    return describeChanges(schema, (before ?? {}) as Value, (after ?? {}) as Value, `${title} · `);
  }
  if (schema.maxItems === 1 && schema.items?.properties) { // such as inboundAuthConfig: its members stand for themselves
    const [one, other] = [before, after].map((list) => (Array.isArray(list) ? list[0] : undefined) as Value | undefined);
    return describeChanges(schema.items, one ?? {}, other ?? {}, "").map((text) => text.replace(/^config · |^.*? · (?=.)/, ""));
  }
  if ([before, after].every((value) => value === undefined || isTexts(value)) && !(before === undefined && after === undefined)) {
    return describeTexts(schema, title, (before ?? []) as string[], (after ?? []) as string[]);
  }
  const [from, to] = [before, after].map((value) => show(schema, value));
  return [from === undefined || to === undefined ? t("{name} changed", { name: title }) : t("{name}: {before} → {after}", { name: title, before: from, after: to })];
}

function describeTexts(schema: Schema, title: string, before: string[], after: string[]): string[] {
  const label = (value: string) => labelOf(schema.items ?? {}, value);
  const added = after.filter((value) => !before.includes(value)).map((value) => t("{name}: {value} added", { name: title, value: label(value) }));
  const removed = before.filter((value) => !after.includes(value)).map((value) => t("{name}: {value} removed", { name: title, value: label(value) }));
  return added.length + removed.length > 0 ? [...added, ...removed] : [t("{name}: order changed", { name: title })];
}

/** labelOf returns the word for a value of a choice. */
export const labelOf = (schema: Schema, value: string): string => schema["x-labels"]?.[value] ?? value;

/** show returns a value as a text; undefined if it is too long, or means nothing to a reader, such as an id. */
function show(schema: Schema, value: unknown): string | undefined {
  if (value === undefined) {
    return schema.default === undefined ? t("not set") : t("default ({value})", { value: show(schema, schema.default) ?? "" });
  }
  if (typeof value === "boolean") {
    return t(value ? "on" : "off");
  }
  if (typeof schema.field === "object" || typeof value === "object") {
    return undefined;
  }
  const text = schema["x-unit"] === "seconds" && typeof value === "number" ? duration(value) : labelOf(schema, String(value));
  return text.length > longest || text.includes("\n") ? undefined : text;
}

const units: [number, string, string][] = [[86400, "1 day", "{n} days"], [3600, "1 hour", "{n} hours"], [60, "1 minute", "{n} minutes"], [1, "1 second", "{n} seconds"]];

/** duration writes seconds in the largest unit that needs no fraction. */
export function duration(seconds: number): string {
  const [size, one, many] = units.find(([size]) => seconds >= size && seconds % size === 0) ?? [1, "1 second", "{n} seconds"];
  return seconds === size ? t(one) : t(many, { n: seconds / size });
}

/** withoutSecrets leaves out what the schema calls a credential, also in attributes and lists. */
export function withoutSecrets(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => withoutSecrets(schema.items ?? {}, item));
  }
  if (!isObject(value)) {
    return value;
  }
  const of = (name: string): Schema => schema.properties?.[name] ?? (typeof schema.additionalProperties === "object" ? schema.additionalProperties : {});
  return Object.fromEntries(Object.entries(value).filter(([name]) => !of(name)["x-credential"]).map(([name, member]) => [name, withoutSecrets(of(name), member)]));
}
