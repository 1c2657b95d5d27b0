// Changes of the graph with forms, which the keyboard and screen readers use as well as the pointer.
// Every change is one of the text, so that the text, the graph and the proof are always one document.
import { useEffect, useState } from "react";
import { Button } from "react-aria-components";
import type { Finding } from "../api";
import { t } from "../texts";
import { call, type Kind, type Parts } from "./checker";
import { Configuration } from "./Configuration";
import { type Edit, edit } from "./edit";
import type { GraphChanges } from "./FlowGraph";
import { EditError } from "./flowtext";
import type { FlowNode } from "./graph";
import type { FlowCheck } from "./flowcheck";
import { useSystem } from "./useFlowCheck";

const end = "end";

export interface GraphEditorState extends GraphChanges {
  nodes: FlowNode[];
  flow: FlowCheck;
  kinds: Kind[];
  /** outcomesOf returns the outcomes that a node has or that lead somewhere. */
  outcomesOf: (node: string) => string[];
  /** change returns the changed text; undefined if the change is refused. */
  change: (change: Edit) => string | undefined;
  error: string;
  /** done is the last change, for screen readers, with the number of changes so far. */
  done: { text: string; number: number };
  say: (text: string) => void;
  /** pending is a connection whose outcome is not chosen yet. */
  pending: { source: string; target: string } | undefined;
  cancel: () => void;
}

/** useGraphEditor changes a flow, and reports each change that it makes. The nodes are those of a text that is the newest or was it shortly before. */
export function useGraphEditor(flow: FlowCheck, nodes: FlowNode[], parts: Parts, onChange: (change: Edit) => void): GraphEditorState {
  const kinds = useKinds();
  const [error, setError] = useState("");
  const [done, setDone] = useState({ text: "", number: 0 });
  const say = (text: string) => setDone(({ number }) => ({ text, number: number + 1 }));
  const [pending, setPending] = useState<GraphEditorState["pending"]>();

  const known = (node: string) => parts.nodes.find((one) => one.id === node)?.outcomes ?? [];
  const targets = (node: string) => nodes.find((one) => one.id === node)?.next ?? [];
  const change = (wanted: Edit): string | undefined => {
    try {
      const changed = edit(flow.text, wanted, known(wanted.node));
      flow.change(changed);
      setError("");
      say(said(wanted));
      setPending(undefined);
      onChange(wanted);
      return changed;
    } catch (failure) {
      if (!(failure instanceof EditError)) {
        throw failure;
      }
      setError(failure.message);
      return undefined;
    }
  };
  return {
    flow, nodes, kinds, error, done, pending, change, say,
    cancel: () => setPending(undefined),
    outcomesOf: (node) => [...new Set([...known(node), ...targets(node).map((edge) => edge.outcome).filter(Boolean)])],
    connect: (source, target) => {
      const outcomes = known(source);
      const [free, ...more] = outcomes.filter((outcome) => !targets(source).some((edge) => edge.outcome === outcome || edge.outcome === ""));
      if (outcomes.length < 2 || (free !== undefined && more.length === 0)) {
        change({ change: "connect", node: source, outcome: outcomes.length < 2 ? outcomes[0] ?? "" : free ?? "", target });
      } else {
        setPending({ source, target });
      }
    },
    remove: ({ node, target }) => {
      if (target === undefined) {
        change({ change: "remove", node });
        return;
      }
      try {
        flow.change(targets(node).filter((edge) => edge.target === target).reduce((changed, edge) => edit(changed, { change: "disconnect", node, outcome: edge.outcome }), flow.text));
        setError("");
        say(t("The edge from {node} to {target} was removed.", { node, target }));
      } catch (failure) {
        setError(String(failure instanceof Error ? failure.message : failure));
      }
    },
  };
}

/** said describes a change of the graph. Changes of a configuration are read at their fields. */
function said(change: Edit): string {
  const { node } = change;
  switch (change.change) {
    case "add": return t("The node {node} was added.", { node });
    case "remove": return t("The node {node} was removed.", { node });
    case "rename": return t("The node {node} is now {to}.", { node, to: change.to });
    case "connect": return t("{outcome} of {node} leads to {target}.", { node, outcome: change.outcome || t("All outcomes"), target: change.target });
    case "disconnect": return t("{outcome} of {node} has no target.", { node, outcome: change.outcome || t("All outcomes") });
    case "configure": return "";
  }
}

/** useKinds returns the kinds of nodes in the system; none without the checker. */
function useKinds(): Kind[] {
  const { readAt } = useSystem();
  const [kinds, setKinds] = useState<Kind[]>([]);
  useEffect(() => {
    let isCurrent = true;
    call("listKinds", {}).then((found) => isCurrent && setKinds(found), () => {}); // without the checker nodes are written as text
    return () => {
      isCurrent = false;
    };
  }, [readAt]);
  return kinds;
}

export function GraphEditor({ editor, findings, selected, onUndo, onRedo }: { editor: GraphEditorState; findings: Finding[]; selected: string | undefined; onUndo: () => boolean; onRedo: () => boolean }) {
  const node = editor.nodes.find((one) => one.id === selected);
  return (
    <section aria-label={t("Change the graph")} className="graph-editor">
      <NewNode editor={editor} onUndo={() => editor.say(onUndo() ? t("Undone.") : t("There is nothing to undo."))} onRedo={() => editor.say(onRedo() ? t("Redone.") : t("There is nothing to redo."))} />
      <p role="status" className="hidden"><span key={editor.done.number}>{editor.done.text}</span></p>{/* a new element is announced even with the same text */}
      {editor.error && <p role="alert" className="notice bad">{editor.error}</p>}
      {editor.pending && <Outcome editor={editor} pending={editor.pending} />}
      {node ? <NodeForm key={node.id} editor={editor} node={node} findings={findings} /> : <p className="quiet">{t("Select a node to change it. Draw an edge from the lower handle of a node to another node.")}</p>}
    </section>
  );
}

function NewNode({ editor, onUndo, onRedo }: { editor: GraphEditorState; onUndo: () => void; onRedo: () => void }) {
  const [use, setUse] = useState("");
  const [id, setID] = useState("");
  const kind = use || editor.kinds[0]?.name || "";
  return (
    <form className="filter" onSubmit={(event) => {
      event.preventDefault();
      if (editor.change({ change: "add", node: id.trim(), use: kind })) {
        setID("");
      }
    }}>
      <span className="field"><label htmlFor="new-node-kind">{t("Kind")}</label><select id="new-node-kind" value={kind} aria-describedby="new-node-doc" onChange={(event) => setUse(event.target.value)}>{editor.kinds.map((one) => <option key={one.name}>{one.name}</option>)}</select></span>
      <span className="field"><label htmlFor="new-node-id">{t("Id")}</label><input id="new-node-id" value={id} size={14} required onChange={(event) => setID(event.target.value)} /></span>
      <Button type="submit" isDisabled={!kind}>{t("Add node")}</Button>
      <Button onPress={onUndo}>{t("Undo")}</Button>
      <Button onPress={onRedo}>{t("Redo")}</Button>
      <span id="new-node-doc" className="quiet">{editor.kinds.find((one) => one.name === kind)?.doc}</span>
    </form>
  );
}

function Outcome({ editor, pending: { source, target } }: { editor: GraphEditorState; pending: { source: string; target: string } }) {
  return (
    <div role="group" aria-labelledby="pending-outcome" className="actions">
      <span id="pending-outcome">{t("Which outcome of {source} leads to {target}?", { source, target })}</span>
      {editor.outcomesOf(source).map((outcome) => <Button key={outcome} onPress={() => editor.change({ change: "connect", node: source, outcome, target })}>{outcome}</Button>)}
      <Button onPress={editor.cancel}>{t("Cancel")}</Button>
    </div>
  );
}

function NodeForm({ editor, node, findings }: { editor: GraphEditorState; node: FlowNode; findings: Finding[] }) {
  const [id, setID] = useState(node.id);
  const shared = node.next.find((edge) => edge.outcome === "")?.target;
  const outcomes = editor.outcomesOf(node.id);
  return (
    <div role="group" aria-label={t("Node {id}", { id: node.id })}>
      <p><strong>{node.id}</strong> <span className="quiet">{node.use}</span></p>
      <form className="filter" onSubmit={(event) => {
        event.preventDefault();
        editor.change({ change: "rename", node: node.id, to: id.trim() });
      }}>
        <span className="field"><label htmlFor="node-id">{t("New id")}</label><input id="node-id" value={id} size={14} required onChange={(event) => setID(event.target.value)} /></span>
        <Button type="submit" isDisabled={id.trim() === node.id}>{t("Rename")}</Button>
        <Button className="danger" onPress={() => editor.change({ change: "remove", node: node.id })}>{t("Remove node")}</Button>
      </form>
      <div className="targets">
        {(outcomes.length !== 1 || shared !== undefined) && outcomes.length > 0 && <Target editor={editor} node={node.id} outcome="" label={t("All outcomes")} target={shared} />}
        {outcomes.map((outcome) => <Target key={outcome} editor={editor} node={node.id} outcome={outcome} label={outcome} target={node.next.find((edge) => edge.outcome === outcome)?.target} />)}
      </div>
      <Configuration editor={editor} node={node} kind={editor.kinds.find((kind) => kind.name === node.use)} findings={findings} />
    </div>
  );
}

function Target({ editor, node, outcome, label, target }: { editor: GraphEditorState; node: string; outcome: string; label: string; target: string | undefined }) {
  return (
    <span className="field">
      <label htmlFor={`target-${outcome}`}>{outcome ? <code>{label}</code> : label} →</label>
      <select id={`target-${outcome}`} value={target ?? ""} onChange={(event) => editor.change(event.target.value
        ? { change: "connect", node, outcome, target: event.target.value }
        : { change: "disconnect", node, outcome })}>
        <option value="">{t("no target")}</option>
        {target && target !== end && !editor.nodes.some((one) => one.id === target) && <option>{target}</option>}
        {[...editor.nodes.map((one) => one.id), end].map((one) => <option key={one}>{one}</option>)}
      </select>
    </span>
  );
}
