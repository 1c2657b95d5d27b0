// The user types, as far as the form of a user depends on them: the schema of a user with the attributes of its user type, and
// the only type.
import { useQuery } from "@tanstack/react-query";
import { type Schema, send } from "./api";
import { prepare } from "./fields";

/** useUserSchema returns the schema with the attributes of the user type; without one, or if it cannot be read, as it is. The attributes are hidden until it is read. */
export function useUserSchema(schema: Schema, userType: string): Schema {
  const read = useQuery({
    queryKey: ["/user-types", "schema", userType],
    enabled: userType !== "",
    queryFn: async () => {
      const filter = `name eq ${JSON.stringify(userType)}`;
      const list = (await send("GET", `/user-types?${new URLSearchParams({ filter })}`)).data as { userTypes: { schema: Schema }[] };
      return list.userTypes[0]?.schema ?? null;
    },
  });
  if (read.isLoading) {
    return { ...schema, properties: { ...schema.properties, attributes: { ...schema.properties?.["attributes"], field: "hidden" } } };
  }
  const attributes = read.data;
  if (userType === "" || !attributes?.properties || attributes.additionalProperties !== false) {
    return schema;
  }
  const fields = prepare(attributes, (name) => attributes.$defs?.[name], "attributes");
  const { title, description, "x-group": group, "x-order": order } = schema.properties?.["attributes"] ?? {};
  const own = { ...(title && { title }), ...(description && { description }), ...(group && { "x-group": group }), ...(order !== undefined && { "x-order": order }) };
  return { ...schema, properties: { ...schema.properties, attributes: { ...fields, ...own } } };
}

/** useOnlyUserType returns the name of the only user type, "" if there are several or the caller may not read them; undefined until that is known. */
export function useOnlyUserType(enabled: boolean): string | undefined {
  const read = useQuery({
    queryKey: ["/user-types", "only"],
    enabled,
    queryFn: async () => {
      const list = (await send("GET", "/user-types?limit=1")).data as { userTypes: { name: string }[]; totalResults: number };
      return list.totalResults === 1 ? list.userTypes[0]?.name ?? "" : "";
    },
  });
  return read.isLoading ? undefined : read.data ?? "";
}
