// The versions of a flow, and what two of them mean differently. Restoring one makes its content the
// next version.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "../action";
import { api, must } from "../api";
import { mayChange } from "../nouns";
import { Pill } from "../parts/Pill";
import { formatTime, t } from "../texts";
import { Confirm, Failed, Loading } from "../ui";
import { call, isAvailable, type Source } from "./checker";

/** authorOf names the author of a version, and the application that the author used in place of the console. */
function authorOf(author: { id?: string; name?: string; clientName?: string } | null | undefined): string {
  const name = author ? author.name ?? author.id ?? "" : t("unknown author");
  return author?.clientName ? t("{name}, with {client}", { name, client: author.clientName }) : name;
}

/** Versions lists the versions of a flow; onRestore shows the one that a restored version has become. */
export function Versions({ id, onRestore }: { id: string; onRestore: () => Promise<void> }) {
  const [failed, setFailed] = useState<unknown>();
  const [reason, setReason] = useState("");
  const read = useQuery({ queryKey: ["/flows", id, "versions"], queryFn: async () => must(await api.GET("/flows/{id}/versions", { params: { path: { id }, query: { limit: 100 } } })) });
  const restore = useAction("restore", async (args: { version: number; reason: string }) => {
    must(await api.POST("/flows/{id}/restore", { params: { path: { id }, query: args.reason ? { reason: args.reason } : {} }, body: { version: args.version } }));
    setReason("");
    await onRestore();
  }, setFailed);
  if (read.error) {
    return <Failed error={read.error} retry={() => void read.refetch()} />;
  }
  if (!read.data) {
    return <Loading />;
  }
  return (
    <>
      {Boolean(failed) && <Failed error={failed} />}
      {read.data.versions.length > 1 && isAvailable() && <Comparison id={id} versions={read.data.versions.map((v) => v.version)} />}
      <ul className="parts">
        {read.data.versions.map((v) => (
          <li key={v.version}>
            <span>
              {t("Version {n}", { n: v.version })} <span className="quiet">{formatTime(v.createdAt)}</span> {v.isActive && <Pill tone="ok">{t("active")}</Pill>}
              <br />
              <span className="quiet">{authorOf(v.author)} · {t("Open runs: {n}", { n: v.openRuns })}</span>
              {v.reason && <><br /><span>{v.reason}</span></>}
            </span>
            {!v.isActive && mayChange("/flows") && <Confirm label={t("Restore")} question={`${t("Restore")}: ${t("Version {n}", { n: v.version })}?`} onConfirm={() => void restore({ version: v.version, reason: reason.trim() })}><ReasonField value={reason} onChange={setReason} /></Confirm>}
          </li>
        ))}
      </ul>
    </>
  );
}

/** ReasonField is the field for the reason of a new version. */
export function ReasonField({ value, onChange }: { value: string; onChange: (reason: string) => void }) {
  return <label className="reason">{t("Reason")} <input value={value} maxLength={200} placeholder={t("optional")} onChange={(event) => onChange(event.target.value)} /></label>;
}

/** Comparison shows the changes of the meaning between two versions, newest first in the list. */
function Comparison({ id, versions }: { id: string; versions: number[] }) {
  const [before, setBefore] = useState(versions[1] ?? 1);
  const [after, setAfter] = useState(versions[0] ?? 1);
  const read = useQuery({
    queryKey: ["/flows", id, "versions", before, after],
    retry: false,
    queryFn: async () => call("compare", { before: await sourceOf(id, before), after: await sourceOf(id, after) }),
  });
  const choose = (label: string, value: number, set: (version: number) => void) => (
    <label className="field">
      {label}
      <select value={value} onChange={(event) => set(Number(event.target.value))}>
        {versions.map((version) => <option key={version} value={version}>{t("Version {n}", { n: version })}</option>)}
      </select>
    </label>
  );
  return (
    <section aria-label={t("Differences")}>
      <div className="filter">{choose(t("From version"), before, setBefore)}{choose(t("To version"), after, setAfter)}</div>
      <div role="status">
        {read.error ? <Failed error={read.error} /> : !read.data ? <Loading /> : read.data.length === 0
          ? <p className="quiet">{t("Both mean the same.")}</p>
          : <ul className="differences">{read.data.map(({ what, text }, i) => <li key={i} className={what === "lost" ? "bad" : ""}><code>{text}</code></li>)}</ul>}
      </div>
    </section>
  );
}

async function sourceOf(id: string, version: number): Promise<Source> {
  return { text: JSON.stringify(must(await api.GET("/flows/{id}/versions/{n}", { params: { path: { id, n: String(version) } } }))), json: true };
}
