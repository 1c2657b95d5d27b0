// The members of a schema in its groups and sections, wherever in the schema they stand.
import type { Finding, Schema } from "./api";
import type { Value } from "./useEditor";

/** Step is the name of a member, or 0 for the only item of a list. */
type Step = string | 0;

/** Member is a member at a path, and where the form shows it. */
export interface Member {
  path: Step[];
  schema: Schema;
  isRequired: boolean;
  place: string; // a group and a section, such as protocol/redirects
  order: number[];
}

/** isConstant reports whether the member must have the only value that the schema has for it. */
export const isConstant = (schema: Schema, name: string): boolean => schema.required?.includes(name) === true && schema.properties?.[name]?.enum?.length === 1;

/** inner returns the schema of the object that a member is, or of the only item that its list has. */
function inner(schema: Schema): { schema: Schema; steps: Step[] } | undefined {
  const [object, steps]: [Schema | undefined, Step[]] = schema.maxItems === 1 ? [schema.items, [0]] : [schema, []];
  return object?.properties ? { schema: object, steps } : undefined;
}

/** isSpread reports whether a member contains members with groups of their own. */
function isSpread(schema: Schema): boolean {
  return Object.values(inner(schema)?.schema.properties ?? {}).some((member) => member["x-group"] !== undefined || isSpread(member));
}

/** membersOf returns all members that a form shows, in their order. */
export function membersOf(schema: Schema): Member[] {
  return collect(schema, [], "", []).sort((a, b) => compare(a.order, b.order));
}

/** membersIn returns the members of a group. The first group has also those without a group, so that none is lost. */
export function membersIn(schema: Schema, members: Member[], group: string): Member[] {
  const names = (schema["x-groups"] ?? []).map(({ name }) => name);
  return members.filter(({ place }) => {
    const own = place.split("/")[0] ?? "";
    return (names.includes(own) ? own : names[0]) === group;
  });
}

function compare(a: number[], b: number[]): number {
  const at = a.findIndex((one, i) => one !== b[i]);
  return at < 0 ? a.length - b.length : (a[at] ?? 0) - (b[at] ?? -1);
}

function collect(schema: Schema, above: Step[], place: string, order: number[]): Member[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member], i): Member[] => {
    if (member.readOnly || member["x-hidden"] || member.field === "hidden" || isConstant(schema, name)) {
      return [];
    }
    const own = { path: [...above, name], place: member["x-group"] ?? place, order: [...order, member["x-order"] ?? i] };
    const object = isSpread(member) ? inner(member) : undefined;
    return object ? collect(object.schema, [...own.path, ...object.steps], own.place, own.order) : [{ ...own, schema: member, isRequired: schema.required?.includes(name) ?? false }];
  });
}

/** valueAt returns the value at a path. */
export const valueAt = (value: unknown, path: Step[]): unknown => path.reduce((at: unknown, step) => (at as Record<Step, unknown> | undefined)?.[step], value);

/** withValue returns the value with another one at a path; undefined removes it, and the objects around it that then have only what their schemas require. */
export function withValue(schema: Schema, value: unknown, path: Step[], changed: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) {
    return changed;
  }
  if (step === 0) {
    const items = schema.items ?? {};
    const item = withValue(items, (value as unknown[] | undefined)?.[0] ?? {}, rest, changed) as Value | undefined;
    const constants = constantsOf(items);
    return Object.keys(item ?? {}).every((name) => name in constants) ? undefined : [{ ...constants, ...item }];
  }
  const { [step]: before, ...others } = (value ?? {}) as Value;
  const after = withValue(schema.properties?.[step] ?? {}, before, rest, changed);
  const now = after === undefined ? others : { ...(value as Value | undefined), [step]: after };
  return Object.keys(now).length > 0 ? now : undefined;
}

const constantsOf = (schema: Schema): Value => Object.fromEntries(Object.keys(schema.properties ?? {}).filter((name) => isConstant(schema, name)).map((name) => [name, schema.properties?.[name]?.enum?.[0]]));

/** pathText writes a path as findings of the server have it. */
export const pathText = (path: Step[]): string => path.map((step, i) => (step === 0 ? "[0]" : i === 0 ? step : `.${step}`)).join("");

/** isAt reports whether a finding is about a member. */
export const isAt = (finding: Finding, member: Member): boolean => {
  const path = pathText(member.path);
  return finding.path === path || finding.path.startsWith(`${path}.`) || finding.path.startsWith(`${path}[`);
};
