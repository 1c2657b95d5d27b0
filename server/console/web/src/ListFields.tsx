// Fields for lists of objects, where one object is open at a time, and for objects with names that are
// free to choose.
import { useId, useState } from "react";
import { Button } from "react-aria-components";
import type { Schema } from "./api";
import { below, Caption, Field, type FieldProps, JSONField, SchemaForm } from "./SchemaForm";
import { t } from "./texts";

type Value = Record<string, unknown>;

const isObject = (value: unknown): value is Value => typeof value === "object" && value !== null && !Array.isArray(value);

/** summaryOf names an item by its required members, or the first text in it. */
function summaryOf(items: Schema, item: unknown): string {
  if (!isObject(item)) {
    return JSON.stringify(item);
  }
  const needed = (items.required ?? []).map((name) => item[name]);
  const texts = [...needed, ...Object.values(item)].filter((value) => typeof value === "string" && value !== "");
  return [...new Set(texts)].slice(0, Math.max(1, needed.length)).join(" · ") || t("New item");
}

export function ItemsField({ items, ...props }: FieldProps & { items: Schema }) {
  const id = useId();
  const [open, setOpen] = useState<number>();
  const list: unknown[] = Array.isArray(props.value) ? props.value : [];
  const change = (changed: unknown[], opened?: number) => {
    props.onChange(changed.length > 0 ? changed : undefined);
    setOpen(opened);
  };
  const moved = (i: number, by: number) => {
    const changed = [...list];
    [changed[i], changed[i + by]] = [changed[i + by], changed[i]];
    return changed;
  };
  const own = props.problems.filter((p) => !p.path.startsWith("["));
  return (
    <fieldset className="items">
      <legend><Caption {...props} /></legend>
      {props.schema.description && <p className="quiet">{props.schema.description}</p>}
      {own.length > 0 && <p className="problem" role="alert">{own.map((p) => p.message).join("; ")}</p>}
      <ol className="parts">
        {list.map((item, i) => {
          const found = below(props.problems, `[${i}]`);
          const name = summaryOf(items, item);
          return (
            <li key={i}>
              <details open={open === i} onToggle={({ currentTarget }) => setOpen((now) => (currentTarget.open ? i : now === i ? undefined : now))}>
                <summary id={`${id}-${i}`}>{name}{found.length > 0 && <span className="problem"> {t("error")}</span>}</summary>
                {open === i && (
                  <div role="group" aria-labelledby={`${id}-${i}`}>
                    {isObject(item)
                      ? <SchemaForm schema={items} value={item} problems={found} onChange={(value) => props.onChange(list.map((one, n) => (n === i ? value : one)))} />
                      : <JSONField {...props} schema={items} value={item} onChange={(value) => props.onChange(list.map((one, n) => (n === i ? value : one)))} />}
                    <div className="actions">
                      <Button aria-label={`${t("Move up")}: ${name}`} isDisabled={i === 0} onPress={() => change(moved(i, -1), i - 1)}>↑</Button>
                      <Button aria-label={`${t("Move down")}: ${name}`} isDisabled={i === list.length - 1} onPress={() => change(moved(i, 1), i + 1)}>↓</Button>
                      <Button aria-label={`${t("Remove")}: ${name}`} className="danger" onPress={() => change(list.filter((_, n) => n !== i))}>✕</Button>
                    </div>
                  </div>
                )}
              </details>
            </li>
          );
        })}
      </ol>
      <div className="actions"><Button aria-label={`${t("Add")}: ${props.schema.title ?? props.name}`} onPress={() => change([...list, {}], list.length)}>{t("Add")}</Button></div>
    </fieldset>
  );
}

/** unused returns a name that no member has. */
function unused(value: Value): string {
  for (let n = 1; ; n++) {
    if (!(`name_${n}` in value)) {
      return `name_${n}`;
    }
  }
}

export function MapField({ values, ...props }: FieldProps & { values: Schema }) {
  const value = isObject(props.value) ? props.value : {};
  const empty = values.type === "object" ? {} : "";
  const change = (entries: [string, unknown][]) => props.onChange(entries.length > 0 ? Object.fromEntries(entries) : undefined);
  const entries = Object.entries(value);
  const own = props.problems.filter((p) => p.path === "");
  const { description: _, title: __, ...schema } = values;
  return (
    <fieldset className="items">
      <legend><Caption {...props} /></legend>
      {props.schema.description && <p className="quiet">{props.schema.description}</p>}
      {own.length > 0 && <p className="problem" role="alert">{own.map((p) => p.message).join("; ")}</p>}
      {entries.map(([name, member], i) => {
        const found = below(props.problems, name);
        return (
          <div key={i} className="entry">
            <input aria-label={`${t("Name")}: ${name}`} value={name} spellCheck={false} onChange={(event) => event.target.value in value || change(entries.map((entry, n) => (n === i ? [event.target.value, member] : entry)))} />
            <Field name={name} schema={schema} value={member} required={false} problem={found.map((p) => p.message).join("; ") || undefined} problems={found} onChange={(changed) => change(entries.map((entry, n) => (n === i ? [name, changed ?? empty] : entry)))} />
            <Button aria-label={`${t("Remove")}: ${name}`} className="danger" onPress={() => change(entries.filter((_entry, n) => n !== i))}>✕</Button>
          </div>
        );
      })}
      <div className="actions"><Button aria-label={`${t("Add")}: ${props.schema.title ?? props.name}`} onPress={() => change([...entries, [unused(value), empty]])}>{t("Add")}</Button></div>
    </fieldset>
  );
}
