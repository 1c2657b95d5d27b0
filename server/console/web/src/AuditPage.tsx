// The audit log, newest first.
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Button, Input, Label, TextField } from "react-aria-components";
import { useSearchParams } from "react-router";
import { api, type AuditEvent, must } from "./api";
import { formatTime, t } from "./texts";
import { Failed, Loading, Page } from "./ui";

const filters = ["action", "user", "resource", "actor", "traceId"] as const;

export function AuditPage() {
  const [query, setQuery] = useSearchParams();
  const wanted = Object.fromEntries(filters.flatMap((name) => (query.get(name) ? [[name, query.get(name) ?? ""]] : [])));
  const log = useInfiniteQuery({
    queryKey: ["audit", wanted],
    initialPageParam: "",
    placeholderData: keepPreviousData,
    queryFn: async ({ pageParam }) => must(await api.GET("/audit-events", { params: { query: { ...wanted, limit: 50, ...(pageParam ? { before: pageParam } : {}) } } })),
    getNextPageParam: (page) => {
      const next = page.links.find((link) => link.rel === "next");
      return next ? new URLSearchParams(next.href.slice(next.href.indexOf("?"))).get("before") : undefined;
    },
  });
  return (
    <Page title={t("Audit log")} actions={<Button onPress={() => void log.refetch()}>{t("Reload")}</Button>}>
      <form className="filter" role="search" key={query.toString()} onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        setQuery(Object.fromEntries(filters.flatMap((name) => (form.get(name) ? [[name, String(form.get(name))]] : []))));
      }}>
        {filters.map((name) => <TextField key={name} name={name} defaultValue={query.get(name) ?? ""}><Label>{name}</Label><Input /></TextField>)}
        <Button type="submit">{t("Apply")}</Button>
        {query.size > 0 && <Button onPress={() => setQuery({})}>{t("Clear")}</Button>}
      </form>
      {log.isPending && <Loading />}
      {log.error && <Failed error={log.error} retry={() => void log.refetch()} />}
      {log.data && <Events events={log.data.pages.flatMap((page) => page.auditEvents)} />}
      {log.hasNextPage && <Button isDisabled={log.isFetchingNextPage} onPress={() => void log.fetchNextPage()}>{t("Older events")}</Button>}
    </Page>
  );
}

export function Events({ events }: { events: AuditEvent[] }) {
  if (events.length === 0) {
    return <p className="quiet">{t("Nothing here yet.")}</p>;
  }
  return (
    <div className="scroll">
      <table>
        <thead><tr>{["When", "Action", "Who", "What", "From"].map((name) => <th key={name} scope="col">{t(name)}</th>)}</tr></thead>
        <tbody>
          {events.map((event) => (
            <tr key={event.id}>
              <td>{formatTime(event.at)}</td>
              <td>
                <details>
                  <summary>{event.action}</summary>
                  <pre>{JSON.stringify(event, null, 2)}</pre>
                </details>
              </td>
              <td>{event.actor?.type} <code>{event.actor?.id}</code></td>
              <td>{event.resource?.type ?? (event.userId ? "user" : "")} <code>{event.resource?.id ?? event.userId}</code></td>
              <td>{event.address}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
