// Lists of resources, as the API pages and filters them.
import { queryOptions } from "@tanstack/react-query";
import { send } from "./api";
import { type Item, type Noun, permission, valueAt } from "./nouns";
import { may } from "./session";
import { t } from "./texts";

export interface Listing {
  totalResults: number;
  hasMore?: boolean; // a search shows only the first results
  links: { href: string; rel: string }[];
  [plural: string]: unknown;
}

export const pageSize = 30;

export const condition = (member: string, operator: "eq" | "sw", value: string) => `${member} ${operator} ${JSON.stringify(value)}`;

export async function readList(noun: Noun, parameters: URLSearchParams): Promise<Listing> {
  return (await send("GET", `${noun.path}?${parameters}`)).data as Listing;
}

/** hasNames reports whether the API finds the resources of a kind by the start of their names. */
const hasNames = (noun: Noun): boolean => noun.filters.includes("name");

/** most is how many resources are read whose names the API does not search. */
const most = 100;

/** findByName finds resources by words of their names, among the first ones of a kind. */
async function findByName(noun: Noun, text: string): Promise<Item[]> {
  const list = await readList(noun, new URLSearchParams({ limit: String(most) }));
  return (list[noun.plural] as Item[]).filter((item) => noun.label(item).toLowerCase().includes(text.toLowerCase()));
}

/** find returns the first items that a search finds, those that equal the text before those that start with it. */
export async function find(noun: Noun, text: string, limit = pageSize): Promise<Listing> {
  if (text === "") {
    return readList(noun, new URLSearchParams({ limit: String(limit) }));
  }
  const { whole = [], start = [] } = noun.search ?? { start: [hasNames(noun) ? "name" : "handle"] };
  const fits = (member: string) => member !== "handle" || /^[a-z0-9_-]+$/.test(text); // the API rejects what no handle can start with
  const filters = [...whole.map((member) => condition(member, "eq", text)), ...start.filter(fits).map((member) => condition(member, "sw", text))];
  const lists = await Promise.all(filters.map((filter) => readList(noun, new URLSearchParams({ limit: String(limit), filter }))));
  const named = noun.search || hasNames(noun) ? [] : (await findByName(noun, text)).slice(0, limit);
  const found = new Map([...lists.flatMap((list) => list[noun.plural] as Item[]), ...named].map((item) => [item.id, item]));
  const differs = (item: Item) => Number(noun.columns.every((column) => valueAt(item, column).toLowerCase() !== text.toLowerCase()));
  const items = [...found.values()].sort((a, b) => differs(a) - differs(b));
  return { totalResults: found.size, hasMore: lists.some((list) => list.totalResults > limit), links: [], [noun.plural]: items };
}

/** Found is a resource that a search has found. */
export interface Found {
  noun: Noun;
  id: string;
  label: string;
  note: string; // its kind
}

/** findIn finds resources of several kinds. A kind that the user may not read has none. */
export async function findIn(kinds: Noun[], text: string): Promise<Found[]> {
  const lists = await Promise.allSettled(kinds.map(async (noun) => ((await find(noun, text, 10))[noun.plural] as Item[]).map((item) => ({ noun, id: item.id, label: noun.label(item), note: t(noun.one) }))));
  const failed = lists.find((list) => list.status === "rejected");
  if (failed && lists.every((list) => list.status === "rejected")) {
    throw failed.reason;
  }
  return lists.flatMap((list) => (list.status === "fulfilled" ? list.value : []));
}

/** nameQuery reads the name of a resource, once for all places that show it. It fails for a deleted resource, and reads nothing without the permission. */
export const nameQuery = (noun: Noun | undefined, id: string) => queryOptions({
  queryKey: [noun?.path, "name", id], staleTime: 60_000, retry: false,
  enabled: noun !== undefined && id !== "" && may(permission(noun, "read")),
  queryFn: async () => noun?.label((await send("GET", `${noun.path}/${id}`)).data as Item) ?? id,
});
