// The events of the audit log as a table, each with its details.
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import type { AuditEvent } from "./api";
import { nameQuery } from "./listing";
import { nouns } from "./nouns";
import { formatTime, t } from "./texts";

export function Events({ events, empty }: { events: AuditEvent[]; empty?: string }) {
  if (events.length === 0) {
    return <p className="quiet">{empty ?? t("Nothing here yet.")}</p>;
  }
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t("Events")}>
      <table className="events stacked" aria-label={t("Audit log")}>
        <thead><tr>{["When", "Action", "Who", "What", "From"].map((name) => <th key={name} scope="col">{t(name)}</th>)}</tr></thead>
        <tbody>
          {events.map((event) => (
            <tr key={event.id}>
              <td className="time">{formatTime(event.at)}</td>
              <td><details><summary>{event.action}</summary><Details event={event} /></details></td>
              <td data-label={t("Who")}><Subject type={event.actor?.type} id={event.actor?.id} /></td>
              <td data-label={t("What")}><Subject type={event.resource?.type ?? (event.userId ? "user" : "")} id={event.resource?.id ?? event.userId} /></td>
              <td data-label={t("From")}>{event.address}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Subject shows the name of the actor or the resource of an event, or its id, with a link to its page if there is one. */
function Subject({ type = "", id = "" }: { type: string | undefined; id: string | undefined }) {
  const noun = nouns.find(({ plural }) => plural === `${type}s`);
  const { data: name } = useQuery(nameQuery(noun, id));
  const shown = name ?? <code>{id}</code>;
  return <span className="subject" title={id}><span className="quiet">{type}</span> {noun && id ? <Link to={`${noun.path}/${id}`}>{shown}</Link> : shown}</span>;
}

function Details({ event }: { event: AuditEvent }) {
  const facts: [string, string | undefined][] = [
    [t("When"), new Date(event.at).toISOString()], [t("Actor"), event.actor?.id], [t("Resource"), event.resource?.id], [t("User"), event.userId], [t("Application"), event.applicationId], [t("Trace id"), event.traceId],
    [t("Run"), event.executionDigest], [t("Session"), event.sessionId], [t("Address"), event.address], [t("Browser"), event.userAgent],
    ...Object.entries(event.detail ?? {}),
  ];
  return (
    <>
      <dl>{facts.filter(([, value]) => value).map(([name, value]) => <div key={name}><dt>{name}</dt><dd><code>{value}</code></dd></div>)}</dl>
      {event.changes && (
        <table>
          <thead><tr>{["Member", "Before", "After"].map((name) => <th key={name} scope="col">{t(name)}</th>)}</tr></thead>
          <tbody>{event.changes.map((c) => <tr key={c.member}><th scope="row">{c.member}</th><td data-label={t("Before")}><code>{c.from}</code></td><td data-label={t("After")}><code>{c.to}</code></td></tr>)}</tbody>
        </table>
      )}
      <details><summary>JSON</summary><pre>{JSON.stringify(event, null, 2)}</pre></details>
    </>
  );
}
