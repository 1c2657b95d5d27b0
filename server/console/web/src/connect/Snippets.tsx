// Code for the stack that the user chooses, with the values of the application.
import { useId, useState } from "react";
import { Button } from "react-aria-components";
import { t } from "../texts";
import { CopyButton } from "../ui";
import type { Client } from "./client";
import { postLogoutURI, snippetOf, stacksFor } from "./stacks";

/** Snippets shows the code. register registers a post-logout URI; it is undefined if the user may not. */
export default function Snippets({ client, register }: { client: Client; register: ((uri: string) => void) | undefined }) {
  const id = useId();
  const fitting = stacksFor(client);
  const [name, setName] = useState(fitting[0]?.name ?? "");
  const stack = fitting.find((one) => one.name === name);
  if (!stack) {
    return null;
  }
  const signedOut = client.postLogoutURIs.length === 0 && client.redirectURIs[0] !== undefined ? postLogoutURI(stack, client.redirectURIs[0]) : "";
  return (
    <>
      <div className="actions">
        <label htmlFor={id}>{t("Stack")}</label>
        <select id={id} value={name} onChange={(event) => setName(event.target.value)}>
          {fitting.map((one) => <option key={one.name} value={one.name}>{one.title}</option>)}
        </select>
      </div>
      {client.kind === "secret" || client.kind === "machine" ? <p className="quiet">{t("The code reads the client secret from the environment variable CLIENT_SECRET.")}</p> : null}
      {signedOut && (
        <div className="notice">
          <p>{t("After a sign-out, the code sends users to this address, which is not registered:")} <code>{signedOut}</code></p>
          {register && <Button onPress={() => register(signedOut)}>{t("Register it as a post-logout URI")}</Button>}
        </div>
      )}
      {snippetOf(stack, client).map(({ path, text }) => (
        <section key={path} aria-label={path}>
          <div className="actions"><code>{path}</code><CopyButton text={text} /></div>
          <pre className="snippet" tabIndex={0}>{text}</pre>
        </section>
      ))}
    </>
  );
}
