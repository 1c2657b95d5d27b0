// Code for the stack that the user chooses, with the values of the application.
import { useId, useState } from "react";
import { t } from "../texts";
import { CopyButton } from "../ui";
import type { Client } from "./client";
import { snippetOf, stacksFor } from "./stacks";

export default function Snippets({ client }: { client: Client }) {
  const id = useId();
  const fitting = stacksFor(client);
  const [name, setName] = useState(fitting[0]?.name ?? "");
  const stack = fitting.find((one) => one.name === name);
  if (!stack) {
    return null;
  }
  return (
    <>
      <div className="actions">
        <label htmlFor={id}>{t("Stack")}</label>
        <select id={id} value={name} onChange={(event) => setName(event.target.value)}>
          {fitting.map((one) => <option key={one.name} value={one.name}>{one.title}</option>)}
        </select>
      </div>
      {client.kind === "secret" || client.kind === "machine" ? <p className="quiet">{t("The code reads the client secret from the environment variable CLIENT_SECRET.")}</p> : null}
      {stack.postLogout && client.postLogoutURIs.length === 0 ? <p className="quiet">{t("The sign-out of the code needs a registered post-logout URI.")}</p> : null}
      {snippetOf(stack, client).map(({ path, text }) => (
        <section key={path} aria-label={path}>
          <div className="actions"><code>{path}</code><CopyButton text={text} /></div>
          <pre className="snippet" tabIndex={0}>{text}</pre>
        </section>
      ))}
    </>
  );
}
