// Why a user could not sign in: the state of the account, and the latest runs and refusals from the
// audit log, step by step. Addresses and browsers stay in the audit log.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { api, type AuditEvent, must, RequestError } from "./api";
import { type Item } from "./nouns";
import { formatTime, t } from "./texts";
import { Confirm, Failed, Loading } from "./ui";

/** mostRuns limits the runs that are explained; each takes a request. */
const mostRuns = 5;

/** Attempt is a run or, without a digest, a refusal outside a run. Its events are in the order of time. */
interface Attempt {
  digest: string | undefined;
  events: AuditEvent[];
}

async function find(query: Record<string, string>, limit: number): Promise<AuditEvent[]> {
  return must(await api.GET("/audit-events", { params: { query: { ...query, limit } } })).auditEvents;
}

/** readAttempts returns the latest attempts of the user to sign in, newest first, and when guesses were blocked. */
async function readAttempts(user: string): Promise<{ attempts: Attempt[]; blockedAt: string }> {
  const [failures, signIns, exhausted, forgotten] = await Promise.all([
    find({ user, failures: "true" }, 20), find({ user, action: "user.signed_in" }, mostRuns),
    find({ user, action: "guesses.exhausted" }, 1), find({ user, action: "guesses.forgotten" }, 1),
  ]);
  const latest = [...failures, ...signIns].sort((a, b) => b.at.localeCompare(a.at));
  const keys = [...new Set(latest.map((event) => event.executionDigest ?? event.id))].slice(0, mostRuns);
  const attempts = keys.map(async (key): Promise<Attempt> => {
    const alone = latest.find((event) => event.id === key);
    if (alone) {
      return { digest: undefined, events: [alone] };
    }
    const events = await find({ executionDigest: key }, 100);
    return { digest: key, events: events.reverse().filter((event) => !event.userId || event.userId === user) };
  });
  const last = exhausted[0]?.at ?? "";
  return { attempts: await Promise.all(attempts), blockedAt: (forgotten[0]?.at ?? "") < last ? last : "" };
}

export function SignInHelp({ user }: { user: Item }) {
  const cache = useQueryClient();
  const [failed, setFailed] = useState<unknown>();
  const read = useQuery({ queryKey: ["sign-ins", user.id], queryFn: () => readAttempts(user.id) });
  const isHidden = read.error instanceof RequestError && read.error.status === 403;
  const forget = async () => {
    const reply = await api.DELETE("/users/{id}/failed-guesses", { params: { path: { id: user.id } } });
    setFailed(reply.response.ok ? undefined : new RequestError(reply.response, reply.error));
    await cache.invalidateQueries({ queryKey: ["sign-ins", user.id] });
  };
  return (
    <section aria-labelledby="part-sign-ins">
      <h2 id="part-sign-ins">{t("Why could this user not sign in?")}</h2>
      {explainState(user).map((text) => <p key={text}>{text}</p>)}
      {isHidden && <p className="notice">{t("The latest sign-ins are in the audit log. To see them here, you need the permission {permission}.", { permission: "system:audit:read" })}</p>}
      {read.error && !isHidden && <Failed error={read.error} retry={() => void read.refetch()} />}
      {Boolean(failed) && <Failed error={failed} />}
      {read.isPending && <Loading />}
      {read.data?.blockedAt && (
        <div className="notice">
          <p>{t("Too many guesses had failed at {time}. Until the user signs in with that password or code, new browsers and networks cannot use it. A passkey, and the browsers and networks of earlier sign-ins, are not affected.", { time: formatTime(read.data.blockedAt) })}</p>
          <Confirm label={t("Forget the failed guesses")} question={t("Guesses at this account are then possible again from any network.")} onConfirm={() => void forget()} />
        </div>
      )}
      {read.data?.attempts.length === 0 && <p className="quiet">{t("The audit log has no sign-ins and no refusals of this user. An attempt with a wrong username belongs to no user.")}</p>}
      {read.data?.attempts.map((attempt) => <Explained key={attempt.events[0]?.id ?? attempt.digest} attempt={attempt} />)}
    </section>
  );
}

/** explainState returns what the state of the account means for a sign-in. */
function explainState(user: Item, now = Date.now()): string[] {
  const lockedUntil = String(user["lockedUntil"] ?? "");
  const time = formatTime(lockedUntil);
  const isLocked = lockedUntil !== "" && new Date(lockedUntil).getTime() > now;
  const texts = [
    ...(user["status"] === "disabled" ? [t("The account is disabled: the user cannot sign in by any means until you enable it.")] : []),
    ...(isLocked ? [t("The account is locked until {time}: the user cannot sign in by any means before that.", { time })] : []),
  ];
  const ended = lockedUntil !== "" && !isLocked ? [t("The lock of the account ended at {time}.", { time })] : [];
  return [...(texts.length > 0 ? texts : [t("The account is active: neither disabled nor locked.")]), ...ended];
}

function Explained({ attempt: { digest, events } }: { attempt: Attempt }) {
  const title = `${formatTime(events[0]?.at)} · ${events.some(({ action }) => action === "user.signed_in") ? t("signed in") : t("not signed in")}`;
  return (
    <article className="attempt" aria-label={title}>
      <h3>{title}</h3>
      <ol>
        {events.map((event) => <li key={event.id}>{explain(event)} <Where event={event} /></li>)}
        {digest && !events.some(isEnd) && <li>{t("Nothing more is recorded: the user left the page, the run expired, or the flow ended it.")}</li>}
      </ol>
      {digest && <p className="quiet"><Link to={`/audit?traceId=${events.at(-1)?.traceId ?? ""}`}>{t("Its last request in the audit log")}</Link></p>}
    </article>
  );
}

/** isEnd reports whether nothing follows the event in its run. */
function isEnd({ action, detail }: AuditEvent): boolean {
  return ["user.signed_in", "flow.failed", "consent.denied", "user.sign_in_canceled"].includes(action)
    || (action === "user.sign_in_refused" && detail?.["kind"] !== "password-authenticate") || detail?.["end"] !== undefined;
}

/** Where names the flow, its version and the node of an event, with a link to the studio. */
function Where({ event: { detail = {} } }: { event: AuditEvent }) {
  const { flow, flowId, flowVersion, node } = detail;
  const code = detail["reason"] ?? detail["error"];
  const isCode = code !== undefined && /^[a-z_]+$/.test(code);
  return (
    <span className="quiet">
      {flowId && node && flowVersion && (
        <Link to={`/flows/${flowId}?${new URLSearchParams({ version: flowVersion, node })}`}>{t("{flow}, version {n}, node {node}", { flow: flow ?? flowId, n: flowVersion, node })}</Link>
      )}
      {isCode && <> <code>{code}</code></>}
    </span>
  );
}

/** The reasons that replies conceal, and the codes of errors. */
const failures: Record<string, string> = {
  unknown_user: "The entered username belongs to no user.",
  wrong_password: "The password was wrong.",
  no_password: "A password was entered, but the account has none.",
  wrong_code: "The code of the authenticator app was wrong.",
  used_code: "The code of the authenticator app had been used before.",
  no_authenticator_app: "A code was entered, but the account has no authenticator app.",
  wrong_recovery_code: "The recovery code was wrong, or belongs to a set that was replaced.",
  used_recovery_code: "The recovery code had been used before.",
  wrong_mailed_code: "The mailed code was wrong.",
  no_email_address: "A code was requested, but none was mailed: the account has no email address.",
  unverified_address: "A code was requested, but none was mailed: the email address of the account is not verified.",
  passkey_unknown: "The passkey is not registered here.",
  passkey_of_other_user: "The passkey belongs to another user.",
  passkey_not_of_user: "The passkey was removed from the account, or belongs to another user.",
  identity_of_other_user: "The account at the identity provider belongs to another user.",
  invalid_credentials: "The password or code was wrong.",
  invalid_code: "The code was wrong or had expired.",
  code_used: "The code had been used before.",
  passkey_verification_failed: "The passkey was not accepted: it is not registered here, or its answer was invalid.",
  credential_not_found: "The passkey is not registered here.",
  too_many_attempts: "Too many attempts failed, so the run ended. The user can start again.",
  account_disabled: "The account was disabled when the user authenticated.",
  account_locked: "The account was locked when the user authenticated.",
  credential_limited: "The credential was added after a sign-in that is weaker than what this flow guarantees. The user must sign in in another way.",
  user_type_not_allowed: "The application does not allow the type of this user.",
  identity_taken: "The account at the identity provider belongs to another user.",
  federation_declined: "The user declined at the identity provider.",
  federation_failed: "The reply of the identity provider was rejected.",
  federation_unavailable: "The identity provider did not answer.",
  invalid_link: "The link was invalid, used before, or expired.",
  mail_throttled: "The user requested codes too quickly.",
};

const actions: Record<string, string> = {
  "user.signed_in": "The user signed in.",
  "password.used": "The password was right.",
  "passkey.used": "The passkey was accepted.",
  "email_code.sent": "A code was sent by mail.",
  "email_code.not_sent": "A code was requested, but there is no such account, or it has no email address.",
  "email_code.used": "The mailed code was right.",
  "totp.used": "The code of the authenticator app was right.",
  "recovery.used": "A recovery code was accepted.",
  "identity.used": "The identity provider confirmed the user.",
  "guesses.exhausted": "Too many guesses have failed: new browsers and networks are blocked.",
  "passkey.refused": "The passkey may have been copied and was refused.",
  "identity.refused": "The reply of the identity provider was rejected.",
  "http_request.failed": "A service that the flow calls failed.",
  "flow.failed": "The flow has a fault: an expression has no value. Its author must fix it.",
  "consent.missing": "The application lacked a consent that the user can give.",
  "consent.denied": "The user did not agree that the application gets access.",
  "consent.approved": "The user agreed that the application gets access.",
  "attempt.failed": "An attempt to authenticate failed.",
  "user.sign_in_refused": "The sign-in was refused.",
  "user.created": "The account was created.",
  "user.updated": "The data of the account was changed.",
  "invitation.accepted": "The invitation was accepted.",
  "passkey.registered": "A passkey was added.",
  "password.set": "A password was set.",
  "totp.registered": "An authenticator app was added.",
  "recovery.issued": "New recovery codes were shown.",
  "identity.linked": "An account at an identity provider was linked.",
  "user.sign_in_canceled": "The user canceled the sign-in.",
};

/** explain returns a sentence about an event. */
function explain({ action, detail = {} }: AuditEvent): string {
  const known = ["attempt.failed", "user.sign_in_refused", "email_code.not_sent"].includes(action)
    ? failures[detail["reason"] ?? ""] ?? failures[detail["error"] ?? ""] : undefined;
  const sentence = action === "user.signed_in" && detail["bySession"] === "true" ? t("The session of the browser continued.") : t(known ?? actions[action] ?? action);
  return [
    sentence, ...(detail["end"] ? [t(failures[detail["end"]] ?? "The run ended.")] : []),
    ...(detail["repeated"] ? [t("This happened {n} times from this network within an hour.", { n: detail["repeated"] })] : []),
  ].join(" ");
}
