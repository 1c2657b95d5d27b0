// How to connect an application: its values, code for common stacks, and a test of its sign-in.
import { lazy, Suspense, useId, useState } from "react";
import { Button } from "react-aria-components";
import { send } from "./api";
import { type Client, clientOf, withPostLogoutURI } from "./connect/client";
import { type Item, mayChange } from "./nouns";
import { authorizationURL, serverURL } from "./session";
import { t } from "./texts";
import { CopyButton, Failed, Loading } from "./ui";

const Snippets = lazy(() => import("./connect/Snippets"));

/** ConnectPart shows how to connect an application; onChange gets it when the user has registered another address. */
export function ConnectPart({ application, onChange }: { application: Item; onChange: (changed: { data: Item; etag: string }) => void }) {
  const title = useId();
  const [isOpen, setIsOpen] = useState(false);
  const [failed, setFailed] = useState<unknown>();
  const client = clientOf(application, serverURL);
  const register = async (uri: string) => {
    try {
      const { data } = await send("GET", `/applications/${application.id}`);
      onChange(await send("PATCH", `/applications/${application.id}`, withPostLogoutURI(data as Item, uri), { "Content-Type": "application/merge-patch+json" }) as { data: Item; etag: string });
      setFailed(undefined);
    } catch (error) {
      setFailed(error);
    }
  };
  const redirectURI = client.kind === "secret" || client.kind === "public" ? client.redirectURIs[0] : undefined;
  return (
    <section aria-labelledby={title}>
      <h2 id={title}>{t("Connect your application")}</h2>
      <Values client={client} />
      {redirectURI && <TestSignIn client={client} redirectURI={redirectURI} />}
      {Boolean(failed) && <Failed error={failed} />}
      {isOpen
        ? <Suspense fallback={<Loading />}><Snippets client={client} register={mayChange("/applications") ? (uri) => void register(uri) : undefined} /></Suspense>
        : <Button onPress={() => setIsOpen(true)}>{t("Show code")}</Button>}
    </section>
  );
}

function Values({ client }: { client: Client }) {
  const values = client.kind === "flow"
    ? [["Server", client.issuer], ["Application id", client.applicationID]]
    : [["Issuer", client.issuer], ["Client id", client.clientID], ...client.redirectURIs.map((uri) => ["Redirect URI", uri])];
  return (
    <ul className="parts">
      {values.map(([name, value], i) => <li key={i}><span>{t(name ?? "")}</span><span><code>{value}</code> <CopyButton text={value ?? ""} name={t(name ?? "")} /></span></li>)}
    </ul>
  );
}

/**
 * TestSignIn opens the sign-in of the application in another tab. It ends at the redirect URI of the
 * application: a redirect URI of the console would let the console receive codes for the application.
 */
function TestSignIn({ client, redirectURI }: { client: Client; redirectURI: string }) {
  const [failed, setFailed] = useState<unknown>();
  const [url, setURL] = useState("");
  const prepare = async () => {
    try {
      setURL(await authorizationURL(client.clientID, redirectURI, client.scopes.join(" "), { prompt: "login" }));
    } catch (error) {
      setFailed(error);
    }
  };
  return (
    <>
      <p className="quiet">{t("A test sign-in uses the client, its first redirect URI, its scopes and its flow. It is successful if your application opens at the redirect URI with a code. Your application then rejects the code, because it did not start this sign-in.")}</p>
      <div className="actions">
        {url
          ? <a className="button primary" href={url} target="_blank" rel="noreferrer" onClick={() => setURL("")}>{t("Open the sign-in in a new tab")}</a>
          : <Button onPress={() => void prepare()}>{t("Test the sign-in")}</Button>}
      </div>
      {Boolean(failed) && <Failed error={failed} />}
    </>
  );
}
