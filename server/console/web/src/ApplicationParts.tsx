// What an administrator can do with the client of an application.
import { useState } from "react";
import { useAction } from "./action";
import { api, must } from "./api";
import { hasSecret } from "./connect/client";
import type { Item } from "./nouns";
import { formatTime, t } from "./texts";
import { Confirm, Failed, Secret } from "./ui";

export function ApplicationParts({ application }: { application: Item }) {
  const [state, setState] = useState<{ secret?: string; done?: string; error?: unknown }>({});
  const fail = (error: unknown) => setState({ error });
  const [overlap, setOverlap] = useState("86400");
  const params = { path: { id: application.id } };
  const rotate = useAction("client secret", async (body: { overlap?: number; revokeTokens?: boolean }) => {
    setState({ secret: must(await api.POST("/applications/{id}/client-secret", { params, body })).clientSecret });
  }, fail);
  const revoke = useAction("revoke tokens", async () => {
    const reply = await api.POST("/applications/{id}/revoke-tokens", { params });
    if (reply.error) {
      must(reply as never);
    }
    setState({ done: t("All tokens that the application had until now are revoked.") });
  }, fail);
  const former = typeof application["formerSecretExpiresAt"] === "string" ? application["formerSecretExpiresAt"] : undefined;
  return (
    <section className="card" aria-labelledby="client">
      <h2 id="client">{t("Secret and tokens")}</h2>
      {former && <p>{t("The former client secret works until {time}.", { time: formatTime(former) })}</p>}
      <div className="actions">
      {hasSecret(application) && (
        <>
          <Confirm kind="" label={t("Rotate the client secret")} question={t("The new secret is shown once. Tokens and sessions stay. An even older secret ends now.")} onConfirm={() => void rotate({ overlap: Number(overlap) })}>
            <p>
              <label>
                {t("The old secret ends")}{" "}
                <select value={overlap} onChange={(event) => setOverlap(event.target.value)}>
                  <option value="0">{t("at once")}</option>
                  <option value="3600">{t("in an hour")}</option>
                  <option value="86400">{t("in a day")}</option>
                  <option value="604800">{t("in a week")}</option>
                </select>
              </label>
            </p>
          </Confirm>
          <Confirm
            label={t("Replace a leaked secret")} question={t("The old secret becomes invalid now, and so do all tokens of this application. The new secret is shown once.")}
            onConfirm={() => void rotate({ revokeTokens: true })}
          />
        </>
      )}
      <Confirm
        label={t("Revoke all tokens")} question={t("All access tokens, refresh tokens and codes of this application become invalid now, for all users. Sessions stay: signed-in users get new tokens without signing in again. A resource server that checks only the signature accepts access tokens until they expire.")}
        onConfirm={() => void revoke(undefined)}
      />
      </div>
      {state.secret && <Secret name={t("Client secret")} value={state.secret} />}
      {state.done && <p role="status">{state.done}</p>}
      {Boolean(state.error) && <Failed error={state.error} />}
    </section>
  );
}
