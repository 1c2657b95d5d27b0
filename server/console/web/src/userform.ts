// The form of a user: the attributes have the fields that the user type defines.
import { useQuery } from "@tanstack/react-query";
import { type Schema, send } from "./api";

/** UserType is what the form needs of a user type. */
export interface UserType {
  name: string;
  schema: Schema;
}

/** useUserTypes reads the user types; there are none for a caller who may not read them, or if there are too many. */
export function useUserTypes(enabled: boolean) {
  return useQuery({
    queryKey: ["/user-types", "for users"],
    enabled,
    retry: false,
    queryFn: async () => {
      const { userTypes, totalResults } = await send("GET", "/user-types?limit=100").then(({ data }) => data as { userTypes: UserType[]; totalResults: number });
      return totalResults > userTypes.length ? [] : userTypes;
    },
  });
}

/** withAttributes returns the schema of a user of the type: a choice of the type, and the members of the attributes. */
export function withAttributes(schema: Schema, types: UserType[], type: unknown): Schema {
  const { type: name, attributes, ...others } = schema.properties ?? {};
  const chosen = types.find((one) => one.name === type);
  const { title = "", description = "" } = attributes ?? {};
  return {
    ...schema,
    properties: { type: { ...name, enum: types.map((one) => one.name) }, attributes: chosen ? { ...chosen.schema, title, description } : { ...attributes }, ...others },
  };
}
