// Why a user could not sign in: the state of the account, and the latest runs and refusals, step by
// step. The server explains them; its sentences are the keys of the texts.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { useAction } from "./action";
import { api, must, RequestError } from "./api";
import type { operations } from "./description";
import { mayChange } from "./nouns";
import { may } from "./session";
import { formatTime, t } from "./texts";
import { Confirm, Failed, Loading } from "./ui";

type Report = operations["explainSignIns"]["responses"][200]["content"]["application/json"];
type Attempt = NonNullable<Report["attempts"]>[number];
type Step = Attempt["steps"][number];
type Sentence = Step["sentences"][number];

export function SignInHelp({ id }: { id: string }) {
  const cache = useQueryClient();
  const [failed, setFailed] = useState<unknown>();
  const params = { path: { id } };
  const read = useQuery({ queryKey: ["sign-ins", id], queryFn: async (): Promise<Report> => must(await api.GET("/users/{id}/sign-in-attempts", { params })) });
  const forget = useAction("forget guesses", async () => {
    const reply = await api.DELETE("/users/{id}/failed-guesses", { params });
    if (!reply.response.ok) {
      throw new RequestError(reply.response, reply.error);
    }
    setFailed(undefined);
    await cache.invalidateQueries({ queryKey: ["sign-ins", id] });
  }, setFailed);
  const attempts = read.data?.attempts;
  return (
    <section aria-labelledby="part-sign-ins">
      <h2 id="part-sign-ins">{t("Why could this user not sign in?")}</h2>
      {read.error && <Failed error={read.error} retry={() => void read.refetch()} />}
      {Boolean(failed) && <Failed error={failed} />}
      {read.isPending && <Loading />}
      {read.data?.state.map((sentence) => <p key={sentence.text}>{say(sentence)}</p>)}
      {read.data?.blockedAt && (
        <div className="notice">
          <p>{t("Too many guesses had failed at {time}. Until the user signs in with that password or code, new browsers and networks cannot use it. A passkey, and the browsers and networks of earlier sign-ins, are not affected.", { time: formatTime(read.data.blockedAt) })}</p>
          {mayChange("/users") && <Confirm label={t("Forget the failed guesses")} question={t("Guesses at this account are then possible again from any network.")} onConfirm={() => void forget(undefined)} />}
        </div>
      )}
      {read.data && !attempts && <p className="notice">{t("The latest sign-ins are in the audit log. To see them here, you need the permission {permission}.", { permission: "system:audit:read" })}</p>}
      {attempts?.length === 0 && <p className="quiet">{t("The audit log has no sign-ins and no refusals of this user. An attempt with a wrong username belongs to no user.")}</p>}
      {attempts?.map((attempt) => <Explained key={attempt.executionDigest ?? attempt.at} attempt={attempt} />)}
    </section>
  );
}

/** say returns a sentence of the server in the language of the console. */
function say({ text, values = {} }: Sentence): string {
  return t(text, { ...values, ...(values["time"] && { time: formatTime(values["time"]) }) });
}

function Explained({ attempt: { at, signedIn, executionDigest, traceId, steps } }: { attempt: Attempt }) {
  const outcome = !signedIn ? t("not signed in") : steps.some(({ flow }) => flow) ? t("signed in afterwards") : t("signed in"); // failures have a place
  const title = `${formatTime(at)} · ${outcome}`;
  return (
    <article className="attempt" aria-label={title}>
      <h3>{title}</h3>
      <ol>{steps.map((step, i) => <li key={i}>{step.sentences.map(say).join(" ")} <Where step={step} /></li>)}</ol>
      {executionDigest && traceId && <p className="quiet"><Link to={`/audit?traceId=${traceId}`}>{t("Its last request in the audit log")}</Link></p>}
    </article>
  );
}

/** Where names the flow, its version and the node of a failure, with a link to the studio, and the code of the reason. */
function Where({ step: { flow, flowId, flowVersion, node, code } }: { step: Step }) {
  const place = flowId && node && flowVersion && t("{flow}, version {n}, node {node}", { flow: flow ?? flowId, n: flowVersion, node });
  return (
    <span className="quiet">
      {place && (may("system:flows:read") ? <Link to={`/flows/${flowId}?${new URLSearchParams({ version: flowVersion, node })}`}>{place}</Link> : place)}
      {code && <> <code>{code}</code></>}
    </span>
  );
}
