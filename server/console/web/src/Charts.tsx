// The charts of the overview. Each has a table with the same numbers. The library is large, so this
// module is loaded when it is needed.
import { type ReactNode, useId } from "react";
import { Area, AreaChart, Bar, BarChart, CartesianGrid, Legend, ResponsiveContainer, Tooltip, XAxis, YAxis } from "recharts";
import { language, t } from "./texts";

export interface Step { at: string; count: number }
export interface Count { name: string; count: number }

/** Series is a line of a chart over time. */
export interface Series { name: string; color: string; steps: Step[] }

const axis = { stroke: "var(--ink-2)", tick: { fill: "var(--ink-2)", fontSize: 12 }, tickLine: false } as const;
const bubble = { contentStyle: { background: "var(--surface)", border: "1px solid var(--line)", color: "var(--ink)" }, itemStyle: { color: "var(--ink)" } } as const;

function Figure({ title, summary, children, head, rows }: { title: string; summary: string; children: ReactNode; head: string[]; rows: (string | number)[][] }) {
  const id = useId();
  return (
    <figure aria-labelledby={id}>
      <figcaption id={id}><strong>{title}</strong> <span className="quiet">{summary}</span></figcaption>
      <div className="chart">{children}</div>
      <details>
        <summary>{t("Show as a table")}</summary>
        <div className="scroll" tabIndex={0} role="region" aria-labelledby={id}>
          <table>
            <thead><tr>{head.map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
            <tbody>{rows.map((row) => <tr key={String(row[0])}>{row.map((cell, i) => (i ? <td key={i}>{cell}</td> : <th key={i} scope="row">{cell}</th>))}</tr>)}</tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

const total = (list: { count: number }[]) => list.reduce((sum, { count }) => sum + count, 0);

/** TimeChart shows numbers over time; step is hour or day. */
export function TimeChart({ title, step, series }: { title: string; step: string; series: Series[] }) {
  const label = (at: string) => new Date(at).toLocaleString(language, step === "day" ? { dateStyle: "medium" } : { dateStyle: "short", timeStyle: "short" });
  const data = (series[0]?.steps ?? []).map(({ at }, i) => Object.fromEntries([["at", at], ...series.map((s) => [s.name, s.steps[i]?.count ?? 0])]));
  const summary = series.map((s) => `${s.name}: ${total(s.steps).toLocaleString(language)}`).join(" · ");
  return (
    <Figure title={title} summary={summary} head={[t("When"), ...series.map((s) => s.name)]} rows={data.map((row) => [label(String(row.at)), ...series.map((s) => Number(row[s.name]))])}>
      <ResponsiveContainer width="100%" height={220}>
        <AreaChart data={data} title={`${title}: ${summary}`} margin={{ top: 8, right: 8, bottom: 0, left: 0 }}>
          <CartesianGrid stroke="var(--line)" vertical={false} />
          <XAxis dataKey="at" tickFormatter={label} minTickGap={48} {...axis} />
          <YAxis allowDecimals={false} width={40} {...axis} />
          <Tooltip labelFormatter={(at) => label(String(at))} {...bubble} />
          {series.length > 1 && <Legend iconType="plainline" formatter={(name) => <span className="quiet">{String(name)}</span>} />}
          {series.map((s, i) => <Area key={s.name} dataKey={s.name} stroke={s.color} strokeWidth={2} strokeDasharray={i === 0 ? "" : "5 3"} fill={s.color} fillOpacity={0.15} isAnimationActive={false} />)}
        </AreaChart>
      </ResponsiveContainer>
    </Figure>
  );
}

/** CountChart shows numbers by name, the largest first. */
export function CountChart({ title, what, counts, color, empty }: { title: string; what: string; counts: Count[]; color: string; empty: string }) {
  const all = total(counts);
  const shown = counts.slice(0, 8).map(({ name, count }) => ({ name: t(name), count }));
  if (all === 0) {
    return <figure><figcaption><strong>{title}</strong></figcaption><p className="quiet">{empty}</p></figure>;
  }
  const share = (count: number) => (count / all).toLocaleString(language, { style: "percent" });
  const summary = counts.slice(0, 3).map(({ name, count }) => `${t(name)} ${share(count)}`).join(" · ");
  return (
    <Figure title={title} summary={summary} head={[what, t("Number"), t("Share")]} rows={counts.map(({ name, count }) => [t(name), count, share(count)])}>
      <ResponsiveContainer width="100%" height={48 + 36 * shown.length}>
        <BarChart data={shown} layout="vertical" title={`${title}: ${summary}`} margin={{ top: 0, right: 16, bottom: 0, left: 0 }}>
          <XAxis type="number" allowDecimals={false} {...axis} />
          <YAxis type="category" dataKey="name" width={130} {...axis} />
          <Tooltip cursor={{ fill: "var(--sunken)" }} {...bubble} />
          <Bar dataKey="count" name={t("Number")} fill={color} radius={3} maxBarSize={22} isAnimationActive={false} />
        </BarChart>
      </ResponsiveContainer>
    </Figure>
  );
}
