// Small parts that all pages share.
import { useEffect, useState, type ReactNode } from "react";
import { Button, Dialog, DialogTrigger, Heading, Modal } from "react-aria-components";
import { ConnectionError, RequestError } from "./api";
import { startSignIn } from "./session";
import { t } from "./texts";

export function Loading() {
  return <p role="status" className="loading quiet">{t("Loading …")}</p>;
}

/** explain returns what went wrong. */
export function explain(error: unknown): string {
  if (error instanceof ConnectionError) {
    return t("The server cannot be reached. Check the connection, and try again.");
  }
  if (error instanceof RequestError && !error.failure) {
    return t("The server did not answer as expected ({status}). Try again in a moment.", { status: error.message });
  }
  return error instanceof Error ? error.message : String(error);
}

/** Failed shows an error of a request. An ended session offers to sign in, and a lacking permission is named. */
export function Failed({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  if (error instanceof RequestError && error.status === 401) {
    const isUnproved = error.failure?.code === "insufficient_user_authentication";
    return (
      <div role="alert" className="notice bad">
        <p>{isUnproved ? t("This change needs a recent sign-in with your passkey. What you have entered is kept.") : t("Your session has ended. Sign in again to go on.")}</p>
        <p className="quiet">{error.message}</p>
        <Button className="primary" onPress={() => void startSignIn(isUnproved ? { max_age: "0", acr_values: "phr" } : {})}>{t("Sign in")}</Button>
      </div>
    );
  }
  if (error instanceof RequestError && error.status === 403) {
    return (
      <div role="alert" className="notice">
        <p><strong>{error.permission ? t("You lack the permission {permission}.", { permission: error.permission }) : t("You are not allowed to do this.")}</strong></p>
        {error.permission
          ? <p>{t("An administrator can give it to you with a role. Then sign in again.")}</p>
          : <p>{t("The server gave this reason:")} <span lang="en">{error.message}</span></p>}
        <Button onPress={() => void startSignIn()}>{t("Sign in")}</Button>
      </div>
    );
  }
  const failure = error instanceof RequestError ? error.failure : undefined;
  return (
    <div role="alert" className="notice bad">
      <p><strong>{t("The request failed")}</strong></p>
      {failure?.errors && failure.errors.length > 0
        ? <ul>{failure.errors.map((problem, i) => <li key={i}>{problem.path && <code>{problem.path}</code>} {problem.message}</li>)}</ul>
        : <p>{explain(error)}</p>}
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
