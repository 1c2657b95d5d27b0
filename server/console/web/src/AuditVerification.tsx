// The verification of the hash chain of the audit log, in parts that each cost little.
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Button, Input, Label, TextField } from "react-aria-components";
import { api, must } from "./api";
import { formatTime, t } from "./texts";
import { CopyButton, Failed } from "./ui";

export function AuditVerification() {
  const [expect, setExpect] = useState("");
  const [verified, setVerified] = useState(0);
  const verification = useMutation({
    mutationFn: async () => {
      setVerified(0);
      for (let after = "", events = 0, removed = 0; ;) {
        const part = must(await api.GET("/audit-verification", { params: { query: { ...(after && { after }), ...(expect && { expect }) } } }));
        [events, removed, after] = [events + part.events, removed + part.removed, part.end];
        setVerified(events);
        if (part.complete || part.fault) {
          return { ...part, events, removed };
        }
      }
    },
  });
  const found = verification.data;
  return (
    <details className="notice">
      <summary>{t("Verify that nothing was changed")}</summary>
      <p>{t("Each event is sealed with the hash of the one before. The verification shows whether a sealed event was altered or removed by an attacker who can write to the database but does not have the key of the server.")}</p>
      <p className="quiet">{t("It does not show events that were added to the database without a seal, which the command postern audit verify finds, nor that the newest part was removed as a whole or the database replaced by an older copy: for that, keep the end of the chain elsewhere and enter it at the next verification.")}</p>
      <div className="filter">
        <TextField value={expect} onChange={(value) => setExpect(value.trim())}><Label>{t("End of an earlier verification (optional)")}</Label><Input placeholder="1200:9f86d0…" /></TextField>
        <Button className="primary" isDisabled={verification.isPending} onPress={() => verification.mutate()}>{t("Verify")}</Button>
      </div>
      <div role="status">
        {verification.isPending && <p>{t("{n} events are verified so far …", { n: verified })}</p>}
        {found && !found.fault && (
          <>
            <p><strong>{t("The audit log is intact: {n} events, and {removed} that the retention time removed.", { n: found.events, removed: found.removed })}</strong></p>
            {found.end && <p>{t("End of the chain")}: <code>{found.end}</code> <CopyButton text={found.end} /></p>}
          </>
        )}
      </div>
      {found?.fault && (
        <div role="alert" className="notice bad">
          <p><strong>{t("The audit log was changed at seal {seal}.", { seal: found.fault.seal })}</strong> {found.fault.problem}</p>
          {found.fault.eventId && <p>{t("Event")}: <code>{found.fault.eventId}</code> {formatTime(found.fault.at)}</p>}
          <p>{t("The {n} events before are as they were recorded.", { n: found.events })}</p>
        </div>
      )}
      {verification.error && <Failed error={verification.error} />}
    </details>
  );
}
