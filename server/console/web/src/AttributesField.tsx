// The attributes of a user type as a table, next to their JSON Schema. What the table does not show of
// an attribute, such as a pattern, is kept.
import { Fragment, useId } from "react";
import { Button } from "react-aria-components";
import { type FieldProps, JSONField } from "./SchemaForm";
import { t } from "./texts";

type Value = Record<string, unknown>;

interface Definition extends Value {
  properties?: Record<string, Value>;
  required?: string[];
}

/** Kind is what an attribute contains. */
interface Kind {
  title: string;
  members: Value;
}

const kinds: Kind[] = [
  { title: "Text", members: { type: "string" } },
  { title: "Email address", members: { type: "string", format: "email" } },
  { title: "Date", members: { type: "string", format: "date" } },
  { title: "Web address", members: { type: "string", format: "uri" } },
  { title: "Choice", members: { type: "string", enum: [] } },
  { title: "Password", members: { type: "string", "x-credential": true } },
  { title: "Yes or no", members: { type: "boolean" } },
  { title: "Whole number", members: { type: "integer" } },
  { title: "Number", members: { type: "number" } },
  { title: "List of texts", members: { type: "array", items: { type: "string" } } },
];

const kindMembers = ["type", "format", "enum", "x-credential", "items"];

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** kindOf returns the kind of an attribute; undefined if the table has none for it. */
function kindOf(attribute: Value): Kind | undefined {
  return kinds.find(({ members }) => kindMembers.every((name) => (name === "enum" ? (name in attribute) === (name in members) : same(attribute[name], members[name]))));
}

const renamed = (map: Record<string, Value>, from: string, to: string) => Object.fromEntries(Object.entries(map).map(([name, value]) => [name === from ? to : name, value]));

const without = (value: Value, ...names: string[]): Value => Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));

/** unused returns a name that no attribute has. */
function unused(properties: Record<string, Value>): string {
  for (let n = 1; ; n++) {
    if (!(`attribute_${n}` in properties)) {
      return `attribute_${n}`;
    }
  }
}

export function AttributesField(props: FieldProps) {
  const definition = (props.value ?? { type: "object", additionalProperties: false, properties: {} }) as Definition;
  const properties = definition.properties ?? {};
  const required = definition.required ?? [];
  const change = (changed: Record<string, Value>, needed = required) => {
    const list = needed.filter((name) => name in changed);
    props.onChange({ ...without(definition, "required"), properties: changed, ...(list.length > 0 && { required: list }) });
  };
  const names = Object.keys(properties);
  const move = (name: string, by: number) => {
    const list = Object.entries(properties);
    const at = names.indexOf(name);
    const [entry] = list.splice(at, 1);
    if (entry) {
      list.splice(at + by, 0, entry);
      change(Object.fromEntries(list));
    }
  };
  return (
    <fieldset className="attributes">
      <legend>{t("Attributes")}</legend>
      <p className="quiet">{t("The server rejects a change that stored users do not satisfy, and names the users.")}</p>
      {names.length > 0 && <div className="scroll">
        <table className="stacked">
          <thead><tr>{["Name", "Displayed as", "Contains", "Required", "Unique"].map((title) => <th key={title} scope="col">{t(title)}</th>)}<td /></tr></thead>
          <tbody>
            {names.map((name, i) => (
              <Attribute
                key={i} name={name} attribute={properties[name] ?? {}} isRequired={required.includes(name)} isFirst={i === 0} isLast={i === names.length - 1}
                onRename={(to) => to in properties || change(renamed(properties, name, to), required.map((one) => (one === name ? to : one)))}
                onChange={(attribute) => change({ ...properties, [name]: attribute })}
                onRequire={(is) => change(properties, is ? [...required, name] : required.filter((one) => one !== name))}
                onMove={(by) => move(name, by)}
                onRemove={() => change(without(properties, name) as Record<string, Value>)}
              />
            ))}
          </tbody>
        </table>
      </div>}
      <div className="actions"><Button onPress={() => change({ ...properties, [unused(properties)]: { type: "string", maxLength: 200 } })}>{t("Add an attribute")}</Button></div>
      <JSONField {...props} />
    </fieldset>
  );
}

interface AttributeProps {
  name: string;
  attribute: Value;
  isRequired: boolean;
  isFirst: boolean;
  isLast: boolean;
  onRename: (to: string) => void;
  onChange: (attribute: Value) => void;
  onRequire: (is: boolean) => void;
  onMove: (by: number) => void;
  onRemove: () => void;
}

function Attribute({ name, attribute, isRequired, isFirst, isLast, onRename, onChange, onRequire, onMove, onRemove }: AttributeProps) {
  const id = useId();
  const kind = kindOf(attribute);
  const label = (text: string) => `${t(text)}: ${name}`;
  const set = (member: string, value: unknown) => onChange(value ? { ...attribute, [member]: value } : without(attribute, member));
  const choose = (title: string) => onChange({ ...without(attribute, ...kindMembers), ...kinds.find((one) => one.title === title)?.members });
  return (
    <Fragment>
      <tr>
        <th scope="row" data-label={t("Name")}><input aria-label={label("Name")} value={name} maxLength={64} spellCheck={false} onChange={(event) => onRename(event.target.value)} /></th>
        <td data-label={t("Displayed as")}><input aria-label={label("Displayed as")} value={String(attribute["title"] ?? "")} maxLength={200} onChange={(event) => set("title", event.target.value)} /></td>
        <td data-label={t("Contains")}>
          <select aria-label={label("Contains")} value={kind?.title ?? ""} onChange={(event) => choose(event.target.value)}>
            {!kind && <option value="">{t("As in the JSON Schema")}</option>}
            {kinds.map(({ title }) => <option key={title} value={title}>{t(title)}</option>)}
          </select>
        </td>
        <td data-label={t("Required")}><input type="checkbox" aria-label={label("Required")} checked={isRequired} onChange={(event) => onRequire(event.target.checked)} /></td>
        <td data-label={t("Unique")}><input type="checkbox" aria-label={label("Unique")} checked={attribute["x-unique"] === true} onChange={(event) => set("x-unique", event.target.checked)} /></td>
        <td className="actions">
          <Button aria-label={label("Move up")} isDisabled={isFirst} onPress={() => onMove(-1)}>↑</Button>
          <Button aria-label={label("Move down")} isDisabled={isLast} onPress={() => onMove(1)}>↓</Button>
          <Button aria-label={label("Remove")} className="danger" onPress={onRemove}>✕</Button>
        </td>
      </tr>
      {Array.isArray(attribute["enum"]) && (
        <tr>
          <td colSpan={6}>
            <label htmlFor={id}>{label("Choices")} <span className="quiet">({t("one per line")})</span></label>
            <textarea id={id} rows={3} value={attribute["enum"].join("\n")} onChange={(event) => onChange({ ...attribute, enum: event.target.value.split("\n") })} />
          </td>
        </tr>
      )}
    </Fragment>
  );
}
