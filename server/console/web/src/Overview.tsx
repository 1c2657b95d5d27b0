// The first page: what goes on, how much there is of everything, whether the service is ready, and what
// happened last.
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, must, send } from "./api";
import { Events } from "./AuditEvents";
import { nouns, permission } from "./nouns";
import { Pill, toneOf } from "./parts/Pill";
import { may } from "./session";
import { t } from "./texts";
import { PasskeyInvitation } from "./PasskeyInvitation";
import { Statistics, useStatistics } from "./Statistics";
import { explain, Failed, Loading, Page } from "./ui";

export function Overview() {
  const readsAudit = may("system:audit:read");
  const counts = useQuery({
    queryKey: ["counts"],
    queryFn: () => Promise.all(nouns.filter((noun) => may(permission(noun, "read"))).map(async (noun) => ({ noun, total: ((await send("GET", `${noun.path}?limit=1`)).data as { totalResults: number }).totalResults }))),
  });
  const health = useQuery({ queryKey: ["health"], queryFn: async () => must(await api.GET("/health/readiness")), refetchInterval: 30_000 });
  const events = useQuery({ queryKey: ["audit", "recent"], enabled: readsAudit, queryFn: async () => must(await api.GET("/audit-events", { params: { query: { limit: 10 } } })) });
  const statistics = useStatistics(readsAudit);
  const shared = sharedFailures([statistics.read, counts, health, events]);
  const isShown = (query: Query) => !shared.some((queries) => queries.includes(query));
  return (
    <Page title={t("Overview")}>
      <PasskeyInvitation />
      {shared.map((queries, i) => <Failed key={i} error={queries[0]?.error} retry={() => queries.forEach((query) => void query.refetch())} />)}
      {readsAudit && isShown(statistics.read) && <Statistics statistics={statistics} />}
      {isShown(counts) && (
        <>
          {counts.data?.length !== 0 && <h2>{t("Resources")}</h2>}
          {counts.isPending && <Loading />}
          {counts.error && <Failed error={counts.error} retry={() => void counts.refetch()} />}
          {counts.data && (
            <ul className="cards">
              {counts.data.map(({ noun, total }) => (
                <li key={noun.path}><Link to={noun.path}><span className="number">{total}</span> {t(total === 1 ? noun.one : noun.title)}</Link></li>
              ))}
            </ul>
          )}
        </>
      )}
      {isShown(health) && (
        <>
          <h2>{t("Service")}</h2>
          {health.isPending && <Loading />}
          {health.error ? <Failed error={health.error} retry={() => void health.refetch()} /> : (
            <ul className="parts">{health.data?.serviceStatus?.map((s) => <li key={s.serviceName}><span>{s.serviceName}</span> <Pill tone={toneOf(s.status)}>{s.status}</Pill></li>)}</ul>
          )}
        </>
      )}
      {readsAudit && isShown(events) && (
        <>
          <h2>{t("Recent events")}</h2>
          {events.isPending && <Loading />}
          {events.error && <Failed error={events.error} retry={() => void events.refetch()} />}
          {events.data && <Events events={events.data.auditEvents} />}
          <p><Link to="/audit">{t("Audit log")} →</Link></p>
        </>
      )}
    </Page>
  );
}

interface Query {
  error: Error | null;
  refetch: () => Promise<unknown>;
}

/** sharedFailures returns the queries that fail for the same reason as another one, by reason. The page states it once. */
function sharedFailures(queries: Query[]): Query[][] {
  const alike = new Map<string, Query[]>();
  for (const query of queries.filter(({ error }) => error)) {
    const reason = explain(query.error);
    alike.set(reason, [...(alike.get(reason) ?? []), query]);
  }
  return [...alike.values()].filter(({ length }) => length > 1);
}
