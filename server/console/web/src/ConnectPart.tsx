// How to connect an application: its values, code for common stacks, and a test of its sign-in.
import { lazy, Suspense, useId, useState } from "react";
import { Button } from "react-aria-components";
import { useAction } from "./action";
import { send } from "./api";
import { type Client, clientOf, withPostLogoutURI } from "./connect/client";
import { type Item, mayChange } from "./nouns";
import { Icon } from "./parts/Icon";
import { authorizationURL, serverURL } from "./session";
import { t } from "./texts";
import { Failed, KeyValues, Loading } from "./ui";

const Snippets = lazy(() => import("./connect/Snippets"));

/** ConnectPart shows how to connect an application; onChange gets it when the user has registered another address. */
export function ConnectPart({ application, onChange }: { application: Item; onChange: (changed: { data: Item; etag: string }) => void }) {
  const title = useId();
  const [isOpen, setIsOpen] = useState(false);
  const [failed, setFailed] = useState<unknown>();
  const client = clientOf(application, serverURL);
  const register = useAction("post-logout URI", async (uri: string) => {
    const { data } = await send("GET", `/applications/${application.id}`);
    onChange(await send("PATCH", `/applications/${application.id}`, withPostLogoutURI(data as Item, uri), { "Content-Type": "application/merge-patch+json" }) as { data: Item; etag: string });
    setFailed(undefined);
  }, setFailed);
  return (
    <section className="card" aria-labelledby={title}>
      <h2 id={title}>{t("Connect your application")}</h2>
      <ConnectValues client={client} />
      <TestSignIn client={client} />
      {Boolean(failed) && <Failed error={failed} />}
      {isOpen
        ? <Suspense fallback={<Loading />}><Snippets client={client} register={mayChange("/applications") ? (uri) => void register(uri) : undefined} /></Suspense>
        : <div className="actions"><Button onPress={() => setIsOpen(true)}><Icon name="code" />{t("Show code")}</Button></div>}
    </section>
  );
}

/** ConnectValues are what the code of an application needs. */
export function ConnectValues({ client }: { client: Client }) {
  const values: [string, string][] = client.kind === "flow"
    ? [["Server", client.issuer], ["Application id", client.applicationID]]
    : [["Issuer", client.issuer], ["Client id", client.clientID], ...client.redirectURIs.map((uri): [string, string] => ["Redirect URI", uri])];
  return <KeyValues rows={values.map(([name, value]) => ({ name: t(name), value: <code>{value}</code>, copy: value }))} />;
}

/**
 * TestSignIn opens the sign-in of the application in another tab. It ends at the redirect URI of the
 * application: a redirect URI of the console would let the console receive codes for the application.
 */
export function TestSignIn({ client }: { client: Client }) {
  const [failed, setFailed] = useState<unknown>();
  const [url, setURL] = useState("");
  const redirectURI = client.kind === "secret" || client.kind === "public" ? client.redirectURIs[0] : undefined;
  if (redirectURI === undefined) {
    return null;
  }
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
          : <Button onPress={() => void prepare()}><Icon name="play" />{t("Test the sign-in")}</Button>}
      </div>
      {Boolean(failed) && <Failed error={failed} />}
    </>
  );
}
