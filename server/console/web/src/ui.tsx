// Small parts that all pages share.
import { useEffect, useState, type ReactNode } from "react";
import { Button, Dialog, DialogTrigger, Heading, Modal } from "react-aria-components";
import { RequestError } from "./api";
import { startSignIn } from "./session";
import { t } from "./texts";

export function Loading() {
  return <p role="status" className="quiet">{t("Loading …")}</p>;
}

/** Failed shows an error of a request; an ended session offers to sign in. */
export function Failed({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  if (error instanceof RequestError && error.status === 401) {
    const isUnproved = error.failure.code === "insufficient_user_authentication";
    return (
      <div role="alert" className="notice bad">
        <p>{isUnproved ? t("This change needs a recent sign-in with your passkey. What you have entered is kept.") : t("Your session has ended. Sign in again to go on.")}</p>
        <p className="quiet">{error.message}</p>
        <Button className="primary" onPress={() => void startSignIn(isUnproved ? { max_age: "0", acr_values: "phr" } : {})}>{t("Sign in")}</Button>
      </div>
    );
  }
  const failure = error instanceof RequestError ? error.failure : undefined;
  return (
    <div role="alert" className="notice bad">
      <p><strong>{t("The request failed")}</strong></p>
      {failure?.errors && failure.errors.length > 0
        ? <ul>{failure.errors.map((problem, i) => <li key={i}>{problem.path && <code>{problem.path}</code>} {problem.message}</li>)}</ul>
        : <p>{error instanceof Error ? error.message : String(error)}</p>}
      {failure?.traceId && <p className="quiet">{t("Trace id")}: <code>{failure.traceId}</code></p>}
      {retry && <Button onPress={retry}>{t("Try again")}</Button>}
    </div>
  );
}

/** Page has the title of a page, which the browser shows too, and its actions. */
export function Page({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Console`;
  }, [title]);
  return (
    <>
      <div className="title">
        <h1 id="page-title">{title}</h1>
        <div className="actions">{actions}</div>
      </div>
      {children}
    </>
  );
}

/** CopyButton copies a text, and says whether the browser did. */
export function CopyButton({ text }: { text: string }) {
  const [copied, setCopied] = useState({ of: "", status: "" });
  const copy = () => navigator.clipboard.writeText(text).then(() => t("Copied."), () => t("The browser does not allow copying. Select the text.")).then((status) => setCopied({ of: text, status }));
  return (
    <>
      <Button onPress={() => void copy()}>{t("Copy")}</Button>
      <span role="status">{copied.of === text && copied.status}</span>
    </>
  );
}

/** Confirm is a button that asks before it acts. */
export function Confirm({ label, question, onConfirm, children, kind = "danger" }: { label: string; question: string; onConfirm: () => void; children?: ReactNode; kind?: "danger" | "" }) {
  return (
    <DialogTrigger>
      <Button className={kind}>{label}</Button>
      <Modal isDismissable>
        <Dialog role="alertdialog">
          {({ close }) => (
            <>
              <Heading slot="title">{label}</Heading>
              <p>{question}</p>
              {children}
              <div className="actions">
                <Button onPress={close} autoFocus>{t("Cancel")}</Button>
                <Button className={kind || "primary"} onPress={() => { close(); onConfirm(); }}>{label}</Button>
              </div>
            </>
          )}
        </Dialog>
      </Modal>
    </DialogTrigger>
  );
}
