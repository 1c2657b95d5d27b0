// The first page: what goes on, how much there is of everything, whether the service is ready, and what
// happened last.
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, must, send } from "./api";
import { Events } from "./AuditEvents";
import { nouns, permission } from "./nouns";
import { may } from "./session";
import { t } from "./texts";
import { PasskeyInvitation } from "./PasskeyInvitation";
import { Statistics } from "./Statistics";
import { Failed, Loading, Page } from "./ui";

export function Overview() {
  const readsAudit = may("system:audit:read");
  const counts = useQuery({
    queryKey: ["counts"],
    queryFn: () => Promise.all(nouns.filter((noun) => may(permission(noun, "read"))).map(async (noun) => ({ noun, total: ((await send("GET", `${noun.path}?limit=1`)).data as { totalResults: number }).totalResults }))),
  });
  const health = useQuery({ queryKey: ["health"], queryFn: async () => must(await api.GET("/health/readiness")), refetchInterval: 30_000 });
  const events = useQuery({ queryKey: ["audit", "recent"], enabled: readsAudit, queryFn: async () => must(await api.GET("/audit-events", { params: { query: { limit: 10 } } })) });
  return (
    <Page title={t("Overview")}>
      <PasskeyInvitation />
      {readsAudit && <Statistics />}
      {counts.data?.length !== 0 && <h2>{t("Resources")}</h2>}
      {counts.isPending && <Loading />}
      {counts.error && <Failed error={counts.error} retry={() => void counts.refetch()} />}
      <ul className="cards">
        {counts.data?.map(({ noun, total }) => (
          <li key={noun.path}><Link to={noun.path}><span className="number">{total}</span> {t(noun.title)}</Link></li>
        ))}
      </ul>
      <h2>{t("Service")}</h2>
      {health.error ? <Failed error={health.error} retry={() => void health.refetch()} /> : (
        <ul className="parts">{health.data?.serviceStatus?.map((s) => <li key={s.serviceName}><span>{s.serviceName}</span> <span>{s.status}</span></li>)}</ul>
      )}
      {readsAudit && (
        <>
          <h2>{t("Recent events")}</h2>
          {events.error && <Failed error={events.error} retry={() => void events.refetch()} />}
          {events.data && <Events events={events.data.auditEvents} />}
          <p><Link to="/audit">{t("Audit log")} →</Link></p>
        </>
      )}
    </Page>
  );
}
