// The numbers of the overview: sign-ins, failures, methods, latency and the queue of deliveries.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { Link } from "react-router";
import { api, must } from "./api";
import { formatTime, language, t } from "./texts";
import { Failed, Loading } from "./ui";

const TimeChart = lazy(async () => ({ default: (await import("./Charts")).TimeChart }));
const CountChart = lazy(async () => ({ default: (await import("./Charts")).CountChart }));

const hour = 3_600_000;
const ranges = [
  { key: "day", label: "Last 24 hours", hours: 24, step: "hour" },
  { key: "week", label: "Last 7 days", hours: 24 * 7, step: "hour" },
  { key: "month", label: "Last 30 days", hours: 24 * 30, step: "day" },
  { key: "year", label: "Last 365 days", hours: 24 * 365, step: "day" },
] as const;

/** useStatistics reads the numbers of a period, if they are enabled. */
export function useStatistics(enabled: boolean) {
  const [key, setKey] = useState("day");
  const range = ranges.find((r) => r.key === key) ?? ranges[0];
  const read = useQuery({
    queryKey: ["statistics", range.key],
    enabled,
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
    queryFn: async () => {
      const to = Math.ceil((Date.now() + 1) / hour) * hour;
      const query = { from: new Date(to - range.hours * hour).toISOString(), to: new Date(to).toISOString(), step: range.step };
      return must(await api.GET("/statistics", { params: { query } }));
    },
  });
  return { key, setKey, read };
}

export function Statistics({ statistics: { key, setKey, read } }: { statistics: ReturnType<typeof useStatistics> }) {
  const found = read.data;
  return (
    <section className="plain" aria-labelledby="activity">
      <div className="title">
        <h2 id="activity">{t("Activity")}</h2>
        <label>{t("Period")} <select value={key} onChange={(event) => setKey(event.target.value)}>{ranges.map((r) => <option key={r.key} value={r.key}>{t(r.label)}</option>)}</select></label>
      </div>
      {read.error && <Failed error={read.error} retry={() => void read.refetch()} />}
      {read.isPending && <Loading />}
      {found && (
        <Suspense fallback={<Loading />}>
          <ul className="cards">
            <Card label={t("Share of passkeys")} value={passkeyShare(found.methods)} />
            <Card label={t("Median response time")} value={duration(found.latency.requests, found.latency.p50)} more={t("95 %: {p95} · 99 %: {p99} · this instance, last hour", { p95: duration(found.latency.requests, found.latency.p95), p99: duration(found.latency.requests, found.latency.p99) })} />
            <Card label={t("Deliveries waiting")} value={sum(found.deliveries.waiting).toLocaleString(language)} more={found.deliveries.waiting.map((q) => t("{kind}: {n}, {tried} failed before, oldest of {time}", { kind: q.kind, n: q.count, tried: q.tried, time: formatTime(q.oldest) })).join(" · ")} />
            <Card label={t("Deliveries given up")} value={sum(found.deliveries.givenUp).toLocaleString(language)} more={sum(found.deliveries.givenUp) > 0 ? <Link to="/audit?action=delivery.given_up">{t("Show them")}</Link> : undefined} />
          </ul>
          <div className="charts">
            <TimeChart title={t("Sign-ins")} step={found.step} series={[
              { name: t("With a sign-in"), color: "var(--green)", steps: found.signIns },
              { name: t("By an existing session"), color: "var(--ink-2)", steps: found.sessions },
            ]} />
            <TimeChart title={t("Failed attempts")} step={found.step} series={[{ name: t("Failures"), color: "var(--red)", steps: found.failures }]} />
            <CountChart title={t("Failures by reason")} what={t("Reason")} counts={found.reasons.map(({ name, count }) => ({ name: name || "unknown", count }))} color="var(--red)" empty={t("No sign-in failed in this period.")} />
            <CountChart title={t("Methods")} what={t("Method")} counts={found.methods} color="var(--green)" empty={t("There were no sign-ins in this period.")} />
          </div>
        </Suspense>
      )}
    </section>
  );
}

function Card({ label, value, more }: { label: string; value: string; more?: ReactNode }) {
  return <li className="card"><span className="number">{value}</span> {label}{more && <span className="quiet small">{more}</span>}</li>;
}

const sum = (list: { count: number }[]) => list.reduce((all, { count }) => all + count, 0);

/** duration writes milliseconds, or seconds if they are easier to read. */
const duration = (requests: number, value: number) => (!requests ? "–" : value < 1000 ? `${value.toLocaleString(language)} ms` : `${(value / 1000).toLocaleString(language, { maximumFractionDigits: 1 })} s`);

// The share of passkeys in the first factors.
function passkeyShare(methods: { name: string; count: number }[]): string {
  const first = methods.filter(({ name }) => ["passkey", "password", "identity", "email_code"].includes(name));
  const all = sum(first);
  return all ? (sum(first.filter(({ name }) => name === "passkey")) / all).toLocaleString(language, { style: "percent" }) : "–";
}
