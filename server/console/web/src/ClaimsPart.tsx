// What an application learns about a user: the claims of each document, and for each claim its value, the
// member that declares it, why it is released or not, and where users can set it.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "react-aria-components";
import { api, must } from "./api";
import { Choose, type Choice } from "./Choose";
import type { operations } from "./description";
import { findIn } from "./listing";
import { nouns } from "./nouns";
import { may } from "./session";
import { t } from "./texts";
import { Failed, Loading } from "./ui";

type Report = operations["explainClaims"]["responses"][200]["content"]["application/json"];
type Claim = Report["claims"][number];

/** needed are the permissions without which the server shows no claims of a user. */
const needed = ["system:applications:read", "system:users:read", "system:groups:read", "system:roles:read"];

/** titles are the names of the documents. */
const titles: Record<string, string> = {
  idToken: "ID token", userinfo: "Userinfo", accessToken: "Access token", introspection: "Introspection", assertion: "Assertion",
};

const titleOf = (document: string) => t(titles[document] ?? document);

export function ClaimsPart({ id }: { id: string }) {
  const [user, setUser] = useState<Choice>();
  const [scope, setScope] = useState("");
  const [asked, setAsked] = useState<{ user: string; scope?: string }>();
  const read = useQuery({
    queryKey: ["claims", id, asked], enabled: asked !== undefined, gcTime: 0,
    queryFn: async (): Promise<Report> => must(await api.GET("/applications/{id}/claims", { params: { path: { id }, query: asked ?? {} } })),
  });
  if (!needed.every((permission) => may(permission))) {
    return null;
  }
  const show = (chosen: Choice) => {
    setUser(chosen);
    setAsked({ user: chosen.id, ...(scope.trim() && { scope: scope.trim() }) });
  };
  return (
    <section className="card" aria-labelledby="part-claims">
      <h2 id="part-claims">{t("What the application learns")}</h2>
      <p className="quiet">{t("What the application would learn now about a user, and why. Nothing is sent to the application.")}</p>
      <div className="field">
        <label htmlFor="claims-scopes">{t("Scopes")}</label>
        <input id="claims-scopes" value={scope} aria-describedby="claims-scopes-help" onChange={(event) => setScope(event.target.value)} onKeyDown={(event) => event.key === "Enter" && event.preventDefault()} />
        <p id="claims-scopes-help" className="quiet">{t("Separated by spaces. Empty: all that the application may request.")}</p>
      </div>
      <Choose
        label={t("User")} help={t("Type the start of a name, username or email address.")} onChoose={show}
        search={async (text) => (await findIn(nouns.filter((noun) => noun.path === "/users"), text)).map((found) => ({ id: found.id, label: found.label, note: found.note }))}
      />
      {user && <div className="actions"><Button onPress={() => show(user)}>{t("Show the claims of {name}", { name: user.label })}</Button></div>}
      {read.error && <Failed error={read.error} retry={() => void read.refetch()} />}
      {asked && read.isPending && <Loading />}
      {read.data && user && <Explained report={read.data} name={user.label} />}
    </section>
  );
}

function Explained({ report, name }: { report: Report; name: string }) {
  return (
    <>
      <p role="status">{t("{name}, with the scopes {scopes}", { name, scopes: report.scopes.join(" ") || "–" })}</p>
      {Object.entries(report.documents).map(([document, claims]) => (
        <details key={document} open={document === "idToken"}>
          <summary>{titleOf(document)} ({Object.keys(claims).length})</summary>
          <pre tabIndex={0} aria-label={titleOf(document)}><code>{JSON.stringify(claims, undefined, 2)}</code></pre>
        </details>
      ))}
      <table className="stacked" aria-label={t("Claims")}>
        <thead><tr><th scope="col">{t("Claim")}</th><th scope="col">{t("Value")}</th><th scope="col">{t("Declared by")}</th><th scope="col">{t("Why")}</th></tr></thead>
        <tbody>{report.claims.map((claim, i) => <Row key={i} claim={claim} />)}</tbody>
      </table>
    </>
  );
}

function Row({ claim }: { claim: Claim }) {
  const places = claim.setByUsers ?? [];
  return (
    <tr>
      <th scope="row"><code>{claim.path.join(".")}</code></th>
      <td data-label={t("Value")}>{claim.value === undefined ? "–" : <code>{JSON.stringify(claim.value)}</code>}</td>
      <td data-label={t("Declared by")}><code>{claim.declared}</code> <span className="quiet" lang="en">{claim.source}</span></td>
      <td data-label={t("Why")}>
        {claim.released.length > 0 ? t("In: {documents}.", { documents: claim.released.map(titleOf).join(", ") }) : t("Not released.")} <span lang="en">{claim.reason}</span>
        {places.length > 0 && <> <strong>{t("Users can set it:")}</strong> <span lang="en">{places.join("; ")}</span></>}
      </td>
    </tr>
  );
}
