// The members of schemas that have a field of their own, by the schema and the member, or by the
// member of any schema.
import type { Schema } from "./api";

/** Reference is where the resources are that a member refers to, and the member of them that it has. */
export interface Reference {
  path: string;
  plural: string;
  filter?: string;
  value?: "handle" | "name";
  standard?: string; // the handle of the resource that the server takes if the member is absent
  absent?: "None"; // what an absent member means, if it is not a default of the server
}

/** SpecialField is a field that a schema alone does not describe. */
export type SpecialField = "hidden" | "color" | "listOrNone" | "attributes" | "principals" | "permissions" | { options: string[] } | { refersTo: Reference };

const flows = (flowType: string, more?: Pick<Reference, "value" | "absent">): SpecialField => ({ refersTo: { path: "/flows", plural: "flows", filter: `flowType eq "${flowType}"`, ...more } });

const userTypes: SpecialField = { refersTo: { path: "/user-types", plural: "userTypes", value: "name" } };

const units: Reference = { path: "/organization-units", plural: "organizationUnits" };

const ownUnit: SpecialField = { refersTo: { ...units, standard: "default" } };

export const applications: Reference = { path: "/applications", plural: "applications", absent: "None" };

const special: Record<string, SpecialField> = {
  authFlowId: flows("AUTHENTICATION"),
  registrationFlowId: flows("REGISTRATION"),
  recoveryFlowId: flows("AUTHENTICATION", { absent: "None" }),
  invitationFlowId: flows("AUTHENTICATION", { absent: "None" }),
  addressFlowId: flows("AUTHENTICATION", { absent: "None" }),
  applicationId: { refersTo: applications },
  ouId: ownUnit,
  parentId: { refersTo: { ...units, absent: "None" } },
  allowedUserTypes: userTypes,
  // Members that the page shows elsewhere.
  "UserRequest.status": "hidden",
  "UserRequest.lockedUntil": "hidden",
  "UserRequest.type": userTypes,
  "UserTypeRequest.schema": "attributes",
  "GroupRequest.members": "principals",
  "RoleRequest.assignments": "principals",
  "RoleRequest.permissions": "permissions",
  "prompt.actions.inputs": "listOrNone",
  "flow.flow": flows("SUBFLOW", { value: "handle" }),
  "federated-oidc.provider": { refersTo: { path: "/identity-providers", plural: "identityProviders", value: "handle" } },
  "user-create.type": userTypes,
  "user-create.ouId": ownUnit,
};

/** mostDepth limits schemas that contain themselves. */
const mostDepth = 10;

/** Texts are the texts of the schemas in the language of the user, by the English ones. */
export type Texts = Record<string, string>;

/** translate returns a schema with its texts in the language of the user. */
function translate(schema: Schema, texts: Texts): Schema {
  const say = (text: string) => texts[text] ?? text;
  const { title, description, "x-labels": labels, "x-groups": groups } = schema;
  const sayAll = <T extends { title: string; description?: string }>(one: T): T => ({ ...one, title: say(one.title), ...(one.description !== undefined && { description: say(one.description) }) });
  return {
    ...schema,
    ...(title !== undefined && { title: say(title) }),
    ...(description !== undefined && { description: say(description) }),
    ...(labels && { "x-labels": Object.fromEntries(Object.entries(labels).map(([value, label]) => [value, say(label)])) }),
    ...(groups && { "x-groups": groups.map((group) => ({ ...sayAll(group), ...(group.sections && { sections: group.sections.map(sayAll) }) })) }),
  };
}

/** prepare returns a schema without references, in the language of the user, whose members name their special fields. */
export function prepare(written: Schema, find: (name: string) => Schema | undefined, path: string, texts: Texts = {}, depth = 0): Schema {
  const schema = translate(written, texts);
  if (depth > mostDepth) {
    return schema;
  }
  if (schema.$ref) {
    const { $ref, ...own } = schema;
    return { ...prepare(find($ref.split("/").pop() ?? "") ?? {}, find, path, texts, depth + 1), ...own };
  }
  const member = (name: string, of: Schema): Schema => {
    const field = special[`${path}.${name}`] ?? (isConfiguration(path) ? undefined : special[name]);
    return { ...prepare(of, find, `${path}.${name}`, texts, depth + 1), ...(field && { field }), ...(isSecret(name, of) && { "x-credential": true }) };
  };
  const { properties, items, additionalProperties } = schema;
  return {
    ...schema,
    ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(([name, of]) => [name, member(name, of)])) }),
    ...(items && { items: prepare(items, find, path, texts, depth + 1) }),
    ...(typeof additionalProperties === "object" && { additionalProperties: prepare(additionalProperties, find, path, texts, depth + 1) }),
  };
}

/** isSecret reports whether a member has a secret: no form shows it, and no draft keeps it. */
const isSecret = (name: string, schema: Schema) => schema["x-credential"] === true || schema.writeOnly === true || name === "clientSecret";

/** isConfiguration reports whether a path begins with a kind of nodes, which are written in lower case. */
const isConfiguration = (path: string) => /^[a-z]/.test(path);
