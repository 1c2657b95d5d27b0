// The audit log, newest first: filters, new events as they come, verification and download.
import { keepPreviousData, useInfiniteQuery, useMutation, useQueries, useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { Button, Input, Label, TextField, ToggleButton } from "react-aria-components";
import { useSearchParams } from "react-router";
import { api, type AuditEvent, isForbidden, must } from "./api";
import { Events } from "./AuditEvents";
import { AuditVerification } from "./AuditVerification";
import { Choose, type Choice } from "./Choose";
import { findIn, nameQuery } from "./listing";
import { type Noun, nouns, permission } from "./nouns";
import { may } from "./session";
import { t } from "./texts";
import { explain, Failed, Loading, Page } from "./ui";

const filters = { action: "Action", actor: "Actor", user: "User", resource: "Resource", application: "Application", traceId: "Trace id" };
/** kindsOf has the kinds of resources whose id a filter contains. */
const kindsOf: Record<string, Noun[]> = Object.fromEntries(Object.entries({ actor: ["/users", "/applications"], user: ["/users"], resource: nouns.map(({ path }) => path), application: ["/applications"] })
  .map(([name, paths]) => [name, nouns.filter(({ path }) => paths.includes(path))]));
const times = { from: "From time", to: "Until time" };
const names = [...Object.keys(filters), ...Object.keys(times), "failures"];

type Wanted = Record<string, string>;

async function readPage(wanted: Wanted, limit: number, before: string) {
  return must(await api.GET("/audit-events", { params: { query: { ...wanted, limit, ...(before ? { before } : {}) } } }));
}

/** cursor returns the place after a page, "" after the last one. */
function cursor(page: { links: { href: string; rel: string }[] }): string {
  const next = page.links.find((link) => link.rel === "next");
  return next ? new URLSearchParams(next.href.slice(next.href.indexOf("?"))).get("before") ?? "" : "";
}

export function AuditPage() {
  const [query, setQuery] = useSearchParams();
  const [live, setLive] = useState(false);
  const wanted: Wanted = Object.fromEntries(names.flatMap((name) => (query.get(name) ? [[name, query.get(name) ?? ""]] : [])));
  const log = useInfiniteQuery({
    queryKey: ["audit", wanted],
    initialPageParam: "",
    placeholderData: keepPreviousData,
    queryFn: ({ pageParam }) => readPage(wanted, 50, pageParam),
    getNextPageParam: (page) => cursor(page) || undefined,
  });
  // Polling stops while the tab is hidden.
  const newest = useQuery({ queryKey: ["audit", "live", wanted], queryFn: () => readPage(wanted, 50, ""), enabled: live, refetchInterval: 3000, gcTime: 0 });
  const isRefused = isForbidden(log.error);
  const known = log.data?.pages.flatMap((page) => page.auditEvents) ?? [];
  const added = live && !log.isPlaceholderData ? (newest.data?.auditEvents ?? []).filter((event) => !known.some(({ id }) => id === event.id)) : [];
  return (
    <Page title={t("Audit log")} actions={!isRefused && (
      <>
        <ToggleButton isSelected={live} onChange={(on) => { setLive(on); void log.refetch(); }}>{t("Live")}</ToggleButton>
        <Download wanted={wanted} />
        <Button onPress={() => void log.refetch()}>{t("Reload")}</Button>
      </>
    )}>
      {!isRefused && <Filter key={query.toString()} query={query} apply={setQuery} />}
      {!isRefused && <AuditVerification />}
      <p role="status" className="quiet">{live && (added.length > 0 ? t("{n} new events", { n: added.length }) : t("New events appear here."))}</p>
      {live && newest.error && <Failed error={newest.error} retry={() => void newest.refetch()} />}
      {log.isPending && <Loading />}
      {log.error && <Failed error={log.error} retry={() => void log.refetch()} />}
      {log.data && <Events events={[...added, ...known]} empty={query.size > 0 ? t("Nothing matches the filter.") : t("Nothing here yet.")} />}
      {log.hasNextPage && <Button isDisabled={log.isFetchingNextPage} onPress={() => void log.fetchNextPage()}>{t("Older events")}</Button>}
    </Page>
  );
}

/** local writes a time as an input of the type datetime-local has it. */
function local(time: string | null): string {
  if (!time) {
    return "";
  }
  const date = new Date(time);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function Filter({ query, apply }: { query: URLSearchParams; apply: (query: Wanted) => void }) {
  const form = useRef<HTMLFormElement>(null);
  const submit = (chosen: Wanted = {}) => {
    const entries = new FormData(form.current ?? undefined);
    const entered = names.map((name) => [name, (chosen[name] ?? String(entries.get(name) ?? "")).trim()] as const).filter(([, value]) => value);
    apply(Object.fromEntries(entered.map(([name, value]) => [name, name in times ? new Date(value).toISOString() : value])));
  };
  return (
    <form ref={form} className="filter many" role="search" onSubmit={(event) => { event.preventDefault(); submit(); }}>
      {Object.entries(filters).map(([name, label]) => {
        const kinds = kindsOf[name];
        const value = query.get(name) ?? "";
        return kinds
          ? <ResourceFilter key={name} name={name} label={t(label)} kinds={kinds} value={value} onChange={(id) => submit({ [name]: id })} />
          : <TextField key={name} name={name} defaultValue={value}><Label>{t(label)}</Label><Input /></TextField>;
      })}
      {Object.entries(times).map(([name, label]) => <TextField key={name} name={name} defaultValue={local(query.get(name))}><Label>{t(label)}</Label><Input type="datetime-local" /></TextField>)}
      <label className="check"><input type="checkbox" name="failures" value="true" defaultChecked={query.has("failures")} /> {t("Failures only")}</label>
      <div className="actions">
        <Button type="submit">{t("Apply")}</Button>
        {query.size > 0 && <Button onPress={() => apply({})}>{t("Clear")}</Button>}
      </div>
    </form>
  );
}

/** ResourceFilter filters by a resource, which is found by its name or its id. */
function ResourceFilter({ name, label, kinds, value, onChange }: { name: string; label: string; kinds: Noun[]; value: string; onChange: (id: string) => void }) {
  // The events below read the names: one of several kinds is not worth a request for each.
  const known = useQueries({ queries: kinds.map((noun) => ({ ...nameQuery(noun, value), ...(kinds.length > 1 && { enabled: false }) })) });
  if (value) {
    const shown = known.find(({ data }) => data)?.data ?? value;
    return (
      <div className="field" role="group" aria-label={label}>
        {label}
        <div className="row">
          <input type="hidden" name={name} value={value} />
          <span className="subject" title={value}>{shown}</span>
          <Button aria-label={`${t("Remove")}: ${label}`} onPress={() => onChange("")}>✕</Button>
        </div>
      </div>
    );
  }
  const search = async (text: string): Promise<Choice[]> => {
    const found = await findIn(kinds.filter((noun) => may(permission(noun, "read"))), text);
    return found.length > 0 || text === "" ? found : [{ id: text, label: text, note: t("Id") }];
  };
  return <Choose label={label} search={search} onChoose={({ id }) => onChange(id)} />;
}

/** most limits a download: the log can have millions of events. */
const most = 10_000;

function Download({ wanted }: { wanted: Wanted }) {
  const download = useMutation({
    mutationFn: async () => {
      const events: AuditEvent[] = [];
      for (let before = ""; ;) {
        const page = await readPage(wanted, 100, before);
        events.push(...page.auditEvents);
        before = cursor(page);
        if (!before || events.length >= most) {
          save(events);
          return { count: events.length, isCut: before !== "" };
        }
      }
    },
  });
  const { data } = download;
  return (
    <>
      <span role="status" className="quiet">
        {download.isPending && t("Loading …")}
        {data && (data.isCut ? t("The newest {n} events were saved. Narrow the filter for older ones.", { n: data.count }) : t("{n} events were saved.", { n: data.count }))}
        {download.error && explain(download.error)}
      </span>
      <Button isDisabled={download.isPending} onPress={() => download.mutate()}>{t("Download")}</Button>
    </>
  );
}

function save(events: AuditEvent[]) {
  const address = URL.createObjectURL(new Blob(events.map((event) => `${JSON.stringify(event)}\n`), { type: "application/jsonl" }));
  const link = Object.assign(document.createElement("a"), { href: address, download: "audit-events.jsonl" });
  link.click();
  URL.revokeObjectURL(address);
}
