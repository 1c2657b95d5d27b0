// A resource: its members in a form, and what else there is to it. A change is sent with the ETag
// that was read, so a concurrent change of someone else is never overwritten unseen.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Button } from "react-aria-components";
import { Link, useNavigate, useParams, useSearchParams } from "react-router";
import { type Finding, RequestError, schemaOf, send, type Schema } from "./api";
import { Appearance } from "./Appearance";
import { ApplicationParts } from "./ApplicationParts";
import { Conflict, mergeMembers } from "./Conflict";
import { ConnectPart } from "./ConnectPart";
import { takeDraft, useDraft } from "./draft";
import { InvitationPart } from "./InvitationPart";
import { type Item, mayChange, type Noun } from "./nouns";
import { ProviderPreset, ProviderUse } from "./ProviderPreset";
import { SchemaForm } from "./SchemaForm";
import { may, subject, takeRepetition } from "./session";
import { SignInHelp } from "./SignInHelp";
import { formatTime, t } from "./texts";
import { Confirm, Failed, Loading, Page, ReadOnly } from "./ui";
import { UserParts } from "./UserParts";
import { UserState } from "./UserState";
import { useOnlyUserType, useUserSchema } from "./useUserSchema";

type Value = Record<string, unknown>;

export function ItemPage({ noun }: { noun: Noun }) {
  const { id } = useParams();
  const isNew = id === undefined;
  const schema = useQuery({ queryKey: ["schema", noun.schema], queryFn: () => schemaOf(noun.schema), staleTime: Infinity });
  const read = useQuery({
    queryKey: [noun.path, id],
    enabled: !isNew,
    gcTime: 0,
    refetchOnWindowFocus: false,
    queryFn: () => send("GET", `${noun.path}/${id}`) as Promise<Read>,
  });
  const initial = useInitial(noun, isNew);
  const error = schema.error ?? read.error;
  const title = t(isNew ? noun.creation : noun.title);
  if (error) {
    return <Page title={title}><Failed error={error} retry={() => void (schema.error ? schema : read).refetch()} /></Page>;
  }
  if (!schema.data || (!isNew && !read.data) || !initial) {
    return <Page title={title}><Loading /></Page>;
  }
  return <Editor key={id ?? "new"} noun={noun} schema={schema.data} initial={initial} opened={read.data} />;
}

/** writable returns the members that a request may have, without those that only repeat a member of the OAuth client. */
function writable(schema: Schema, item: Value): Value {
  const isRepeated = (name: string) => name === "clientId" && "inboundAuthConfig" in item;
  return Object.fromEntries(Object.entries(item).filter(([name]) => schema.properties?.[name] && !schema.properties[name].readOnly && !isRepeated(name)));
}

/** withoutID leaves out the id, which stays as it is and stands above the form. */
function withoutID(schema: Schema): Schema {
  const { id: _, ...properties } = schema.properties ?? {};
  return { ...schema, properties };
}

/** preset are the members of a new resource that a link can set. */
const preset = ["parentId"];

/** useInitial returns the members of a new resource that are set at first: those of the link, and the only user type. It is undefined until they are known. */
function useInitial(noun: Noun, isNew: boolean): Value | undefined {
  const [query] = useSearchParams();
  const only = useOnlyUserType(isNew && noun.path === "/users");
  const ofLink = Object.fromEntries([...query].filter(([name]) => preset.includes(name)));
  return only === undefined ? undefined : { ...ofLink, ...(only && { type: only }) };
}

const isEmpty = (list: unknown) => !Array.isArray(list) || list.length === 0;

/** Read is a resource with the ETag that changes of it are sent with. */
interface Read {
  data: Item;
  etag: string;
}

/** Draft is what was entered, and what it is a change of. With repeats, the server asked this user for a sign-in when it was saved. */
interface Draft {
  value: Value;
  read?: Read | undefined;
  repeats?: string;
}

function Editor({ noun, schema: described, initial, opened }: { noun: Noun; schema: Schema; initial: Value; opened: Read | undefined }) {
  const navigate = useNavigate();
  const cache = useQueryClient();
  const [draft] = useState(() => takeDraft() as Draft | undefined);
  const [read, setRead] = useState(draft?.read ?? opened);
  const [value, setValue] = useState<Value>(() => draft?.value ?? (read ? writable(described, read.data) : initial));
  const schema = useUserSchema(described, noun.path === "/users" ? String(value["type"] ?? "") : "");
  const [newer, setNewer] = useState<Read>(); // a user as someone else changed it since the form was read
  const [state, setState] = useState<{ busy?: boolean; done?: string; error?: unknown; refused?: Value; theirs?: Read }>({});
  const isRefused = state.error instanceof RequestError && state.error.status === 401;
  const found: Finding[] = state.error instanceof RequestError ? state.error.failure?.errors ?? [] : [];
  const problems = isRefused ? found.map((one) => ({ ...one, message: t("needs a recent sign-in with your passkey") })) : found;
  const isChanged = JSON.stringify(value) !== JSON.stringify(read ? writable(described, read.data) : initial);
  useDraft(isChanged ? { value, read, ...(isRefused && state.refused === value && { repeats: subject() }) } satisfies Draft : undefined);
  const path = read ? `${noun.path}/${read.data.id}` : noun.path;

  const save = async (etag: string | undefined) => {
    setState({ busy: true });
    try {
      const reply = await send(read ? "PUT" : "POST", path, value, etag ? { "If-Match": etag } : {});
      const saved = reply.data as Item;
      void cache.invalidateQueries({ queryKey: [noun.path] });
      void cache.invalidateQueries({ queryKey: ["parts", saved.id] }); // a disabled user has no sessions
      void cache.invalidateQueries({ queryKey: ["sign-ins", saved.id] });
      if (read) {
        setRead({ data: saved, etag: reply.etag });
        setNewer(undefined);
        setValue(writable(schema, saved));
        setState({ done: t("Saved.") });
      } else {
        await navigate(`${noun.path}/${saved.id}`, { replace: true });
      }
    } catch (error) {
      if (error instanceof RequestError && error.status === 412) {
        const theirs = (await send("GET", path)) as Read;
        setValue(mergeMembers(read ? writable(schema, read.data) : {}, value, writable(schema, theirs.data)));
        setState({ error, theirs });
        return;
      }
      setState({ error, refused: value });
    }
  };
  const hasRepeated = useRef(false);
  useEffect(() => {
    if (draft?.repeats === undefined || hasRepeated.current) {
      return;
    }
    hasRepeated.current = true;
    if (takeRepetition() && draft.repeats === subject()) {
      void save(read?.etag); // with the ETag of the first attempt: a change of someone else since then is a conflict
    } else {
      setState({ done: t("You are signed in. Press the button again to make the change.") });
    }
  });
  const changeState = (changed: Read) => {
    if (newer) {
      setNewer(changed); // saving the form merges the change of someone else
      return;
    }
    setRead(changed);
    setValue({ ...value, status: changed.data["status"], lockedUntil: changed.data["lockedUntil"] });
  };
  const changeClient = (changed: Read) => {
    setValue(mergeMembers(writable(described, read?.data ?? {}), value, writable(described, changed.data)));
    setRead(changed);
  };
  const remove = async () => {
    try {
      await send("DELETE", path, undefined, read ? { "If-Match": read.etag } : {});
      await cache.invalidateQueries({ queryKey: [noun.path] });
      await navigate(noun.path);
    } catch (error) {
      setState({ error });
    }
  };
  const mayWrite = mayChange(noun.path);
  const title = read ? noun.label(read.data) : t(noun.creation);
  const shownElsewhere = !isRefused && problems.length > 0 && problems.every((p) => schema.properties?.[p.path.split(/[.[]/)[0] ?? ""]);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const wrong = shownElsewhere ? form.current?.querySelector<HTMLElement>("[aria-invalid=true]") : undefined;
    wrong?.focus({ preventScroll: true });
    wrong?.scrollIntoView({ block: "center" });
  }, [state.error]);
  return (
    <Page title={title} actions={read && mayWrite && <Confirm label={t("Delete")} question={t("Delete {name}? This cannot be undone.", { name: title })} onConfirm={() => void remove()} />}>
      <p className="quiet"><Link to={noun.path}>← {t(noun.title)}</Link>{read && <> · <code>{read.data.id}</code> · {t("Created")} {formatTime(read.data["createdAt"] as string)} · {t("Changed")} {formatTime(read.data["updatedAt"] as string)}</>}</p>
      {state.theirs
        ? <Conflict base={read ? writable(schema, read.data) : {}} mine={value} theirs={writable(schema, state.theirs.data)} onMerge={setValue} onDone={() => void save(state.theirs?.etag)} />
        : Boolean(state.error) && !shownElsewhere && <Failed error={state.error} />}
      {read && mayWrite && noun.path === "/users" && <UserState user={newer ?? read} onConflict={setNewer} onChange={changeState} />}
      {noun.path === "/identity-providers" && (read ? <ProviderUse handle={String(read.data["handle"])} /> : <ProviderPreset value={value} onChange={setValue} />)}
      <form ref={form} className="item" onSubmit={(event) => { event.preventDefault(); void save(read?.etag); }}>
        <fieldset className="form" disabled={!mayWrite}>
          <SchemaForm schema={read ? withoutID(schema) : schema} value={value} problems={problems} onChange={setValue} />
          {read && noun.path === "/applications" && <Appearance id={read.data.id} value={value} onChange={setValue} />}
        </fieldset>
        {noun.path === "/roles" && mayWrite && isEmpty(value["permissions"]) && <p className="notice">{t("This role has no permissions, so it allows nothing. You can add them later.")}</p>}
        <div className="actions sticky">
          {mayWrite
            ? <Button type="submit" className="primary" isDisabled={state.busy ?? false}>{read ? t("Save") : t("Create")}</Button>
            : <ReadOnly path={noun.path} />}
          <span role="status">{state.done}</span>
        </div>
      </form>
      {read && mayWrite && noun.path === "/users" && may("system:applications:read") && <InvitationPart user={read.data} />}
      {read && noun.path === "/users" && <SignInHelp id={read.data.id} />}
      {read && noun.path === "/users" && <UserParts id={read.data.id} name={title} mayWrite={mayWrite} />}
      {read && noun.path === "/applications" && <ConnectPart application={read.data} onChange={changeClient} />}
      {read && mayWrite && noun.path === "/applications" && <ApplicationParts application={read.data} />}
    </Page>
  );
}
