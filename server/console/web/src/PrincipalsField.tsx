// The members of a group or the assignments of a role, and the permissions of a role: chosen by a search.
import { useQueries, useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Button } from "react-aria-components";
import { Link } from "react-router";
import { send } from "./api";
import { Choose, type Choice } from "./Choose";
import { findIn, nameQuery } from "./listing";
import { type Noun, nouns } from "./nouns";
import { Caption, type FieldProps } from "./SchemaForm";
import { t } from "./texts";

interface Principal {
  type: string;
  id: string;
}

const nounOf = (type: string): Noun | undefined => nouns.find((noun) => noun.path === `/${type}s`);

const keyOf = ({ type, id }: Principal) => `${type} ${id}`;

/** searchIn finds principals of the types. */
async function searchIn(types: string[], text: string): Promise<Choice[]> {
  const found = await findIn(types.flatMap((type) => nounOf(type) ?? []), text);
  return found.map(({ noun, id, label, note }) => ({ id: keyOf({ type: noun.path.slice(1, -1), id }), label, note }));
}

/** pageSize is how many principals are shown at first; the name of each takes a request. */
const pageSize = 20;

export function PrincipalsField(props: FieldProps) {
  const [shown, setShown] = useState(pageSize);
  const list = (Array.isArray(props.value) ? props.value : []) as Principal[];
  const types = props.schema.items?.properties?.["type"]?.enum ?? [];
  const change = (changed: Principal[]) => props.onChange(changed.length > 0 ? changed : undefined);
  const visible = list.slice(0, shown);
  const names = useQueries({
    queries: visible.map(({ type, id }) => nameQuery(nounOf(type), id)),
  });
  return (
    <fieldset className="items">
      <legend><Caption {...props} /></legend>
      <p className="quiet">{props.schema.description}</p>
      {props.problem && <p className="problem" role="alert">{props.problem}</p>}
      {list.length === 0 && <p className="quiet">{t("No one is added yet. Search below to add the first.")}</p>}
      <ul className="parts">
        {visible.map((one, i) => {
          const name = names[i]?.data ?? one.id;
          return (
            <li key={keyOf(one)}>
              <span><Link to={`${nounOf(one.type)?.path}/${one.id}`}>{name}</Link> <span className="quiet">{t(nounOf(one.type)?.one ?? one.type)}</span></span>
              <Button aria-label={`${t("Remove")}: ${name}`} className="danger" onPress={() => change(list.filter((other) => keyOf(other) !== keyOf(one)))}>✕</Button>
            </li>
          );
        })}
      </ul>
      {list.length > shown && <div className="actions"><span className="quiet">{t("{n} in total", { n: list.length })}</span> <Button onPress={() => setShown(shown + pageSize)}>{t("Show more")}</Button></div>}
      <Choose
        label={t("Add: {what}", { what: props.schema.title ?? props.name })} help={t("Type the start of a name, username or email address.")} search={(text) => searchIn(types, text)}
        onChoose={({ id: key }) => list.some((one) => keyOf(one) === key) || change([...list, { type: key.split(" ")[0] ?? "", id: key.split(" ")[1] ?? "" }])}
      />
    </fieldset>
  );
}

/** mostServers limits the resource servers whose permissions are offered. */
const mostServers = 100;

/** PermissionsField offers the permissions of the resource servers next to the text. */
export function PermissionsField({ otherwise, ...props }: FieldProps & { otherwise: ReactNode }) {
  const read = useQuery({ queryKey: ["/resource-servers", "permissions"], queryFn: async () => (await send("GET", `/resource-servers?limit=${mostServers}`)).data as { resourceServers: { name: string; permissions: string[] }[] } });
  const all = read.data?.resourceServers.flatMap(({ name, permissions }) => permissions.map((permission) => ({ id: permission, label: permission, note: name }))) ?? [];
  const chosen = Array.isArray(props.value) ? props.value.map(String) : [];
  return (
    <>
      {otherwise}
      {all.length > 0 && (
        <Choose
          label={t("Find a permission")} onChoose={({ id }) => props.onChange([...chosen.filter((one) => one !== id), id])}
          search={async (text) => all.filter(({ label, note }) => `${label} ${note}`.toLowerCase().includes(text.toLowerCase())).slice(0, 50)}
        />
      )}
    </>
  );
}
