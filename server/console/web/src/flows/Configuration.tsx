// The configuration of a node as a form, made from the schema of its kind. Every change is one of the
// text. What no field shows stays in the text.
import { useMemo, useState } from "react";
import type { Finding, Schema } from "../api";
import { prepare } from "../fields";
import { below, SchemaForm } from "../SchemaForm";
import { t } from "../texts";
import type { Kind } from "./checker";
import type { Config } from "./configure";
import type { FlowNode } from "./graph";
import type { GraphEditorState } from "./GraphEditor";
import { usePart } from "./useFlowCheck";

/** schemaOf returns the schema of a kind for the form, with the values that the system has. */
function schemaOf({ name, with: schema, values }: Kind): Schema | undefined {
  if (!schema?.properties) {
    return undefined;
  }
  const prepared = prepare(schema, (definition) => schema.$defs?.[definition], name);
  const offered = Object.entries(values).map(([member, options]) => [member, { ...prepared.properties?.[member], field: { options } }] as const);
  return { ...prepared, properties: { ...prepared.properties, ...Object.fromEntries(offered) } };
}

export function Configuration({ editor, node, kind, findings }: { editor: GraphEditorState; node: FlowNode; kind: Kind | undefined; findings: Finding[] }) {
  const [own, setOwn] = useState<{ text: string; value: Config }>(); // the graph follows the text later
  const isOwn = usePart(editor.flow, ({ text }) => text === own?.text);
  const schema = useMemo(() => kind && schemaOf(kind), [kind]);
  if (!schema) {
    return kind ? <p className="quiet">{t("Nodes of this kind have no configuration.")}</p> : null;
  }
  const written = node.with ?? {};
  if (typeof written !== "object" || Array.isArray(written)) {
    return <p className="quiet">{t("The configuration is no object. Change it in the text.")}</p>;
  }
  const value = isOwn && own ? own.value : (written as Config);
  const problems = below(findings, `nodes[${node.index}].with`);
  const members = Object.keys(schema.properties ?? {});
  const others = Object.keys(value).filter((name) => !members.includes(name));
  const whole = problems.filter(({ path }) => !members.includes(path.split(/[.[]/)[0] ?? ""));
  return (
    <fieldset className="configuration">
      <legend>{t("Configuration")}</legend>
      {whole.length > 0 && <p className="problem" role="alert">{whole.map(({ message }) => message).join("; ")}</p>}
      <SchemaForm schema={schema} value={value} problems={problems} onChange={(changed) => {
        const text = editor.change({ change: "configure", node: node.id, with: changed });
        if (text !== undefined) {
          setOwn({ text, value: changed });
        }
      }} />
      {others.length > 0 && <p className="quiet">{t("Only in the text: {members}", { members: others.join(", ") })}</p>}
    </fieldset>
  );
}
