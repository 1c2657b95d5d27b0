// A form for a value that a JSON Schema describes: text, numbers, choices, lists of text and objects
// have fields; other members are edited as JSON.
import { useId, useState } from "react";
import { Checkbox, CheckboxGroup, FieldError, Input, Label, Text, TextArea, TextField } from "react-aria-components";
import type { Finding, Schema } from "./api";
import { AttributesField } from "./AttributesField";
import { ReferenceField, references } from "./ReferenceField";
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

// Members that only repeat others, or have one possible value.
const repeated = ["clientId", "clientSecret"];
const hidden = ["scope", "responseTypes", "backchannelLogoutSessionRequired"];

const first = ["username", "email", "password", "name", "handle", "type", "status", "description", "attributes"];

/** rank puts the members that matter most first, and the id, which the server chooses, last. */
function rank(schema: Schema, member: string): number {
  if (member === "id") {
    return 99;
  }
  const place = first.indexOf(member);
  return place >= 0 ? place : schema.required?.includes(member) ? first.length : first.length + 1;
}

/** shownMembers returns the members that have fields, in their order. */
function shownMembers(schema: Schema): [string, Schema][] {
  const isRepeated = (name: string) => repeated.includes(name) && schema.properties?.["inboundAuthConfig"] !== undefined;
  return Object.entries(schema.properties ?? {})
    .filter(([name, member]) => !member.readOnly && !isRepeated(name) && !hidden.includes(name) && !isConstant(schema, name))
    .sort(([a], [b]) => rank(schema, a) - rank(schema, b));
}

/** isConstant reports whether the member must have the only value that the schema has for it. */
function isConstant(schema: Schema, name: string): boolean {
  return schema.required?.includes(name) === true && schema.properties?.[name]?.enum?.length === 1;
}

/** below returns the findings at a member and in it, with their paths from there. */
function below(problems: Finding[], name: string): Finding[] {
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

function Field(props: FieldProps) {
  const { schema } = props;
  if (references[props.name]) {
    return <ReferenceField {...props} otherwise={<Line {...props} />} />;
  }
  if (props.name === "schema") {
    return <AttributesField {...props} />;
  }
  if (schema.enum) {
    return <Choice {...props} options={schema.enum} />;
  }
  if (schema.type === "boolean") {
    return <YesNo {...props} />;
  }
  if (schema.type === "string" || schema.type === "integer") {
    return <Line {...props} />;
  }
  if (schema.type === "array" && schema.items?.type === "string") {
    return <Lines {...props} />;
  }
  if (schema.type === "array" && schema.items?.enum) {
    return <Several {...props} options={schema.items.enum} />;
  }
  if (isObject(schema)) {
    return <Group {...props} />;
  }
  if (schema.type === "array" && schema.maxItems === 1 && schema.items && isObject(schema.items)) {
    return <Single {...props} items={schema.items} />;
  }
  return <JSONField {...props} />;
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
      {props.options.map((option) => <Checkbox key={option} value={option}><span className="box" aria-hidden="true" />{option}</Checkbox>)}
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

function Line(props: FieldProps) {
  const isNumber = props.schema.type === "integer";
  const change = (text: string) => props.onChange(text === "" ? undefined : isNumber && /^-?\d+$/.test(text) ? Number(text) : text);
  const long = (props.schema.maxLength ?? 0) > 500;
  return (
    <TextField value={props.value === undefined ? "" : String(props.value)} onChange={change} isInvalid={props.problem !== undefined} isRequired={props.required} validationBehavior="aria">
      <Label><Caption {...props} /></Label>
      {long ? <TextArea rows={2} /> : <Input type={props.schema["x-credential"] ? "password" : "text"} autoComplete={props.schema["x-credential"] ? "new-password" : "off"} inputMode={isNumber ? "numeric" : undefined} />}
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
      <select id={id} value={String(props.value ?? "")} aria-describedby={`${id}-help`} onChange={(event) => props.onChange(event.target.value || undefined)}>
        <option value="">{t("Not set")}</option>
        {props.options.map((option) => <option key={option}>{option}</option>)}
      </select>
      <span id={`${id}-help`} slot="description">{props.problem ?? props.schema.description}</span>
    </div>
  );
}

function YesNo(props: FieldProps) {
  return (
    <div className="field">
      <Checkbox isSelected={props.value === true} isIndeterminate={props.value === undefined} onChange={props.onChange}>
        <span className="box" aria-hidden="true" />
        <Caption {...props} />
      </Checkbox>
      <span slot="description">{props.problem ?? props.schema.description}</span>
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
