// A field for the id of another resource, chosen from a list.
import { useQuery } from "@tanstack/react-query";
import { useId, type ReactNode } from "react";
import { Checkbox, CheckboxGroup, Label } from "react-aria-components";
import { send } from "./api";
import type { Reference } from "./fields";
import type { Item } from "./nouns";
import { Caption, described, Description, type FieldProps } from "./SchemaForm";
import { t } from "./texts";

const most = 100;

/** useReferred reads the resources that a member can refer to. */
function useReferred(reference: Reference): { items: Item[]; isComplete: boolean } {
  const list = useQuery({
    queryKey: [reference.path, "references", reference.filter],
    queryFn: async () => {
      const query = new URLSearchParams({ limit: String(most), ...(reference.filter && { filter: reference.filter }) });
      return (await send("GET", `${reference.path}?${query}`)).data as Record<string, unknown> & { totalResults: number };
    },
  });
  return { items: (list.data?.[reference.plural] ?? []) as Item[], isComplete: !list.error && (list.data?.totalResults ?? 0) <= most };
}

const nameOf = (item: Item) => String(item["name"] ?? item["handle"] ?? item.id);

/** labelsOf returns the names of the items, and what differs between items of the same name. */
const labelsOf = (items: Item[]) => items.map((item) => {
  const isUnique = items.filter((one) => nameOf(one) === nameOf(item)).length === 1;
  return isUnique ? nameOf(item) : `${nameOf(item)} (${String(item["handle"] ?? item["clientId"] ?? item.id)})`;
});

interface Props extends FieldProps {
  reference: Reference;
  otherwise: ReactNode; // a field for the text
}

/** ReferenceField offers the resources; if they cannot all be read, it shows otherwise. */
export function ReferenceField({ reference, otherwise, ...props }: Props) {
  const id = useId();
  const { items, isComplete } = useReferred(reference);
  if (!isComplete) {
    return otherwise;
  }
  const valueOf = (item: Item) => String(item[reference.value ?? "id"]);
  const labels = labelsOf(items);
  const standard = items.find((item) => reference.standard !== undefined && item["handle"] === reference.standard);
  const value = String(props.value ?? (standard ? valueOf(standard) : ""));
  const isKnown = value === "" || items.some((item) => valueOf(item) === value);
  return (
    <div className="field">
      <label htmlFor={id}><Caption {...props} /></label>
      <select id={id} value={value} {...described(props, id)} onChange={(event) => props.onChange(event.target.value || undefined)}>
        {!standard && <option value="">{t(props.required ? "Not set" : reference.absent ?? "Default")}</option>}
        {!isKnown && <option>{value}</option>}
        {items.map((item, i) => <option key={item.id} value={valueOf(item)}>{labels[i]}</option>)}
      </select>
      <Description {...props} id={id} />
    </div>
  );
}

/** ReferencesField offers the resources for a list of them. */
export function ReferencesField({ reference, otherwise, ...props }: Props) {
  const id = useId();
  const { items, isComplete } = useReferred(reference);
  const chosen = Array.isArray(props.value) ? props.value.map(String) : [];
  const values = items.map((item) => String(item[reference.value ?? "id"]));
  const labels = labelsOf(items);
  if (!isComplete || chosen.some((one) => !values.includes(one))) {
    return otherwise;
  }
  return (
    <CheckboxGroup className="field" aria-describedby={`${id}-help`} isInvalid={props.problem !== undefined} validationBehavior="aria" value={chosen} onChange={(list) => props.onChange(list.length > 0 ? list : undefined)}>
      <Label><Caption {...props} /></Label>
      {items.map((item, i) => <Checkbox key={item.id} value={values[i] ?? ""}><span className="box" aria-hidden="true" />{labels[i]}</Checkbox>)}
      <Description {...props} id={id} />
    </CheckboxGroup>
  );
}
