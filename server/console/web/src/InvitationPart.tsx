// The invitation of a user who has no way to sign in yet.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Fragment, useState } from "react";
import { Button } from "react-aria-components";
import { Link } from "react-router";
import { useAction } from "./action";
import { api, must, RequestError } from "./api";
import type { Item } from "./nouns";
import { formatTime, t } from "./texts";
import { Confirm, Failed, Loading } from "./ui";
import { useParts } from "./UserParts";

/** mostOthers limits the named applications without an invitation flow. */
const mostOthers = 5;

export function InvitationPart({ user }: { user: Item }) {
  const { id } = user;
  const cache = useQueryClient();
  const [application, setApplication] = useState("");
  const [failed, setFailed] = useState<unknown>();
  const [done, setDone] = useState("");
  const path = { id };
  const invitation = useQuery({
    queryKey: ["invitation", id],
    queryFn: async () => {
      const reply = await api.GET("/users/{id}/invitation", { params: { path } });
      return reply.response.status === 404 ? null : must(reply);
    },
  });
  const choice = useQuery({
    queryKey: ["admitting applications", id],
    queryFn: async () => must(await api.GET("/users/{id}/applications", { params: { path, query: { limit: 100 } } })).applications,
  });
  const refresh = () => cache.invalidateQueries({ queryKey: ["invitation", id] });
  const finish = (text: string) => {
    setDone(text);
    setFailed(undefined);
    return refresh();
  };
  const fail = (error: unknown) => {
    setDone("");
    setFailed(error);
    void refresh();
  };
  const invite = useAction("invite", async ({ applicationId }: { applicationId: string }) => {
    const sent = must(await api.POST("/users/{id}/invitation", { params: { path }, body: { applicationId } }));
    await finish(t("The invitation was sent to {email}.", { email: sent.email ?? "" }));
  }, fail);
  const withdraw = useAction("withdraw invitation", async () => {
    const reply = await api.DELETE("/users/{id}/invitation", { params: { path } });
    if (!reply.response.ok) {
      throw new RequestError(reply.response, reply.error);
    }
    await finish(t("The invitation was withdrawn."));
  }, fail);
  const parts = useParts(id);
  const error = invitation.error ?? choice.error;
  const isConsole = (a: { clientId?: string | null }) => Number(a.clientId === "CONSOLE"); // last: most users are no administrators
  const admitting = choice.data ?? [];
  const inviting = admitting.filter((a) => a.invitationFlowId).sort((a, b) => isConsole(a) - isConsole(b));
  const others = admitting.filter((a) => !a.invitationFlowId);
  const pending = invitation.data;
  // Only the administrator knows which of several applications the user needs.
  const obvious = inviting.find((a) => a.id === pending?.applicationId) ?? (inviting.length === 1 ? inviting[0] : undefined);
  const chosen = application || (obvious?.id ?? "");
  const nameOf = (applicationId: string) => choice.data?.find((a) => a.id === applicationId)?.name ?? applicationId;
  return (
    <section aria-labelledby="part-invitation">
      <h2 id="part-invitation">{t("Invitation")}</h2>
      {error && <Failed error={error} retry={() => { void invitation.refetch(); void choice.refetch(); }} />}
      {Boolean(failed) && <Failed error={failed} />}
      <p role="status">{done}</p>
      {!error && (invitation.isPending || choice.isPending) && <Loading />}
      {pending && (
        <p>
          {t("Invited to {app} at {email}, valid until {time}.", { app: nameOf(pending.applicationId), email: pending.email, time: formatTime(pending.expiresAt) })}{" "}
          {pending.opened && t("The link has been opened.")}
        </p>
      )}
      {!error && choice.data && parts.data && parts.data.methods > 0 && <p className="quiet">{t("An invitation is for users who cannot sign in yet. This user has a password, a passkey or a linked identity. Users who have lost it choose “Trouble signing in?” on the sign-in page of an application with a recovery flow.")}</p>}
      {!error && choice.data && parts.data?.methods === 0 && (
        <>
          {inviting.length > 0 && (
            <div className="actions">
              <label>{t("Application")} <select value={chosen} onChange={(event) => setApplication(event.target.value)}>{!obvious && <option value="">{t("Not set")}</option>}{inviting.map((a) => <option key={a.id} value={a.id}>{a.name}</option>)}</select></label>
              <Button isDisabled={chosen === ""} onPress={() => void invite({ applicationId: chosen })}>{pending ? t("Send a new invitation") : t("Invite")}</Button>
              {pending && <Confirm label={t("Withdraw the invitation")} question={t("The link in the mail will no longer work.")} onConfirm={() => void withdraw(undefined)} />}
            </div>
          )}
          {others.length > 0 && (
            <p className="quiet">
              {t("An application can invite users if it has an invitation flow, which its page sets. These have none:")}{" "}
              {others.slice(0, mostOthers).map((a, i) => <Fragment key={a.id}>{i > 0 && ", "}<Link to={`/applications/${a.id}`}>{a.name}</Link></Fragment>)}{others.length > mostOthers && " …"}
            </p>
          )}
        </>
      )}
    </section>
  );
}
