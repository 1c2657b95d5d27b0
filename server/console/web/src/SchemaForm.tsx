// A form for a value that a JSON Schema describes: text, numbers, choices, lists and objects have fields.
// A value that does not fit its field is edited as JSON.
import { useId, useState } from "react";
import { Checkbox, CheckboxGroup, FieldError, Input, Label, Radio, RadioGroup, Text, TextArea, TextField } from "react-aria-components";
import type { Finding, Schema } from "./api";
import { AttributesField } from "./AttributesField";
import { duration, labelOf } from "./changes";
import type { SpecialField } from "./fields";
import { isConstant } from "./grouping";
import { ItemsField, MapField } from "./ListFields";
import { PermissionsField, PrincipalsField } from "./PrincipalsField";
import { ReferenceField, ReferencesField } from "./ReferenceField";
import { t } from "./texts";

type Value = Record<string, unknown>;

export interface FieldProps {
  name: string;
  schema: Schema;
  value: unknown;
  required: boolean;
  problem: string | undefined;
  problems: Finding[]; // with paths below this member
  onChange: (value: unknown) => void;
}

// Members that only repeat others.
const repeated = ["clientId", "clientSecret"];

const first = ["username", "email", "password", "name", "handle", "type", "status", "description", "attributes"];

/** rank puts the members that matter most first, and the id, which the server chooses, last. */
function rank(schema: Schema, member: string): number {
  if (member === "id") {
    return 99;
  }
  const place = first.indexOf(member);
  return place >= 0 ? place : schema.required?.includes(member) ? first.length : first.length + 1;
}

/** subjectOf returns the member that a member is about: phone_number for phone_number_verified. */
function subjectOf(schema: Schema, member: string): string {
  const subject = member.replace(/_verified$/, "");
  return schema.properties?.[subject] ? subject : member;
}

/** shownMembers returns the members that have fields, in their order. */
function shownMembers(schema: Schema): [string, Schema][] {
  const isRepeated = (name: string) => repeated.includes(name) && schema.properties?.["inboundAuthConfig"] !== undefined;
  const entries = Object.entries(schema.properties ?? {});
  const place = (name: string) => entries.findIndex(([other]) => other === subjectOf(schema, name));
  return entries
    .filter(([name, member]) => !member.readOnly && !member["x-hidden"] && !isRepeated(name) && member.field !== "hidden" && !isConstant(schema, name))
    .sort(([a], [b]) => rank(schema, subjectOf(schema, a)) - rank(schema, subjectOf(schema, b)) || place(a) - place(b));
}

/** below returns the findings at a member and in it, with their paths from there. */
export function below(problems: Finding[], name: string): Finding[] {
  return problems
    .filter((p) => p.path === name || p.path.startsWith(`${name}.`) || p.path.startsWith(`${name}[`))
    .map((p) => ({ ...p, path: p.path.slice(name.length).replace(/^\./, "") }));
}

export function SchemaForm({ schema, value, problems, onChange }: { schema: Schema; value: Value; problems: Finding[]; onChange: (value: Value) => void }) {
  return (
    <div className="fields">
      {shownMembers(schema).map(([name, member]) => {
        const found = below(problems, name);
        return (
          <Field
            key={name}
            name={name}
            schema={member}
            value={value[name]}
            required={schema.required?.includes(name) ?? false}
            problem={found.map((p) => p.message).join("; ") || undefined}
            problems={found}
            onChange={(changed) => {
              const { [name]: _, ...others } = value;
              onChange(changed === undefined ? others : { ...others, [name]: changed });
            }}
          />
        );
      })}
    </div>
  );
}

const isMap = (value: unknown): value is Value => typeof value === "object" && value !== null && !Array.isArray(value);

/** isLine reports whether a value is a text that a list with one text per line can show. */
const isLine = (value: unknown) => typeof value === "string" && value !== "" && value === value.trim() && !value.includes("\n");

/** fits reports whether a field for the schema can show a value. */
function fits(schema: Schema, value: unknown): boolean {
  if (value === undefined) {
    return true;
  }
  switch (schema.type) {
    case "boolean":
      return typeof value === "boolean";
    case "integer":
    case "number":
      return typeof value === "number" || typeof value === "string"; // text while it is typed
    case "object":
      return isMap(value);
    case "array":
      return Array.isArray(value) && (schema.items?.type !== "string" || value.every(isLine)) && (!schema.items?.enum || value.every((item) => schema.items?.enum?.includes(item as string)));
    default:
      return typeof value === "string";
  }
}

export function Field(props: FieldProps) {
  const { schema } = props;
  if (!fits(schema, props.value)) {
    return <JSONField {...props} />;
  }
  return schema.field ? <Special {...props} field={schema.field} /> : <Plain {...props} />;
}

function Special({ field, ...props }: FieldProps & { field: SpecialField }) {
  switch (field) {
    case "attributes":
      return <AttributesField {...props} />;
    case "principals":
      return <PrincipalsField {...props} />;
    case "permissions":
      return <PermissionsField {...props} otherwise={<Plain {...props} />} />;
    case "listOrNone":
      return <ListOrNone {...props} />;
    case "color":
      return <Color {...props} />;
    case "hidden":
      return null;
  }
  if ("options" in field) {
    return <Choice {...props} options={field.options} />;
  }
  const Offer = props.schema.type === "array" ? ReferencesField : ReferenceField;
  return <Offer {...props} reference={field.refersTo} otherwise={<Plain {...props} />} />;
}

/** ListOrNone edits a list whose absence differs from an empty list. */
function ListOrNone(props: FieldProps) {
  const isEmpty = Array.isArray(props.value) && props.value.length === 0;
  return (
    <div className="fields">
      {!isEmpty && <Plain {...props} />}
      <Checkbox isSelected={isEmpty} onChange={(is) => props.onChange(is ? [] : undefined)}>
        <span className="box" aria-hidden="true" />
        {t("{name}: empty list", { name: props.schema.title ?? props.name })}
      </Checkbox>
    </div>
  );
}

/** hasRoom reports whether all choices have room side by side. */
const hasRoom = (schema: Schema): boolean => schema["x-labels"] !== undefined && ["default: ", ...(schema.enum ?? [])].reduce((sum, value) => sum + labelOf(schema, value).length + 4, 0) <= 56;

function Plain(props: FieldProps) {
  const { schema } = props;
  if (schema.enum) {
    return hasRoom(schema) ? <Segments {...props} options={schema.enum} /> : <Choice {...props} options={schema.enum} />;
  }
  if (schema["x-unit"] === "seconds") {
    return <Duration {...props} />;
  }
  if (schema.type === "boolean") {
    return <YesNo {...props} />;
  }
  if (schema.type === "string" || schema.type === "integer" || schema.type === "number") {
    return <Line {...props} />;
  }
  if (schema.type === "array" && schema.items) {
    return <List {...props} items={schema.items} />;
  }
  if (isObject(schema)) {
    return <Group {...props} />;
  }
  if (schema.type === "object" && typeof schema.additionalProperties === "object") {
    return <MapField {...props} values={schema.additionalProperties} />;
  }
  return <JSONField {...props} />;
}

function List({ items, ...props }: FieldProps & { items: Schema }) {
  if (items.type === "string") {
    return <Lines {...props} />;
  }
  if (items.enum) {
    return <Several {...props} options={items.enum} />;
  }
  if (!isObject(items)) {
    return <JSONField {...props} />;
  }
  return props.schema.maxItems === 1 ? <Single {...props} items={items} /> : <ItemsField {...props} items={items} />;
}

/** isObject reports whether the schema lists all members that its objects may have. */
function isObject(schema: Schema): boolean {
  return schema.type === "object" && schema.additionalProperties === false && schema.properties !== undefined;
}

/** Group edits an object, with a field for each member. */
function Group(props: FieldProps) {
  const { schema } = props;
  const shown = shownMembers(schema).map(([name]) => name);
  const others = props.problems.filter((p) => !shown.includes(p.path.split(/[.[]/)[0] ?? ""));
  return (
    <fieldset>
      <legend><Caption {...props} /></legend>
      {schema.description && <p className="quiet">{schema.description}</p>}
      {others.length > 0 && <p className="problem" role="alert">{others.map((p) => p.message).join("; ")}</p>}
      <SchemaForm schema={schema} value={(props.value ?? {}) as Value} problems={props.problems} onChange={(value) => props.onChange(Object.keys(value).length > 0 ? value : undefined)} />
    </fieldset>
  );
}

/** Single edits a list of at most one object. */
function Single({ items, ...props }: FieldProps & { items: Schema }) {
  const constants = Object.fromEntries(Object.keys(items.properties ?? {}).filter((name) => isConstant(items, name)).map((name) => [name, items.properties?.[name]?.enum?.[0]]));
  const change = (value: unknown) => {
    const item = { ...constants, ...(value as Value | undefined) };
    props.onChange(Object.keys(item).length > Object.keys(constants).length ? [item] : undefined);
  };
  const schema = { ...items, title: props.schema.title ?? props.name, description: props.schema.description ?? "" };
  return <Group {...props} schema={schema} value={Array.isArray(props.value) ? props.value[0] : undefined} problems={below(props.problems, "[0]").concat(props.problems.filter((p) => !p.path.startsWith("[0]")))} onChange={change} />;
}

/** Several edits a list of choices. */
function Several(props: FieldProps & { options: string[] }) {
  return (
    <CheckboxGroup className="field" value={Array.isArray(props.value) ? props.value as string[] : []} onChange={(chosen) => props.onChange(chosen.length > 0 ? chosen : undefined)} isInvalid={props.problem !== undefined} validationBehavior="aria">
      <Label><Caption {...props} /></Label>
      <div className="boxes">{props.options.map((option) => <Checkbox key={option} value={option}><span className="box" aria-hidden="true" />{labelOf(props.schema.items ?? {}, option)}</Checkbox>)}</div>
      <Help {...props} />
      <FieldError>{props.problem}</FieldError>
    </CheckboxGroup>
  );
}

export function Caption({ name, schema, required }: FieldProps) {
  return <>{schema.title ?? name}{required && <>{" "}<span className="quiet">({t("required")})</span></>}</>;
}

function Help({ schema }: FieldProps) {
  return schema.description ? <Text slot="description">{schema.description}</Text> : null;
}

// Members with texts of several sentences.
const paragraphs = ["text"];

function Line(props: FieldProps) {
  const { schema, value } = props;
  const isNumber = schema.type !== "string";
  const change = (text: string) => props.onChange(text === "" ? undefined : isNumber && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text);
  const isOneLine = schema.pattern !== undefined || schema.format !== undefined || /ur[il]$/i.test(props.name); // an address or a secret
  const long = (!isOneLine && (schema.maxLength ?? 0) > 500) || paragraphs.includes(props.name) || String(value ?? "").includes("\n");
  const hint = schema.default === undefined ? "" : String(schema.default);
  return (
    <TextField value={value === undefined ? "" : String(value)} type={schema["x-credential"] ? "password" : "text"} onChange={change} isInvalid={props.problem !== undefined} isRequired={props.required} validationBehavior="aria">
      <Label><Caption {...props} /></Label>
      {long ? <TextArea rows={2} placeholder={hint} /> : <Input inputMode={isNumber ? "decimal" : undefined} placeholder={hint} autoComplete={schema["x-credential"] ? "new-password" : "off"} />}
      <Help {...props} />
      <FieldError>{props.problem}</FieldError>
    </TextField>
  );
}

function Lines(props: FieldProps) {
  const lines = Array.isArray(props.value) ? props.value.join("\n") : "";
  const [text, setText] = useState(lines);
  const parse = (changed: string) => changed.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const shown = parse(text).join("\n") === lines ? text : lines;
  return (
    <TextField value={shown} isInvalid={props.problem !== undefined} validationBehavior="aria" onChange={(changed) => {
      setText(changed);
      const list = parse(changed);
      props.onChange(list.length > 0 ? list : undefined);
    }}>
      <Label><Caption {...props} />{" "}<span className="quiet">({t("one per line")})</span></Label>
      <TextArea rows={Math.min(8, Math.max(2, shown.split("\n").length))} />
      <Help {...props} />
      <FieldError>{props.problem}</FieldError>
    </TextField>
  );
}

function Choice(props: FieldProps & { options: string[] }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}><Caption {...props} /></label>
      <select id={id} value={String(props.value ?? "")} {...described(props, id)} onChange={(event) => props.onChange(event.target.value || undefined)}>
        <option value="">{props.schema.default === undefined ? t("Not set") : t("Default: {value}", { value: labelOf(props.schema, String(props.schema.default)) })}</option>
        {props.value !== undefined && !props.options.includes(String(props.value)) && <option>{String(props.value)}</option>}
        {props.options.map((option) => <option key={option} value={option}>{labelOf(props.schema, option)}</option>)}
      </select>
      <Description {...props} id={id} />
    </div>
  );
}

/** Segments offers few choices side by side. */
function Segments(props: FieldProps & { options: string[] }) {
  const id = useId();
  const { schema } = props;
  const choose = (chosen: string) => props.onChange(chosen === "" ? undefined : chosen);
  return (
    <div className="field" role="group" aria-labelledby={`${id}-label`}>
      <span className="react-aria-Label" id={`${id}-label`}><Caption {...props} /></span>
      <RadioGroup className="segments" orientation="horizontal" aria-labelledby={`${id}-label`} aria-describedby={`${id}-help`} value={String(props.value ?? "")} onChange={choose} isInvalid={props.problem !== undefined} validationBehavior="aria">
        {!props.required && <Radio value="">{schema.default === undefined ? t("Not set") : t("Default: {value}", { value: labelOf(schema, String(schema.default)) })}</Radio>}
        {props.options.map((option) => <Radio key={option} value={option}>{labelOf(schema, option)}</Radio>)}
      </RadioGroup>
      <Description {...props} id={id} />
    </div>
  );
}

/** Color edits a CSS color as text, or with the picker of the browser, which knows only opaque ones. */
function Color(props: FieldProps) {
  const id = useId();
  const written = String(props.value ?? "");
  return (
    <div className="field">
      <label htmlFor={id}><Caption {...props} /></label>
      <div className="row">
        <input type="color" aria-label={t("{name}: choose", { name: props.schema.title ?? props.name })} value={/^#[0-9a-f]{6}$/i.test(written) ? written : "#1c6b52"} onChange={(event) => props.onChange(event.target.value)} />
        <input id={id} className="grow code" autoComplete="off" spellCheck={false} placeholder="#1c6b52" maxLength={props.schema.maxLength} value={written} {...described(props, id)} onChange={(event) => props.onChange(event.target.value || undefined)} />
      </div>
      <Description {...props} id={id} />
    </div>
  );
}

const units: [number, string][] = [[1, "seconds"], [60, "minutes"], [3600, "hours"], [86400, "days"]];

/** unitOf returns the largest unit that needs no fraction. */
const unitOf = (seconds: unknown): number => (typeof seconds === "number" && seconds > 0 ? units.findLast(([size]) => seconds % size === 0)?.[0] ?? 1 : 1);

/** Duration edits a number of seconds in a unit. */
function Duration(props: FieldProps) {
  const id = useId();
  const { schema, value } = props;
  const [unit, setUnit] = useState(() => unitOf(value ?? schema.default));
  const size = typeof value === "number" && value % unit !== 0 ? 1 : unit;
  const name = schema.title ?? props.name;
  const change = (text: string, by: number) => props.onChange(text === "" ? undefined : /^\d+(\.\d+)?$/.test(text) ? Math.round(Number(text) * by) : text);
  const amount = typeof value === "number" ? String(value / size) : String(value ?? "");
  return (
    <div className="field">
      <label htmlFor={id}><Caption {...props} /></label>
      <div className="row">
        <input id={id} className="amount" inputMode="decimal" autoComplete="off" value={amount} placeholder={schema.default === undefined ? t("default") : duration(Number(schema.default))} {...described(props, id)} onChange={(event) => change(event.target.value, size)} />
        <select aria-label={t("{name}: unit", { name })} value={size} onChange={(event) => { setUnit(Number(event.target.value)); change(amount, Number(event.target.value)); }}>
          {units.map(([seconds, word]) => <option key={word} value={seconds}>{t(word)}</option>)}
        </select>
      </div>
      <Description {...props} id={id} />
    </div>
  );
}

/** described ties a field with the id to its description, which names its error instead if there is one. */
export function described({ required, problem, schema }: FieldProps, id: string) {
  return { "aria-required": required, "aria-invalid": problem !== undefined, ...((problem ?? schema.description) && { "aria-describedby": `${id}-help` }) };
}

/** Description is the text of described. */
export function Description({ problem, schema, id }: FieldProps & { id: string }) {
  return <span id={`${id}-help`} slot="description" className={problem === undefined ? "" : "problem"}>{problem ?? schema.description}</span>;
}

/** YesNo edits a boolean; that of the default is not written. */
function YesNo(props: FieldProps) {
  const id = useId();
  const normal = props.schema.default;
  return (
    <div className="field">
      <Checkbox aria-describedby={`${id}-help`} isInvalid={props.problem !== undefined} validationBehavior="aria" isSelected={(props.value ?? normal) === true} isIndeterminate={props.value === undefined && normal === undefined} onChange={(is) => props.onChange(is === normal ? undefined : is)}>
        <span className="box" aria-hidden="true" />
        <Caption {...props} />
      </Checkbox>
      <Description {...props} id={id} />
    </div>
  );
}

/** JSONField edits any value as JSON text; a text that is none stays in the field with its fault. */
export function JSONField(props: FieldProps & { rows?: number }) {
  const written = props.value === undefined ? "" : JSON.stringify(props.value, null, 2);
  const [draft, setDraft] = useState({ of: written, text: written, fault: "" });
  const shown = draft.of === written ? draft : { of: written, text: written, fault: "" };
  const fault = shown.fault || props.problem;
  return (
    <TextField value={shown.text} isInvalid={fault !== undefined} isRequired={props.required} validationBehavior="aria" onChange={(text) => {
      try {
        const value: unknown = text.trim() === "" ? undefined : JSON.parse(text);
        setDraft({ of: value === undefined ? "" : JSON.stringify(value, null, 2), text, fault: "" });
        props.onChange(value);
      } catch (error) {
        setDraft({ of: written, text, fault: t("Not a JSON value: {why}", { why: error instanceof Error ? error.message : String(error) }) });
      }
    }}>
      <Label><Caption {...props} /></Label>
      <TextArea className="code" spellCheck="false" rows={props.rows ?? Math.min(16, Math.max(3, shown.text.split("\n").length))} />
      <Help {...props} />
      <FieldError>{fault}</FieldError>
    </TextField>
  );
}
