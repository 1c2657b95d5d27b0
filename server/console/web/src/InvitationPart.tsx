// The invitation of a user who has no way to sign in yet.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "react-aria-components";
import { api, must, RequestError } from "./api";
import { formatTime, t } from "./texts";
import { Confirm, Failed, Loading } from "./ui";

export function InvitationPart({ id }: { id: string }) {
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
    queryKey: ["inviting applications"],
    queryFn: async () => must(await api.GET("/applications", { params: { query: { limit: 100 } } })).applications.filter((a) => a.invitationFlowId),
  });
  const act = async (work: () => Promise<string>) => {
    try {
      setDone(await work());
      setFailed(undefined);
    } catch (error) {
      setDone("");
      setFailed(error);
    }
    await cache.invalidateQueries({ queryKey: ["invitation", id] });
  };
  const invite = () => act(async () => {
    const sent = must(await api.POST("/users/{id}/invitation", { params: { path }, body: { applicationId: chosen } }));
    return t("The invitation was sent to {email}.", { email: sent.email });
  });
  const withdraw = () => act(async () => {
    const reply = await api.DELETE("/users/{id}/invitation", { params: { path } });
    if (!reply.response.ok) {
      throw new RequestError(reply.response, reply.error);
    }
    return t("The invitation was withdrawn.");
  });
  const error = invitation.error ?? choice.error;
  const chosen = application || (choice.data?.[0]?.id ?? "");
  const nameOf = (applicationId: string) => choice.data?.find((a) => a.id === applicationId)?.name ?? applicationId;
  const pending = invitation.data;
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
      {!error && choice.data && (choice.data.length === 0
        ? <p className="quiet">{t("No application has an invitation flow. Set one in the settings of an application.")}</p>
        : (
          <div className="actions">
            <label>{t("Application")} <select value={chosen} onChange={(event) => setApplication(event.target.value)}>{choice.data.map((a) => <option key={a.id} value={a.id}>{a.name}</option>)}</select></label>
            <Button onPress={() => void invite()}>{pending ? t("Send a new invitation") : t("Invite")}</Button>
            {pending && <Confirm label={t("Withdraw the invitation")} question={t("The link in the mail will no longer work.")} onConfirm={() => void withdraw()} />}
          </div>
        ))}
    </section>
  );
}
