// Code for the stack that the user chooses, with the values of the application.
import { useId, useState } from "react";
import { Button } from "react-aria-components";
import { t } from "../texts";
import type { Client } from "./client";
import { snippets } from "./snippets";

export default function Snippets({ client }: { client: Client }) {
  const id = useId();
  const fitting = snippets.filter(({ kinds }) => kinds.includes(client.kind));
  const [title, setTitle] = useState(fitting[0]?.title ?? "");
  const [copied, setCopied] = useState("");
  const snippet = fitting.find((one) => one.title === title);
  if (!snippet) {
    return null;
  }
  const code = snippet.code(client);
  const copy = () => navigator.clipboard.writeText(code).then(() => setCopied(t("Copied.")), () => setCopied(t("The browser does not allow copying. Select the text.")));
  return (
    <>
      <div className="actions">
        <label htmlFor={id}>{t("Stack")}</label>
        <select id={id} value={title} onChange={(event) => { setTitle(event.target.value); setCopied(""); }}>
          {fitting.map((one) => <option key={one.title}>{one.title}</option>)}
        </select>
        <Button onPress={() => void copy()}>{t("Copy")}</Button>
        <span role="status">{copied}</span>
      </div>
      {client.kind === "secret" || client.kind === "machine" ? <p className="quiet">{t("The code reads the client secret from the environment variable CLIENT_SECRET.")}</p> : null}
      <pre className="snippet">{code}</pre>
    </>
  );
}
