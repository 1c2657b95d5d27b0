// The credentials, sessions and consents of a user.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { api, must, send } from "./api";
import { formatTime, t } from "./texts";
import { Confirm, Failed, Loading } from "./ui";

interface Part {
  id: string;
  label: string;
  note: string;
  link?: string;
}

interface Kind {
  title: string;
  path: string;
  action: string;
  question: string;
  empty: string;
  list: Part[];
}

const deletion = { action: "Delete", question: "Delete {name}? This cannot be undone." };

/** parts reads one kind of part of the user. */
async function parts(id: string): Promise<Kind[]> {
  const params = { path: { id }, query: { limit: 100 } };
  const [passkeys, factors, identities, sessions, consents] = await Promise.all([
    api.GET("/users/{id}/passkeys", { params }), api.GET("/users/{id}/factors", { params }), api.GET("/users/{id}/identities", { params }),
    api.GET("/users/{id}/sessions", { params }), api.GET("/users/{id}/consents", { params }),
  ]);
  return [
    { title: "Passkeys", path: "passkeys", ...deletion, empty: "The user adds a passkey on the account page, or with an invitation.", list: must(passkeys).passkeys.map((p) => ({ id: p.id, label: p.name, note: [p.authenticator, formatTime(p.createdAt)].filter(Boolean).join(" · ") })) },
    { title: "Second factors", path: "factors", ...deletion, empty: "The user sets up a second factor, such as an authenticator app, on the account page.", list: must(factors).factors.map((f) => ({ id: f.type, label: f.type, note: formatTime(f.createdAt) })) },
    { title: "Linked identities", path: "identities", ...deletion, empty: "An identity is linked when the user signs in with an identity provider.", list: must(identities).identities.map((i) => ({ id: i.id, label: i.provider.name, note: i.name ?? i.subject })) },
    { title: "Sessions", path: "sessions", ...deletion, empty: "The user is not signed in.", action: "End", list: must(sessions).sessions.map((s) => ({ id: s.id, label: s.client ?? s.id, note: formatTime(s.createdAt) })) },
    {
      title: "Applications with access", path: "consents", action: "Withdraw", empty: "The user has not given an application access.", question: "Withdraw the access of {name}? Its tokens for this user become invalid, and it must ask the user again.",
      list: must(consents).consents.map((c) => ({ id: c.applicationId, label: c.name, link: `/applications/${c.applicationId}`, note: [...(c.unverified ? [t("not verified")] : []), c.scopes.map((s) => s.scope).join(" "), formatTime(c.grantedAt)].join(" · ") })),
    },
  ];
}

export function UserParts({ id, mayWrite }: { id: string; mayWrite: boolean }) {
  const cache = useQueryClient();
  const [failed, setFailed] = useState<unknown>();
  const read = useQuery({ queryKey: ["parts", id], queryFn: () => parts(id) });
  if (read.error) {
    return <Failed error={read.error} retry={() => void read.refetch()} />;
  }
  if (!read.data) {
    return <Loading />;
  }
  const remove = async (path: string, part: string) => {
    try {
      await send("DELETE", `/users/${id}/${path}/${encodeURIComponent(part)}`);
      setFailed(undefined);
    } catch (error) {
      setFailed(error);
    }
    await cache.invalidateQueries({ queryKey: ["parts", id] });
  };
  return (
    <>
      {Boolean(failed) && <Failed error={failed} />}
      {read.data.map(({ title, path, action, question, empty, list }) => (
        <section key={path} aria-labelledby={`part-${path}`}>
          <h2 id={`part-${path}`}>{t(title)}</h2>
          {list.length === 0 && <p className="quiet">{t(empty)}</p>}
          <ul className="parts">
            {list.map((part) => (
              <li key={part.id}>
                <span>{part.link ? <Link to={part.link}>{part.label}</Link> : part.label} <span className="quiet">{part.note}</span></span>
                {mayWrite && <Confirm label={t(action)} question={t(question, { name: part.label })} onConfirm={() => void remove(path, part.id)} />}
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}
