// Small parts that all pages share.
import { createContext, useContext, useEffect, useState, type ReactNode } from "react";
import { Button, Dialog, DialogTrigger, Heading, Menu, MenuItem, MenuTrigger, Modal, Popover } from "react-aria-components";
import { Link } from "react-router";
import { RequestError } from "./api";
import { permission } from "./nouns";
import { Icon, type IconName } from "./parts/Icon";
import { ConnectionError } from "./request";
import { startSignIn } from "./session";
import { t } from "./texts";

export function Loading() {
  return <div role="status" className="loading quiet">{t("Loading …")}<span className="bars" aria-hidden="true"><i /><i /><i /></span></div>;
}

/** explain returns what went wrong. */
export function explain(error: unknown): string {
  if (error instanceof ConnectionError) {
    return t("The server cannot be reached. Check the connection, and try again.");
  }
  if (error instanceof RequestError && !error.failure) {
    return t("The server did not answer as expected ({status}). Try again in a moment.", { status: error.message });
  }
  if (error instanceof RequestError && error.permission) {
    return t("You lack the permission {permission}.", { permission: error.permission });
  }
  return error instanceof Error ? error.message : String(error);
}

/** reveal scrolls a message into view: the button whose press it answers may be far from it. */
export function reveal(message: HTMLElement | null): void {
  message?.scrollIntoView({ block: "nearest" });
}

/** Failed shows an error of a request. An ended session offers to sign in, and a lacking permission is named. Without retry, the error answers a press of a button. */
export function Failed({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const shown = retry ? null : reveal;
  const title = useContext(Title);
  if (error instanceof RequestError && error.status === 401) {
    const { proof } = error;
    const minutes = Math.round((proof?.maxAge ?? 0) / 60);
    return (
      <div ref={shown} role="alert" className="notice bad">
        <p>{!proof ? t("Your session has ended. Sign in again to go on.")
          : proof.class === "" ? t("To change your account, you must have signed in within the last {n} minutes.", { n: minutes })
          : t("This change ({name}) affects administrators of this service. For that, you must have signed in with your passkey within the last {n} minutes.", { name: title, n: minutes })}</p>
        {proof && <p>{proof.class === "" ? t("Sign in again. What you have entered is kept.")
          : t("Sign in with your passkey, not with your password. What you have entered is kept.")}</p>}
        <Button className="primary" onPress={() => void startSignIn(proof && { max_age: "0", ...(proof.class && { acr_values: proof.class }) }, proof !== undefined)}>{t("Sign in")}</Button>
      </div>
    );
  }
  if (error instanceof RequestError && error.status === 403) {
    return error.permission ? <Lacking permission={error.permission} /> : (
      <div ref={shown} role="alert" className="notice">
        <p><strong>{t("You are not allowed to do this.")}</strong></p>
        <p>{t("The server gave this reason:")} <span lang="en">{error.message}</span></p>
        <Button onPress={() => void startSignIn()}>{t("Sign in")}</Button>
      </div>
    );
  }
  const failure = error instanceof RequestError ? error.failure : undefined;
  return (
    <div ref={shown} role="alert" className="notice bad">
      <p><strong>{t("The request failed")}</strong></p>
      {failure?.errors && failure.errors.length > 0
        ? <ul>{failure.errors.map((problem, i) => <li key={i}>{problem.path && <code>{problem.path}</code>} {problem.message}</li>)}</ul>
        : <p>{explain(error)}</p>}
      {failure?.traceId && <p className="quiet">{t("Trace id")}: <code>{failure.traceId}</code></p>}
      {retry && <Button onPress={retry}>{t("Try again")}</Button>}
    </div>
  );
}

/** Lacking names a permission that the user needs and does not have. */
export function Lacking({ permission }: { permission: string }) {
  return (
    <div role="alert" className="notice">
      <p><strong>{t("You lack the permission {permission}.", { permission })}</strong></p>
      <p>{t("An administrator can give it to you with a role. Then sign in again.")}</p>
      <Button onPress={() => void startSignIn()}>{t("Sign in")}</Button>
    </div>
  );
}

/** ReadOnly replaces the buttons of a page that changes the resources at a path, for a user who may only read them. */
export function ReadOnly({ path }: { path: string }) {
  return <span className="quiet">{t("You can read this, but not change it: you lack the permission {permission}.", { permission: permission({ path }, "write") })}</span>;
}

/** Title is the title of the page around a component. */
const Title = createContext("");

/** Crumb is a page above another one. */
export interface Crumb {
  to: string;
  title: string;
}

interface PageProps {
  title: string;
  crumbs?: Crumb[]; // the pages above
  picture?: ReactNode; // before the title
  marks?: ReactNode; // after the title
  facts?: ReactNode[]; // below the title
  actions?: ReactNode;
  children: ReactNode;
}

export function Page({ title, crumbs = [], picture, marks, facts = [], actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Console`;
  }, [title]);
  const shown = facts.filter(Boolean);
  return (
    <Title value={title}>
      {crumbs.length > 0 && (
        <nav aria-label={t("Breadcrumbs")}>
          <ol className="crumbs">{crumbs.map((crumb) => <li key={crumb.to}><Link to={crumb.to}>{crumb.title}</Link></li>)}<li aria-hidden="true">{title}</li></ol>
        </nav>
      )}
      <div className="title head">
        {picture}
        <div className="names">
          <div className="row"><h1 id="page-title">{title}</h1>{marks}</div>
          {shown.length > 0 && <div className="facts">{shown.map((fact, i) => <span key={i}>{fact}</span>)}</div>}
        </div>
        <div className="actions">{actions}</div>
      </div>
      {children}
    </Title>
  );
}

/** CopyButton copies a text, and shows whether the browser did. The name distinguishes the buttons of a page. A small one is only an icon. */
export function CopyButton({ text, name, small = false }: { text: string; name?: string; small?: boolean }) {
  const [copied, setCopied] = useState({ of: "", status: "", is: false });
  const copy = () => navigator.clipboard.writeText(text).then(() => ({ status: t("Copied."), is: true }), () => ({ status: t("The browser does not allow copying. Select the text."), is: false })).then((result) => setCopied({ of: text, ...result }));
  const isDone = copied.of === text && copied.is;
  return (
    <>
      <Button className={small ? "bare small-button icon-only" : "small-button"} onPress={() => void copy()} aria-label={name === undefined ? (small ? t("Copy") : undefined) : `${t("Copy")}: ${name}`}><Icon name={isDone ? "check" : "copy"} />{!small && t("Copy")}</Button>
      <span role="status" className={small && isDone ? "hidden" : "small"}>{copied.of === text && copied.status}</span>
    </>
  );
}

/** Secret shows a value that is not shown again, with its name and a button that copies it. */
export function Secret({ name, value }: { name: string; value: string }) {
  return (
    <div className="secret">
      <p role="status" className="label">{name} <span className="note">{t("Copy it now: it is not shown again.")}</span></p>
      <code className="value">{value}</code>
      <span className="row"><CopyButton text={value} name={name} /></span>
    </div>
  );
}

/** KeyValues are facts with names. Those to be used elsewhere have a button that copies them. */
export function KeyValues({ rows }: { rows: { name: string; value: ReactNode; copy?: string }[] }) {
  return (
    <dl className="key-values">
      {rows.map(({ name, value, copy }, i) => <div key={i}><dt>{name}</dt><dd className="value">{value}</dd>{copy !== undefined && <dd><CopyButton small text={copy} name={name} /></dd>}</div>)}
    </dl>
  );
}

/** More is a menu of what is done rarely. */
export function More({ label, items }: { label: string; items: { id: string; icon: IconName; text: string; href?: string; onAction?: () => void }[] }) {
  return (
    <MenuTrigger>
      <Button className="bare icon-only" aria-label={label}><Icon name="ellipsis" /></Button>
      <Popover className="menu-list react-aria-Popover" placement="bottom end">
        <Menu>{items.map(({ id, icon, text, href, onAction }) => <MenuItem key={id} id={id} textValue={text} {...(href !== undefined && { href })} {...(onAction && { onAction })}><Icon name={icon} />{text}</MenuItem>)}</Menu>
      </Popover>
    </MenuTrigger>
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
