// A form for a value that a JSON Schema describes: text, numbers, choices and lists of text have
// fields; other members are edited as JSON.
import { useState } from "react";
import { Checkbox, FieldError, Input, Label, Text, TextArea, TextField } from "react-aria-components";
import type { Finding, Schema } from "./api";
import { t } from "./texts";

type Value = Record<string, unknown>;

interface FieldProps {
  name: string;
  schema: Schema;
  value: unknown;
  required: boolean;
  problem: string | undefined;
  onChange: (value: unknown) => void;
}

const first = ["name", "handle", "type", "description", "attributes"];

/** rank puts the members that matter most first, and the id, which the server chooses, last. */
function rank(schema: Schema, member: string): number {
  if (member === "id") {
    return 99;
  }
  const place = first.indexOf(member);
  return place >= 0 ? place : schema.required?.includes(member) ? first.length : first.length + 1;
}

export function SchemaForm({ schema, value, problems, onChange }: { schema: Schema; value: Value; problems: Finding[]; onChange: (value: Value) => void }) {
  const members = Object.entries(schema.properties ?? {}).filter(([, member]) => !member.readOnly).sort(([a], [b]) => rank(schema, a) - rank(schema, b));
  return (
    <div className="fields">
      {members.map(([name, member]) => (
        <Field
          key={name}
          name={name}
          schema={member}
          value={value[name]}
          required={schema.required?.includes(name) ?? false}
          problem={problems.filter((p) => p.path === name || p.path.startsWith(`${name}.`) || p.path.startsWith(`${name}[`)).map((p) => p.message).join("; ") || undefined}
          onChange={(changed) => {
            const { [name]: _, ...others } = value;
            onChange(changed === undefined ? others : { ...others, [name]: changed });
          }}
        />
      ))}
    </div>
  );
}

function Field(props: FieldProps) {
  const { schema } = props;
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
  return <JSONField {...props} />;
}

function Caption({ name, schema, required }: FieldProps) {
  return <>{schema.title ?? name} {required && <span className="quiet">({t("required")})</span>}</>;
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
      {long ? <TextArea rows={2} /> : <Input inputMode={isNumber ? "numeric" : undefined} />}
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
      <Label><Caption {...props} /> <span className="quiet">({t("one per line")})</span></Label>
      <TextArea rows={Math.min(8, Math.max(2, shown.split("\n").length))} />
      <Help {...props} />
      <FieldError>{props.problem}</FieldError>
    </TextField>
  );
}

function Choice(props: FieldProps & { options: string[] }) {
  const id = `field-${props.name}`;
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
