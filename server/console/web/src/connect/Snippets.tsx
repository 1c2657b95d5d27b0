// Code for the stack that the user chooses, with the values of the application.
import { useId, useState } from "react";
import { t } from "../texts";
import { CopyButton } from "../ui";
import type { Client } from "./client";
import { snippets } from "./snippets";

export default function Snippets({ client }: { client: Client }) {
  const id = useId();
  const fitting = snippets.filter(({ kinds }) => kinds.includes(client.kind));
  const [title, setTitle] = useState(fitting[0]?.title ?? "");
  const snippet = fitting.find((one) => one.title === title);
  if (!snippet) {
    return null;
  }
  const code = snippet.code(client);
  return (
    <>
      <div className="actions">
        <label htmlFor={id}>{t("Stack")}</label>
        <select id={id} value={title} onChange={(event) => setTitle(event.target.value)}>
          {fitting.map((one) => <option key={one.title}>{one.title}</option>)}
        </select>
        <CopyButton text={code} />
      </div>
      {client.kind === "secret" || client.kind === "machine" ? <p className="quiet">{t("The code reads the client secret from the environment variable CLIENT_SECRET.")}</p> : null}
      <pre className="snippet">{code}</pre>
    </>
  );
}
