// The members of one group of a schema, each section as a card.
import type { Finding, Schema } from "./api";
import { type Member, pathText, valueAt, withValue } from "./grouping";
import { below, Field } from "./SchemaForm";
import type { Value } from "./useEditor";

type Group = NonNullable<Schema["x-groups"]>[number];

interface Props {
  schema: Schema;
  group: Group;
  members: Member[]; // of the group
  value: Value;
  problems: Finding[];
  isDisabled: boolean;
  onChange: (value: Value) => void;
}

export function SectionForm({ schema, group, members, value, problems, isDisabled, onChange }: Props) {
  const sections = [{ name: "", title: group.title }, ...(group.sections ?? [])];
  const known = (name: string) => sections.some((section) => section.name === name);
  return (
    <>
      {sections.map((section) => {
        const own = members.filter(({ place }) => {
          const name = place.split("/")[1] ?? "";
          return (known(name) ? name : "") === section.name;
        });
        const isNamed = own.length === 1 && own[0]?.schema.title === section.title; // by its only member
        return own.length > 0 && (
          <fieldset key={section.name} className="form rows" disabled={isDisabled} aria-label={section.title}>
            {!isNamed && <h2>{section.title}</h2>}
            {"description" in section && section.description && <p>{section.description}</p>}
            <div className="fields">{own.map((member) => <MemberField key={pathText(member.path)} {...{ schema, member, value, problems, onChange }} />)}</div>
          </fieldset>
        );
      })}
    </>
  );
}

function MemberField({ schema, member, value, problems, onChange }: Pick<Props, "schema" | "value" | "problems" | "onChange"> & { member: Member }) {
  const found = below(problems, pathText(member.path));
  return (
    <Field
      name={String(member.path.at(-1))} schema={member.schema} value={valueAt(value, member.path)} required={member.isRequired} problems={found}
      problem={found.map((p) => p.message).join("; ") || undefined} onChange={(changed) => onChange(withValue(schema, value, member.path, changed) as Value ?? {})}
    />
  );
}
