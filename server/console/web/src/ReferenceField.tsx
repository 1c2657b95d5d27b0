// A field for the id of another resource, chosen from a list.
import { useQuery } from "@tanstack/react-query";
import { useId, type ReactNode } from "react";
import { send } from "./api";
import type { Item } from "./nouns";
import { Caption, type FieldProps } from "./SchemaForm";
import { t } from "./texts";

/** Reference is where the resources are that a member refers to. */
interface Reference {
  path: string;
  plural: string;
  filter?: string;
}

const flows = (flowType: string): Reference => ({ path: "/flows", plural: "flows", filter: `flowType eq "${flowType}"` });

export const references: Record<string, Reference> = {
  authFlowId: flows("AUTHENTICATION"),
  registrationFlowId: flows("REGISTRATION"),
  recoveryFlowId: flows("AUTHENTICATION"),
  invitationFlowId: flows("AUTHENTICATION"),
  addressFlowId: flows("AUTHENTICATION"),
  applicationId: { path: "/applications", plural: "applications" },
  ouId: { path: "/organization-units", plural: "organizationUnits" },
};

const most = 100;

/** ReferenceField offers the resources; if they cannot all be read, it shows otherwise, a field for the id. */
export function ReferenceField({ otherwise, ...props }: FieldProps & { otherwise: ReactNode }) {
  const id = useId();
  const reference = references[props.name] ?? { path: "", plural: "" };
  const list = useQuery({
    queryKey: [reference.path, "references", reference.filter],
    queryFn: async () => {
      const query = new URLSearchParams({ limit: String(most), ...(reference.filter && { filter: reference.filter }) });
      return (await send("GET", `${reference.path}?${query}`)).data as Record<string, unknown> & { totalResults: number };
    },
  });
  if (list.error || (list.data && list.data.totalResults > most)) {
    return otherwise;
  }
  const items = (list.data?.[reference.plural] ?? []) as Item[];
  const value = String(props.value ?? "");
  const isKnown = value === "" || items.some((item) => item.id === value);
  return (
    <div className="field">
      <label htmlFor={id}><Caption {...props} /></label>
      <select id={id} value={value} aria-describedby={`${id}-help`} onChange={(event) => props.onChange(event.target.value || undefined)}>
        <option value="">{t("Default")}</option>
        {!isKnown && <option>{value}</option>}
        {items.map((item) => <option key={item.id} value={item.id}>{String(item["name"] ?? item["handle"] ?? item.id)}</option>)}
      </select>
      <span id={`${id}-help`} slot="description">{props.problem ?? props.schema.description}</span>
    </div>
  );
}
