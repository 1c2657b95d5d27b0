// The keys that sign tokens, and their rotation.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useAction } from "./action";
import { api, isForbidden, must } from "./api";
import { may } from "./session";
import { Pill, toneOf } from "./parts/Pill";
import { formatTime, t } from "./texts";
import { Confirm, Failed, Loading, Page } from "./ui";

export function KeysPage() {
  const cache = useQueryClient();
  const [failed, setFailed] = useState<unknown>();
  const [done, setDone] = useState("");
  const read = useQuery({ queryKey: ["signing-keys"], queryFn: async () => must(await api.GET("/signing-keys")) });
  const rotate = useAction("rotate", async (now: boolean) => {
    cache.setQueryData(["signing-keys"], must(await api.POST("/signing-keys/rotate", { body: { now } })));
    setFailed(undefined);
    setDone(now ? t("The new keys sign from now on.") : t("The next keys are published."));
  }, setFailed);
  const actions = (
    <>
      <Confirm kind="" label={t("Publish the next keys")} question={t("The next key of each algorithm is published now, and signs as soon as other parties had time to read it.")} onConfirm={() => void rotate(false)} />
      <Confirm label={t("Replace the keys at once")} question={t("New keys sign at once. Parties that keep a copy of the published keys reject new tokens for a while. Do this only if a key may have leaked.")} onConfirm={() => void rotate(true)} />
    </>
  );
  return (
    <Page title={t("Signing keys")} actions={may("system") && !isForbidden(read.error) && actions}>
      <p className="quiet">{t("The server replaces these keys regularly by itself. Tokens that older keys have signed stay valid.")}</p>
      {Boolean(failed) && <Failed error={failed} />}
      <p role="status">{done}</p>
      {read.isPending && <Loading />}
      {read.error && <Failed error={read.error} retry={() => void read.refetch()} />}
      {read.data && (
        <div className="scroll" role="region" aria-label={t("Signing keys")} tabIndex={0}>
          <table className="stacked" aria-label={t("Signing keys")}>
            <thead><tr>{["Key", "Algorithm", "State", "Published", "Signs from", "Retired", "Kept until"].map((name) => <th key={name} scope="col">{t(name)}</th>)}</tr></thead>
            <tbody>
              {read.data.keys.map((key) => (
                <tr key={key.id}>
                  <td><code>{key.id}</code></td>
                  <td data-label={t("Algorithm")}>{key.algorithm}</td>
                  <td data-label={t("State")}><Pill tone={toneOf(key.status)}>{t(key.status)}</Pill></td>
                  {Object.entries({ "Published": key.publishedAt, "Signs from": key.signsFrom, "Retired": key.retiredAt, "Kept until": key.neededUntil }).map(([name, time]) => (
                    <td key={name} className="time" data-label={t(name)}>{formatTime(time ?? undefined) || "—"}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Page>
  );
}
