// The pages of the console in their groups, as far as the permissions of the signed-in user allow them.
import { type Noun, nouns, permission } from "./nouns";
import type { IconName } from "./parts/Icon";
import { may } from "./session";

/** Destination is a page of the sidebar. */
export interface Destination {
  path: string;
  title: string;
  icon: IconName;
  key?: string; // the letter that follows g
}

/** Group is a part of the sidebar; the first one has no title. */
export interface Group {
  title: string;
  pages: Destination[];
}

const keys: Record<string, string> = { "/applications": "a", "/flows": "f", "/users": "u", "/groups": "g", "/roles": "r" };

const readable = (...paths: string[]): Destination[] => paths
  .map((path) => nouns.find((noun) => noun.path === path) as Noun)
  .filter((noun) => may(permission(noun, "read")))
  .map(({ path, title, icon }) => ({ path, title, icon, ...(keys[path] && { key: keys[path] }) }));

const operate = (): Destination[] => [
  ...(may("system:audit:read") ? [{ path: "/audit", title: "Audit log", icon: "scroll-text", key: "l" } as const] : []),
  ...(may("system") ? [{ path: "/signing-keys", title: "Signing keys", icon: "key-round" }, { path: "/configuration", title: "Configuration", icon: "settings" }] as const : []),
];

/** groups returns the groups that have pages. */
export const groups = (): Group[] => [
  { title: "", pages: [{ path: "/", title: "Overview", icon: "house", key: "o" } as const] },
  { title: "Build", pages: readable("/applications", "/flows", "/identity-providers") },
  { title: "People", pages: readable("/users", "/groups", "/organization-units", "/user-types") },
  { title: "Access", pages: readable("/roles", "/resource-servers") },
  { title: "Operate", pages: operate() },
].filter(({ pages }) => pages.length > 0);

/** destinations returns all pages of the sidebar. */
export const destinations = (): Destination[] => groups().flatMap(({ pages }) => pages);
