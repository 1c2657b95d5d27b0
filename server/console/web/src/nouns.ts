// The kinds of resources that the console lists and edits.
import type { IconName } from "./parts/Icon";
import { may } from "./session";

export interface Noun {
  path: string; // of the API and, without the slash, of the console's page
  plural: string; // the member with a list
  schema: string; // the name of the schema of a request
  icon: IconName;
  title: string;
  one: string; // the title for a single one
  creation: string; // the title of the form for a new one
  about: string; // what the resources are for; shown while there are none
  label: (item: Item) => string;
  columns: string[];
  filters: string[];
  search?: { label: string; whole: string[]; start: string[] }; // members that equal the text of a search, and those that start with it
}

const titles: Record<string, string> = {
  name: "Name", type: "Type", clientId: "Client id", handle: "Handle", flowType: "Flow type", activeVersion: "Version", username: "Username", email: "Email address",
  status: "Status", description: "Description", permissions: "Permissions", identifier: "Identifier", issuer: "Issuer", ouId: "Organization unit id",
};

/** titleOf returns the title of a member for the head of a column or a filter. */
export function titleOf(member: string): string {
  const name = member.split(".").pop() ?? member;
  return titles[name] ?? name;
}

/** creationPath is the page that creates a resource. */
export const creationPath = (noun: Noun) => `${noun.path}/new${noun.path === "/applications" ? "/template" : ""}`;

/** permission returns the permission that reading or changing the resources of a kind, and their parts, needs. */
export const permission = ({ path }: Pick<Noun, "path">, access: "read" | "write") => `system:${path.slice(1)}:${access}`;

/** mayChange reports whether the signed-in user may change the resources at a path, such as /users, and their parts. Each button that changes one depends on it. */
export const mayChange = (path: string) => may(permission({ path }, "write"));

export type Item = Record<string, unknown> & { id: string };

const text = (value: unknown): string => (typeof value === "string" ? value : "");

const named = (item: Item): string => text(item["name"]) || text(item["handle"]) || item.id;

const userLabel = (item: Item): string => {
  const attributes = (item["attributes"] ?? {}) as Record<string, unknown>;
  return text(attributes["username"]) || text(attributes["email"]) || item.id;
};

export const nouns: Noun[] = [
  { path: "/applications", plural: "applications", icon: "layout-grid", schema: "ApplicationRequest", title: "Applications", one: "Application", creation: "Create application", about: "An application signs its users in here, or calls APIs with tokens of this server.", label: named, columns: ["name", "type", "clientId"], filters: ["name", "clientId", "type"] },
  { path: "/flows", plural: "flows", icon: "workflow", schema: "FlowRequest", title: "Flows", one: "Flow", creation: "Create flow", about: "A flow describes the steps of a sign-in, a registration or a recovery.", label: named, columns: ["name", "handle", "flowType", "activeVersion"], filters: ["handle", "flowType"] },
  { path: "/identity-providers", plural: "identityProviders", icon: "link", schema: "IdentityProviderRequest", title: "Identity providers", one: "Identity provider", creation: "Create identity provider", about: "An identity provider lets users sign in with an account that they have elsewhere.", label: named, columns: ["name", "handle", "issuer"], filters: ["handle"] },
  { path: "/users", plural: "users", icon: "user", schema: "UserRequest", title: "Users", one: "User", creation: "Create user", about: "A user signs in to your applications. Users register by themselves, or you create or invite them.", label: userLabel, columns: ["attributes.username", "attributes.email", "type", "status"], filters: ["type", "ouId"], search: { label: "Username, email address or id", whole: ["id"], start: ["username", "email"] } },
  { path: "/groups", plural: "groups", icon: "users", schema: "GroupRequest", title: "Groups", one: "Group", creation: "Create group", about: "A group collects users, so that you give a role to all of them at once.", label: named, columns: ["name", "description"], filters: ["name"] },
  { path: "/organization-units", plural: "organizationUnits", icon: "network", schema: "OrganizationUnitRequest", title: "Organization units", one: "Organization unit", creation: "Create organization unit", about: "An organization unit is a part of your organization, such as a department. Units form a tree, and users belong to a unit.", label: named, columns: ["name", "handle"], filters: ["handle"] },
  { path: "/user-types", plural: "userTypes", icon: "id-card", schema: "UserTypeRequest", title: "User types", one: "User type", creation: "Create user type", about: "A user type defines the attributes of its users, such as a name and an email address.", label: named, columns: ["name", "description"], filters: ["name"] },
  { path: "/roles", plural: "roles", icon: "shield", schema: "RoleRequest", title: "Roles", one: "Role", creation: "Create role", about: "A role collects permissions. Assign it to users, groups or applications.", label: named, columns: ["name", "permissions"], filters: ["name"] },
  { path: "/resource-servers", plural: "resourceServers", icon: "server", schema: "ResourceServerRequest", title: "Resource servers", one: "Resource server", creation: "Create resource server", about: "A resource server is an API that accepts tokens of this server. It defines the permissions that applications request.", label: named, columns: ["name", "handle", "identifier"], filters: ["handle", "identifier"] },
];

/** valueAt returns the member at a path such as attributes.username, as text. */
export function valueAt(item: Item, path: string): string {
  let value: unknown = item;
  for (const member of path.split(".")) {
    value = (value as Record<string, unknown> | undefined)?.[member];
  }
  if (Array.isArray(value)) {
    return value.join(", ");
  }
  return value === undefined || value === null ? "" : String(value);
}
