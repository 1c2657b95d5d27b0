// The weakest chains of runs of the flows that are stored, which no change may weaken.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, must } from "../api";
import type { components } from "../description";
import { t } from "../texts";
import { Failed, Loading } from "../ui";

type Way = components["schemas"]["Way"];

export function Chains() {
  const [isOpen, setOpen] = useState(false);
  const read = useQuery({ queryKey: ["/flows", "chains"], enabled: isOpen, queryFn: async () => must(await api.GET("/flows/chains")) });
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t("Weakest chains of runs")}</summary>
      <p className="quiet">{t("What an attacker needs at least to get tokens of an application, with the stored flows.")}</p>
      {read.error ? <Failed error={read.error} retry={() => void read.refetch()} /> : !read.data ? isOpen && <Loading /> : <Ways ways={read.data.ways} />}
    </details>
  );
}

function Ways({ ways }: { ways: Way[] }) {
  if (ways.length === 0) {
    return <p className="quiet">{t("There are none.")}</p>;
  }
  return (
    <ul className="parts">
      {joined(ways).map(({ way, classes }, i) => (
        <li key={i}>
          <details>
            <summary>{t("{target} with {means}", { target: targetName(way), means: meansName(way) })}: <code>{classes.join(", ")}</code></summary>
            {way.conditions && <p className="quiet">{t("If {conditions}.", { conditions: way.conditions.join(", ") })}</p>}
            <ol>
              {way.runs.map((run, n) => (
                <li key={n}>{run.application}, {run.flow}: {(run.path ?? []).map((move) => (move.outcome ? `${move.node} —${move.outcome}→` : move.node)).join(" ")} <span className="quiet">{run.gains}</span></li>
              ))}
            </ol>
          </details>
        </li>
      ))}
    </ul>
  );
}

/** joined returns the ways with their classes, those that differ only in the class as one. */
function joined(ways: Way[]): { way: Way; classes: string[] }[] {
  const found = new Map<string, { way: Way; classes: string[] }>();
  for (const way of ways) {
    const key = JSON.stringify({ ...way, target: { ...way.target, acr: "" } });
    const same = found.get(key) ?? { way, classes: [] };
    same.classes.push(way.target.acr);
    found.set(key, same);
  }
  return [...found.values()];
}

function targetName({ target }: Way): string {
  return target.credential ?? target.application ?? "";
}

function meansName({ means }: Way): string {
  const names = [
    ...(means.mailbox ? [t("the user's mailbox")] : []),
    ...(means.password ? [t("the user's password")] : []),
    ...(means.manager ? [t("a client that manages users")] : []),
  ];
  return names.length > 0 ? names.join(" + ") : t("an open browser");
}
