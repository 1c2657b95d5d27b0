// The latest events of an application in the audit log.
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, must } from "./api";
import { formatTime, t } from "./texts";
import { Failed, Loading } from "./ui";

/** most limits the events that are shown. */
const most = 6;

export function LastSignIns({ application }: { application: string }) {
  const read = useQuery({ queryKey: ["audit", "application", application], queryFn: async () => must(await api.GET("/audit-events", { params: { query: { application, limit: most } } })).auditEvents });
  return (
    <section className="card" aria-labelledby="last-events">
      <h2 id="last-events">{t("Last events")}</h2>
      {read.isPending && <Loading />}
      {read.error && <Failed error={read.error} retry={() => void read.refetch()} />}
      {read.data?.length === 0 && <p className="quiet">{t("Nothing has happened here yet.")}</p>}
      {read.data && read.data.length > 0 && (
        <>
          <ul className="parts">{read.data.map((event) => <li key={event.id}><span>{event.action}</span><span className="quiet small">{formatTime(event.at)}</span></li>)}</ul>
          <p><Link to={`/audit?application=${application}`}>{t("All events")}</Link></p>
        </>
      )}
    </section>
  );
}
