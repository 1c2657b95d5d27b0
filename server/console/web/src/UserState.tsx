// The state of a user: disabled, enabled, locked for a time, unlocked.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "react-aria-components";
import { RequestError, send } from "./api";
import type { Item } from "./nouns";
import { formatTime, t } from "./texts";
import { Confirm, Failed } from "./ui";

interface Read {
  data: Item;
  etag: string;
}

const hours = 3600_000;

/** Durations of a lock in hours, with their names. */
const durations: [number, string][] = [[1, "1 hour"], [24, "1 day"], [7 * 24, "7 days"], [30 * 24, "30 days"], [365 * 24, "1 year"]];

const patch = (user: Read, change: Record<string, unknown>) =>
  send("PATCH", `/users/${user.data.id}`, change, { "Content-Type": "application/merge-patch+json", "If-Match": user.etag }) as Promise<Read>;

const isConflict = (error: unknown) => error instanceof RequestError && error.status === 412;

/** UserState changes the state at once. If someone else has changed the user, it changes nothing and reports the user of now. */
export function UserState({ user, onChange, onConflict }: { user: Read; onChange: (user: Read) => void; onConflict: (user: Read) => void }) {
  const cache = useQueryClient();
  const [duration, setDuration] = useState(24);
  const [result, setResult] = useState<{ done?: string; error?: unknown; isChanged?: boolean }>({});
  const { data } = user;
  const lockedUntil = String(data["lockedUntil"] ?? "");
  const isLocked = lockedUntil !== "" && new Date(lockedUntil).getTime() > Date.now();
  const isDisabled = data["status"] === "disabled";
  const change = async (members: Record<string, unknown>) => {
    try {
      onChange(await patch(user, members));
      setResult({ done: t("Saved.") });
      for (const key of [["/users"], ["parts", data.id], ["sign-ins", data.id]]) {
        void cache.invalidateQueries({ queryKey: key, refetchType: key[0] === "/users" ? "none" : "active" });
      }
    } catch (error) {
      if (!isConflict(error)) {
        setResult({ error });
        return;
      }
      const now = await send("GET", `/users/${data.id}`).catch((failure: unknown) => setResult({ error: failure }));
      if (now) {
        onConflict(now as Read);
        setResult({ isChanged: true });
      }
    }
  };
  const lock = () => change({ lockedUntil: new Date(Date.now() + duration * hours).toISOString() });
  return (
    <section aria-label={t("State")} className="state">
      <div className="actions">
        <strong className={isDisabled || isLocked ? "problem" : ""}>{isDisabled ? t("disabled") : isLocked ? t("locked until {time}", { time: formatTime(lockedUntil) }) : t("active")}</strong>
        {isDisabled
          ? <Button onPress={() => void change({ status: "active" })}>{t("Enable")}</Button>
          : <Confirm label={t("Disable")} question={t("The user cannot sign in until enabled again. All sessions, tokens and unfinished sign-ins end now.")} onConfirm={() => void change({ status: "disabled" })} />}
        {isLocked
          ? <Button onPress={() => void change({ lockedUntil: null })}>{t("Unlock")}</Button>
          : (
            <Confirm label={t("Lock")} question={t("The user cannot sign in for this time. All sessions, tokens and unfinished sign-ins end now.")} onConfirm={() => void lock()}>
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
