// A flow: its text, its graph and what the checker says of it, always of the same text.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type RefObject, useDeferredValue, useMemo, useRef, useState } from "react";
import { Button, Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { useNavigate, useParams, useSearchParams } from "react-router";
import { LineCounter, parseDocument } from "yaml";
import { RequestError, send } from "../api";
import { carryDraft, takeDraft, useLastingDraft } from "../draft";
import { type Item, mayChange } from "../nouns";
import { useAction } from "../action";
import { Pill } from "../parts/Pill";
import { t } from "../texts";
import { Confirm, Failed, Loading, Page, ReadOnly } from "../ui";
import { BuiltinNotice } from "./BuiltinNotice";
import type { Fix } from "./checker";
import { copyOf } from "./copy";
import { FindingsTab, Findings, Verdict } from "./Findings";
import { FlowGraph, own } from "./FlowGraph";
import { GraphEditor, useGraphEditor } from "./GraphEditor";
import type { Edit } from "./edit";
import type { FlowCheck } from "./flowcheck";
import { nodesOf } from "./graph";
import { type Place, ProofPanel } from "./ProofPanel";
import { dropScenarios } from "./scenariostore";
import { Simulator } from "./Simulator";
import { TextConflict } from "./TextConflict";
import { usePart, useFlowCheck } from "./useFlowCheck";
import { useSimulation } from "./useSimulation";
import { ReasonField, Versions } from "./Versions";
import { type Changes, type Line, YAMLEditor } from "./YAMLEditor";

const template = `handle: my-sign-in
name: My sign-in
flowType: AUTHENTICATION
nodes:
  - id: key
    use: passkey-authenticate
    with: {mode: usernameless}
    next: {success: done, failure: key}

  - id: done
    use: authorization-code
`;

const noFixes: Fix[] = [];

const serverMembers = new Set(["id", "activeVersion", "createdAt", "updatedAt", "isReadOnly", "usedBy", "uses"]);

export default function FlowPage() {
  const { id } = useParams();
  const [query] = useSearchParams();
  const version = query.get("version") ?? "";
  const node = query.get("node") ?? "";
  const [done, setDone] = useState("");
  const read = useQuery({
    queryKey: ["/flows", id, "text", version],
    enabled: id !== undefined,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false, // the text of a newer version would replace that of the editor
    queryFn: async () => {
      const text = await send("GET", `/flows/${id}`, undefined, { Accept: "application/yaml" });
      const item = (await send("GET", `/flows/${id}`)).data as Item;
      const isOlder = version !== "" && version !== String(item["activeVersion"]);
      const shown = isOlder ? await send("GET", `/flows/${id}/versions/${encodeURIComponent(version)}`, undefined, { Accept: "application/yaml" }) : text;
      return { text: withoutServerMembers(String(shown.data)), etag: text.etag, item, ...(isOlder ? { version } : {}) };
    },
  });
  if (read.error) {
    return <Page title={t("Flows")}><Failed error={read.error} retry={() => void read.refetch()} /></Page>;
  }
  if (id !== undefined && !read.data) {
    return <Page title={t("Flows")}><Loading /></Page>;
  }
  return <Studio key={`${read.data?.etag ?? "new"} ${version} ${node}`} node={node} read={read.data} done={done} onDone={setDone} />;
}

function withoutServerMembers(text: string): string {
  const document = parseDocument(text);
  for (const member of serverMembers) {
    document.delete(member);
  }
  return document.toString();
}

interface Stored {
  text: string;
  etag: string;
  item: Item;
  version?: string;
}

/** Draft is a text that is not published, and what it is a change of. Without a text only the reason is written. */
interface Draft {
  text?: string;
  stored?: Stored | undefined;
  reason: string;
  copied?: string | undefined; // the id of the flow that was duplicated
}

/** Studio shows a flow, or an older version of it, and at first the node of an audit event. */
function Studio({ read, node, done, onDone }: { read: Stored | undefined; node: string; done: string; onDone: (text: string) => void }) {
  const navigate = useNavigate();
  const cache = useQueryClient();
  const [draft] = useState(() => takeDraft() as Draft | undefined);
  const { flow, error: checkError } = useFlowCheck(draft?.text ?? read?.text ?? template);
  const [line, setLine] = useState<Line | undefined>(() => lineOf(flow.text, ownNode(flow.text, node)));
  const changes = useRef<Changes>(null);
  const [stored, setStored] = useState(draft?.stored ?? read); // what this text is a change of
  const [state, setState] = useState<{ busy?: boolean; error?: unknown; theirs?: { text: string; etag: string }; isMerged?: boolean }>({});
  const [reason, setReason] = useState(draft?.reason ?? "");
  const copied = draft?.copied;
  const draftNow = (base = stored): Draft | undefined => (flow.text !== (base?.text ?? template) ? { text: flow.text, stored: base, reason, copied } : reason ? { reason } : undefined);
  const forgetDraft = useLastingDraft(draftNow);
  const [isRestored, setIsRestored] = useState(draft?.text !== undefined && copied === undefined);
  const [place, setPlace] = useState<Place | undefined>(() => (node ? { node: ownNode(flow.text, node) } : undefined));
  const [chosen, setChosen] = useState(place); // what the forms and the Delete key change
  // The graph follows the findings, which the editor shows first: drawing a large graph takes long.
  const { text, findings, proof, parts } = useDeferredValue(usePart(flow, ({ studied }) => studied));
  const simulation = useSimulation(() => flow.text, read?.item.id ?? (copied === undefined ? "new" : `copy of ${copied}`), copied);
  const walk = simulation.flow === text ? simulation.result?.walk : undefined; // otherwise it is of another text
  const marks = useMemo(() => ({
    walked: walk?.turns.flatMap((turn) => turn.left) ?? [], at: walk?.step?.stepId, missed: simulation.ran?.missed ?? [],
  }), [walk, simulation.ran]);
  const definition = useMemo(() => parseDocument(text, { logLevel: "silent" }).toJS() as unknown, [text]);
  const nodes = useMemo(() => nodesOf(definition), [definition]);
  const graph = useGraphEditor(flow, nodes, parts, (change) => {
    setChosen(change.change === "remove" ? undefined : { node: change.change === "rename" ? change.to : change.node });
    setPlace((place) => afterChange(place, change));
  });
  const mayWrite = mayChange("/flows");
  const title = read ? String(read.item["name"]) : t("New flow");

  const publish = useAction("publish", async ({ text, reason, etag }: { text: string; reason: string; etag: string }) => { // more may be typed until the reply
    setState({ busy: true });
    try {
      const reply = await send(read ? "PUT" : "POST", (read ? `/flows/${read.item.id}` : "/flows") + (reason ? `?reason=${encodeURIComponent(reason)}` : ""), text, { "Content-Type": "application/yaml", ...(etag ? { "If-Match": etag } : {}) });
      const item = reply.data as Item;
      setState({});
      onDone(t("Saved."));
      simulation.giveTo(item.id);
      forgetDraft();
      carryDraft(item.id, () => (flow.text === text ? undefined : { text: flow.text, stored: { text, etag: reply.etag, item }, reason: "" } satisfies Draft));
      await showNewest(item.id);
    } catch (error) {
      if (error instanceof RequestError && error.status === 412 && read && !read.version) {
        const now = await send("GET", `/flows/${read.item.id}`, undefined, { Accept: "application/yaml" });
        setState({ theirs: { text: withoutServerMembers(String(now.data)), etag: now.etag } });
        return;
      }
      throw error;
    }
  }, (error) => setState({ error }));
  /** showNewest shows the stored version of the flow instead of what the page shows. */
  const showNewest = async (id: string) => {
    if (!read || read.version || node) {
      await navigate(`/flows/${id}`, { replace: true });
    }
    await cache.invalidateQueries({ queryKey: ["/flows"] });
  };
  const discard = () => {
    flow.change(read?.text ?? template);
    setStored(read);
    setReason("");
    setIsRestored(false);
  };
  const duplicate = async () => {
    try {
      const text = await copyOf(flow.text);
      carryDraft("new", () => ({ text, reason: "", copied: read?.item.id ?? copied }) satisfies Draft);
      onDone("");
      await navigate("/flows/new");
    } catch (error) {
      setState({ error });
    }
  };
  const remove = useAction("delete", async ({ etag }: { etag: string }) => {
    await send("DELETE", `/flows/${read?.item.id}`, undefined, { "If-Match": etag });
    dropScenarios(read?.item.id ?? "");
    forgetDraft();
    await cache.invalidateQueries({ queryKey: ["/flows"] });
    await navigate("/flows");
  }, (error) => setState({ error }));
  return (
    <Page title={title} crumbs={[{ to: "/flows", title: t("Flows") }]} marks={<>{read && <Pill tone="plain">{t("Version {n}", { n: read.version ?? String(read.item["activeVersion"]) })}</Pill>}<span role="status" className="quiet small">{done}</span></>} actions={
      <>
        {!mayWrite && <ReadOnly path="/flows" />}
        {read && mayWrite && <ReasonField value={reason} onChange={setReason} />}
        {mayWrite && <PublishButton flow={flow} isBusy={state.busy ?? false} label={read ? t("Publish") : t("Create")} onPublish={() => void publish({ text: flow.text, reason: reason.trim(), etag: stored?.etag ?? "" })} />}
        {read && mayWrite && <Button onPress={() => void duplicate()}>{t("Duplicate")}</Button>}
        {read && mayWrite && <Confirm label={t("Delete")} question={t("Delete {name}? This cannot be undone.", { name: title })} onConfirm={() => void remove({ etag: stored?.etag ?? "" })} />}
      </>
    }>
      {read?.version && <p className="notice">{t("This is version {n}. New runs use version {active}. Publishing makes this text the next version.", { n: read.version, active: String(read.item["activeVersion"]) })}</p>}
      {read && !read.version && !read.item["isReadOnly"] && <BuiltinNotice text={read.text} onUse={(text) => flow.change(text)} />}
      {isRestored && <p className="notice" role="status">{t("The editor has your changes that are not published.")} <Button onPress={discard}>{t("Discard the changes")}</Button></p>}
      {read && stored && !state.isMerged && stored.etag !== read.etag && <p className="notice" role="status">{t("Your changes are kept: they are not in version {n}. Publishing merges them with it.", { n: String(read.item["activeVersion"]) })}</p>}
      {Boolean(state.error) && <Failed error={state.error} />}
      {stored && state.theirs && <FlowConflict flow={flow} base={stored.text} theirs={state.theirs.text} onMerge={(merged) => {
        flow.change(merged);
        setStored({ ...stored, ...state.theirs });
        setState({ isMerged: true });
      }} />}
      {state.isMerged && <p role="status">{t("Merged. Check the text and publish it.")}</p>}
      {state.error instanceof RequestError && state.error.status === 412 && <p>{t("Someone else has changed this in the meantime.")}</p>}
      {Boolean(checkError) && <Failed error={checkError} />}
      <div className="studio">
        <FlowEditor flow={flow} line={line} changes={changes} onChange={() => onDone("")} />
        <Tabs>
          <TabList aria-label={t("Flows")}>
            <Tab id="graph">{t("Graph")}</Tab>
            <Tab id="simulate">{t("Simulate")}</Tab>
            <Tab id="findings"><FindingsTab flow={flow} /></Tab>
            {read && <Tab id="versions">{t("Versions")}</Tab>}
          </TabList>
          <TabPanel id="graph">
            <FlowGraph nodes={nodes} findings={findings} proof={proof} changes={graph} selected={chosen} onSelect={(selected) => {
              setPlace(selected);
              setChosen(selected);
              setLine(lineOf(flow.text, selected.node));
            }} onPoint={setPlace} />
            <GraphEditor editor={graph} findings={findings} selected={chosen?.node} onUndo={() => changes.current?.undo() ?? false} onRedo={() => changes.current?.redo() ?? false} />
            <ProofPanel text={text} proof={proof} place={place} onSelect={setPlace} />
          </TabPanel>
          <TabPanel id="simulate">
            <FlowGraph nodes={nodes} findings={findings} proof={undefined} marks={marks} onSelect={(selected) => setLine(lineOf(flow.text, selected.node))} onPoint={() => {}} />
            <Simulator simulation={simulation} flow={flow} handle={handleOf(definition) ?? String(read?.item["handle"] ?? "flow")} registers={(definition as { flowType?: string } | null)?.flowType === "REGISTRATION"} />
          </TabPanel>
          <TabPanel id="findings"><Findings flow={flow} onSelect={(number) => setLine({ number })} /></TabPanel>
          {read && <TabPanel id="versions"><Versions id={read.item.id} onRestore={() => {
            forgetDraft();
            carryDraft(read.item.id, draftNow);
            return showNewest(read.item.id);
          }} /></TabPanel>}
        </Tabs>
      </div>
      <Verdict flow={flow} />
    </Page>
  );
}

/** afterChange returns the place that the page shows after a change of the graph. */
function afterChange(place: Place | undefined, change: Edit): Place | undefined {
  if (!place || change.change !== "rename" && change.change !== "remove") {
    return place;
  }
  const rename = (id: string) => (id === change.node && change.change === "rename" ? change.to : id);
  const isRemoved = change.change === "remove" && (place.node === change.node || place.target === change.node);
  return isRemoved ? undefined : { node: rename(place.node), ...(place.target === undefined ? {} : { target: rename(place.target) }) };
}

function PublishButton({ flow, isBusy, label, onPublish }: { flow: FlowCheck; isBusy: boolean; label: string; onPublish: () => void }) {
  const isValid = usePart(flow, (one) => one.isValid);
  return <Button className="primary" isDisabled={isBusy || !isValid} onPress={() => flow.isValid && onPublish()}>{label}</Button>;
}

function FlowEditor({ flow, line, changes, onChange }: { flow: FlowCheck; line: Line | undefined; changes: RefObject<Changes | null>; onChange: () => void }) {
  const text = usePart(flow, (one) => one.text);
  const findings = usePart(flow, ({ checked }) => checked.findings);
  const fixes = usePart(flow, ({ studied, checked }) => (studied.text === checked.text ? studied.fixes : noFixes));
  return <YAMLEditor label={t("Definition")} text={text} findings={findings} fixes={fixes} line={line} changes={changes} onChange={(changed) => { flow.change(changed, true); onChange(); }} />;
}

function FlowConflict({ flow, onMerge, ...others }: { flow: FlowCheck; base: string; theirs: string; onMerge: (merged: string) => void }) {
  const mine = usePart(flow, ({ text }) => text);
  return <TextConflict versions={{ ...others, mine }} onMerge={onMerge} />;
}

/** handleOf returns the handle of a definition; undefined if it has none that the server would accept. */
function handleOf(definition: unknown): string | undefined {
  const handle = (definition as { handle?: unknown } | null)?.handle;
  return typeof handle === "string" && /^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$/.test(handle) ? handle : undefined;
}

/** lineOf returns the line of a node in the text of a flow. */
function lineOf(text: string, node: string): Line | undefined {
  const counter = new LineCounter();
  const list = parseDocument(text, { lineCounter: counter, logLevel: "silent" }).get("nodes") as { items?: { get?: (key: string) => unknown; range?: [number, number, number] }[] } | undefined;
  const found = list?.items?.find((item) => item.get?.("id") === node);
  return found?.range ? { number: counter.linePos(found.range[0]).line, keepsFocus: true } : undefined;
}

/** ownNode returns the node of the text that is, or whose sub-flow contains, the node of a run. */
function ownNode(text: string, node: string): string {
  return nodesOf(parseDocument(text, { logLevel: "silent" }).toJS()).find(({ id }) => own(node, id))?.id ?? node;
}
