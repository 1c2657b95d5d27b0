// The credentials, sessions and consents of a user.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "react-aria-components";
import { Link } from "react-router";
import { device } from "../../../gate/web/device.js";
import { useAction } from "./action";
import { api, must, send } from "./api";
import { Choose } from "./Choose";
import { find } from "./listing";
import { type Item, mayChange, nouns } from "./nouns";
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
  sessions?: string; // what happens to sessions
  isMethod?: boolean; // a user without one of these cannot sign in
  all?: { action: string; question: string }; // what a button does to several of them
  empty: string;
  list: Part[];
}

const deletion = { action: "Delete", question: "Delete {name} of the user {user}? This cannot be undone.", sessions: "The user’s sessions that began with it end." };

interface Membership {
  id: string;
  name: string;
  inherited: boolean;
}

interface Parts {
  kinds: Kind[];
  hasPassword: boolean;
  methods: number; // passkeys, linked identities and a password
  groups: Memberships | undefined; // undefined if the caller may not read them
  roles: Memberships | undefined;
}

/** Memberships are the first groups or roles of a user, and the number of all. */
interface Memberships {
  list: Membership[];
  total: number;
}

/** factorNames are the names of the types of second factors. */
const factorNames: Record<string, string> = { "totp": "Authenticator app", "recovery-codes": "Recovery codes" };

/** ownerNames are the names of the owners of attributes that are no identity providers. */
const ownerNames: Record<string, string> = { administrator: "Administrators", user: "The user", flow: "Flows" };

const facts = (...list: (string | false | undefined)[]) => list.filter(Boolean).join(" · ");

const used = (time: string | null | undefined) => (time ? t("last used {time}", { time: formatTime(time) }) : t("never used"));

const former = (part: { formerPassword?: boolean | null }) => part.formerPassword === true && t("added with a former password alone");

/** useParts reads the parts of a user, once for all sections of the page. */
export const useParts = (id: string) => useQuery({ queryKey: ["parts", id], queryFn: () => parts(id) });

async function parts(id: string): Promise<Parts> {
  const user = { path: { id } };
  const params = { ...user, query: { limit: 100 } };
  const [passkeys, factors, identities, sessions, consents, access, profile, owners] = await Promise.all([
    api.GET("/users/{id}/passkeys", { params }), api.GET("/users/{id}/factors", { params }), api.GET("/users/{id}/identities", { params }),
    api.GET("/users/{id}/sessions", { params }), api.GET("/users/{id}/consents", { params }), api.GET("/users/{id}/access", { params: user }),
    api.GET("/users/{id}/profile", { params: user }), api.GET("/users/{id}/attribute-owners", { params }),
  ]);
  const { groups, totalGroups, roles, totalRoles } = must(access);
  const hasPassword = must(profile).password;
  const kinds = [
    { title: "Passkeys", path: "passkeys", ...deletion, isMethod: true, empty: "The user adds a passkey on the account page, or with an invitation.", list: must(passkeys).passkeys.map((p) => ({ id: p.id, label: p.name, note: facts(p.authenticator !== p.name && p.authenticator, t("added {time}", { time: formatTime(p.createdAt) }), used(p.lastUsedAt), p.backedUp ? t("synced") : t("not synced"), former(p)) })) },
    { title: "Second factors", path: "factors", ...deletion, empty: "The user sets up a second factor, such as an authenticator app, on the account page.", list: must(factors).factors.map((f) => ({ id: f.type, label: t(factorNames[f.type] ?? f.type), note: facts(formatTime(f.createdAt), f.disabledAt ? t("disabled for new browsers since {time}", { time: formatTime(f.disabledAt) }) : undefined, former(f)) })) },
    { title: "Linked identities", path: "identities", ...deletion, isMethod: true, empty: "An identity is linked when the user signs in with an identity provider.", list: must(identities).identities.map((i) => ({ id: i.id, label: i.provider.name, note: facts(i.name ?? i.subject, t("linked {time}", { time: formatTime(i.createdAt) }), used(i.lastUsedAt), former(i)) })) },
    { title: "Attributes with an owner", path: "attribute-owners", action: "Release", question: "Release the attribute {name} of the user {user}? Afterwards, users and administrators can change it, and an identity provider does not.", empty: "Users and administrators can change all attributes.", list: must(owners).attributeOwners.map((o) => ({ id: o.attribute, label: o.attribute, note: o.providerName ?? t(ownerNames[o.owner] ?? o.owner) })) },
    { title: "Sessions", path: "sessions", question: "End the session {name} of the user {user}? The user must sign in there again.", empty: "The user is not signed in.", action: "End", all: { action: "End all sessions", question: "End all sessions of the user {user}? The user must sign in again everywhere. If they are your own, the one of this browser stays." }, list: must(sessions).sessions.map((s) => ({ id: s.id, label: (s.client && device(s.client)) || s.id, note: formatTime(s.createdAt) })) },
    {
      title: "Applications with access", path: "consents", action: "Withdraw", empty: "The user has not given an application access.", question: "Withdraw the access of {name}? Its tokens for this user become invalid, and it must ask the user again.",
      list: must(consents).consents.map((c) => ({ id: c.applicationId, label: c.name, link: `/applications/${c.applicationId}`, note: [...(c.unverified ? [t("not verified")] : []), c.scopes.map((s) => s.scope).join(" "), formatTime(c.grantedAt)].join(" · ") })),
    },
  ];
  const methods = Number(hasPassword) + must(passkeys).totalResults + must(identities).totalResults;
  const memberships = (list: Membership[] | null | undefined, total: number | null | undefined) => (list ? { list, total: total ?? list.length } : undefined);
  return { kinds, hasPassword, methods, groups: memberships(groups, totalGroups), roles: memberships(roles, totalRoles) };
}

/** MembershipPart lists the groups or the roles of a user. A press of a button changes them at once. */
function MembershipPart({ user, path, list, total, onChange }: Memberships & { user: string; path: "/groups" | "/roles"; onChange: (method: string, path: string) => void }) {
  const noun = nouns.find((one) => one.path === path)!;
  const at = (id: string) => `${path}/${id}/${path === "/groups" ? "members" : "assignments"}/user/${user}`;
  const mayWrite = mayChange(path);
  const search = async (text: string) => ((await find(noun, text, 10))[noun.plural] as Item[])
    .filter(({ id }) => !list.some((one) => one.id === id && !one.inherited)).map((item) => ({ id: item.id, label: noun.label(item), note: "" }));
  return (
    <section aria-labelledby={`part-${noun.plural}`}>
      <h2 id={`part-${noun.plural}`}>{t(noun.title)}</h2>
      {list.length === 0 && <p className="quiet">{path === "/groups" ? t("The user is in no group.") : t("The user has no role.")}</p>}
      <ul className="parts">
        {list.map(({ id, name, inherited }) => (
          <li key={id}>
            <span><Link to={`${path}/${id}`}>{name}</Link> {inherited && <span className="quiet">{t("through a group")}</span>}</span>
            {mayWrite && !inherited && <Button aria-label={`${t("Remove")}: ${name}`} className="danger" onPress={() => onChange("DELETE", at(id))}>{t("Remove")}</Button>}
          </li>
        ))}
      </ul>
      {total > list.length && <p className="quiet">{path === "/groups"
        ? t("The first {n} of {total} are shown. The page of a group has its members.", { n: list.length, total })
        : t("The first {n} of {total} are shown. The page of a role has its assignments.", { n: list.length, total })}</p>}
      {mayWrite && <Choose key={list.length} label={path === "/groups" ? t("Add to a group") : t("Assign a role")} search={search} onChoose={({ id }) => onChange("PUT", at(id))} />}
    </section>
  );
}

export function UserParts({ id, name, mayWrite }: { id: string; name: string; mayWrite: boolean }) {
  const cache = useQueryClient();
  const [failed, setFailed] = useState<unknown>();
  const read = useParts(id);
  const refresh = () => Promise.all(["parts", "sign-ins"].map((part) => cache.invalidateQueries({ queryKey: [part, id] })));
  const act = useAction("user part", async ({ method, path }: { method: string; path: string }) => {
    await send(method, path);
    setFailed(undefined);
    await refresh();
  }, (error) => {
    setFailed(error);
    void refresh();
  });
  const change = (method: string, path: string) => void act({ method, path });
  if (read.error) {
    return <Failed error={read.error} retry={() => void read.refetch()} />;
  }
  if (!read.data) {
    return <Loading />;
  }
  const { kinds, hasPassword, methods, groups, roles } = read.data;
  return (
    <>
      {Boolean(failed) && <Failed error={failed} />}
      {groups && <MembershipPart user={id} path="/groups" {...groups} onChange={change} />}
      {roles && <MembershipPart user={id} path="/roles" {...roles} onChange={change} />}
      <section aria-labelledby="part-password">
        <h2 id="part-password">{t("Password")}</h2>
        <p>{hasPassword ? t("The user has a password.") : t("The user has no password.")}</p>
      </section>
      {kinds.map(({ title, path, action, question, sessions, isMethod, all, empty, list }) => (
        <section key={path} aria-labelledby={`part-${path}`}>
          <h2 id={`part-${path}`}>{t(title)}</h2>
          {list.length === 0 && <p className="quiet">{t(empty)}</p>}
          <ul className="parts">
            {list.map((part) => (
              <li key={part.id}>
                <span>{part.link ? <Link to={part.link}>{part.label}</Link> : part.label} <span className="quiet">{part.note}</span></span>
                {mayWrite && (
                  <Confirm label={t(action)} question={t(question, { name: part.label, user: name })} onConfirm={() => change("DELETE", `/users/${id}/${path}/${encodeURIComponent(part.id)}`)}>
                    <p className="quiet">{part.note}</p>
                    {sessions && <p>{t(sessions)}</p>}
                    {isMethod && methods === 1 && <p><strong>{t("It is the user’s only way to sign in. Afterwards, the user needs an invitation, or the recovery flow of an application.")}</strong></p>}
                  </Confirm>
                )}
              </li>
            ))}
          </ul>
          {mayWrite && all && list.length > 1 && <Confirm label={t(all.action)} question={t(all.question, { user: name })} onConfirm={() => change("DELETE", `/users/${id}/${path}`)} />}
        </section>
      ))}
    </>
  );
}
