// The state of a user: disabled, enabled, locked for a time, unlocked.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "react-aria-components";
import { useAction } from "./action";
import { RequestError, send } from "./api";
import type { Item } from "./nouns";
import { Pill, toneOf } from "./parts/Pill";
import { formatTime, t } from "./texts";
import { Confirm, Failed } from "./ui";

interface Read {
  data: Item;
  etag: string;
}

const hours = 3600_000;

/** Durations of a lock in hours, with their names. */
const durations: [number, string][] = [[1, "1 hour"], [24, "1 day"], [7 * 24, "7 days"], [30 * 24, "30 days"], [365 * 24, "1 year"]];

/** stateOf returns the state of a user. */
function stateOf(user: Item): "active" | "disabled" | "locked" {
  const isLocked = new Date(String(user["lockedUntil"] ?? "")).getTime() > Date.now();
  return user["status"] === "disabled" ? "disabled" : isLocked ? "locked" : "active";
}

/** StatePill shows the state of a user. */
export function StatePill({ user }: { user: Item }) {
  const state = stateOf(user);
  return <Pill tone={toneOf(state)}>{state === "locked" ? t("locked until {time}", { time: formatTime(String(user["lockedUntil"])) }) : t(state)}</Pill>;
}

const patch = (id: string, change: Record<string, unknown>, etag: string) =>
  send("PATCH", `/users/${id}`, change, { "Content-Type": "application/merge-patch+json", "If-Match": etag }) as Promise<Read>;

const isConflict = (error: unknown) => error instanceof RequestError && error.status === 412;

/** UserState changes the state at once. If someone else has changed the user, it changes nothing and reports the user of now. */
export function UserState({ user, onChange, onConflict }: { user: Read; onChange: (user: Read) => void; onConflict: (user: Read) => void }) {
  const cache = useQueryClient();
  const [duration, setDuration] = useState(24);
  const [result, setResult] = useState<{ done?: string; error?: unknown; isChanged?: boolean }>({});
  const { data } = user;
  const state = stateOf(data);
  const change = useAction("user state", async ({ members, etag }: { members: Record<string, unknown>; etag: string }) => {
    try {
      onChange(await patch(data.id, members, etag));
    } catch (error) {
      if (!isConflict(error)) {
        throw error;
      }
      onConflict(await send("GET", `/users/${data.id}`) as Read);
      setResult({ isChanged: true });
      return;
    }
    setResult({ done: t("Saved.") });
    for (const key of [["/users"], ["parts", data.id], ["sign-ins", data.id]]) {
      void cache.invalidateQueries({ queryKey: key, refetchType: key[0] === "/users" ? "none" : "active" });
    }
  }, (error) => setResult({ error }));
  const set = (members: Record<string, unknown>) => void change({ members, etag: user.etag });
  const lock = () => set({ lockedUntil: new Date(Date.now() + duration * hours).toISOString() });
  return (
    <section aria-label={t("State")} className="plain state">
      <div className="actions">
        {state === "disabled"
          ? <Button onPress={() => set({ status: "active" })}>{t("Enable")}</Button>
          : <Confirm label={t("Disable")} question={t("The user cannot sign in until enabled again. All sessions, tokens and unfinished sign-ins end now.")} onConfirm={() => set({ status: "disabled" })} />}
        {state === "locked"
          ? <Button onPress={() => set({ lockedUntil: null })}>{t("Unlock")}</Button>
          : (
            <Confirm label={t("Lock")} question={t("The user cannot sign in for this time. All sessions, tokens and unfinished sign-ins end now.")} onConfirm={lock}>
              <label>{t("For how long?")} <select value={duration} onChange={(event) => setDuration(Number(event.target.value))}>{durations.map(([value, name]) => <option key={value} value={value}>{t(name)}</option>)}</select></label>
            </Confirm>
          )}
        <span role="status">{result.done}</span>
      </div>
      {result.isChanged && <p role="alert" className="notice bad">{t("Someone else has changed this user in the meantime. Nothing was changed. This is the state now; press the button again to change it.")}</p>}
      {Boolean(result.error) && <Failed error={result.error} />}
    </section>
  );
}
