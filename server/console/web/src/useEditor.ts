// The editing of a resource: what was read, what was entered, and what became of saving it. A change is sent
// with the ETag that was read, so a concurrent change of someone else is never overwritten unseen.
import { useQueryClient } from "@tanstack/react-query";
import { type RefObject, useEffect, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { useAction } from "./action";
import { type Finding, RequestError, type Schema, send } from "./api";
import { describeChanges, withoutSecrets } from "./changes";
import { mergeMembers } from "./Conflict";
import { takeDraft, useLastingDraft } from "./draft";
import type { Item, Noun } from "./nouns";
import { subject, takeRepetition } from "./session";
import { t } from "./texts";
import { useUserSchema } from "./useUserSchema";

export type Value = Record<string, unknown>;

/** Read is a resource with the ETag that changes of it are sent with. */
export interface Read {
  data: Item;
  etag: string;
}

/** Draft is what was entered, and what it is a change of. With repeats, the server asked this user for a sign-in when it was saved. */
interface Draft {
  value: Value;
  read?: Read | undefined;
  repeats?: string;
}

interface State {
  busy?: boolean;
  done?: string;
  error?: unknown;
  refused?: Value; // what the server refused to store
  theirs?: Read; // what someone else has stored in the meantime
}

/** writable returns the members that a request may have, without those that only repeat a member of the OAuth client. */
export function writable(schema: Schema, item: Value): Value {
  const isRepeated = (name: string) => name === "clientId" && "inboundAuthConfig" in item;
  return Object.fromEntries(Object.entries(item).filter(([name]) => schema.properties?.[name] && !schema.properties[name].readOnly && !isRepeated(name)));
}

/** Editor is what a page needs to edit a resource. */
export interface Editor {
  noun: Noun;
  schema: Schema;
  read: Read | undefined; // undefined for a new resource
  shown: Read | undefined; // read, or as someone else has changed it since
  value: Value;
  base: Value; // what the value is a change of
  changes: string[];
  state: State;
  problems: Finding[];
  isShownElsewhere: boolean; // the form shows the error at its fields
  form: RefObject<HTMLFormElement | null>;
  setValue: (value: Value) => void;
  save: (etag: string | undefined) => Promise<void>;
  discard: () => void;
  remove: () => void;
  takeState: (changed: Read) => void; // a button has changed the state of the user
  takeConflict: (changed: Read) => void;
  takeClient: (changed: Read) => void; // a button has changed another member
}

export function useEditor(noun: Noun, described: Schema, initial: Value, opened: Read | undefined): Editor {
  const navigate = useNavigate();
  const cache = useQueryClient();
  const [draft] = useState(() => takeDraft() as Draft | undefined);
  const [read, setRead] = useState(draft?.read ?? opened);
  const [value, setValue] = useState<Value>(() => draft?.value ?? (read ? writable(described, read.data) : initial));
  const schema = useUserSchema(described, noun.path === "/users" ? String(value["type"] ?? "") : "");
  const [newer, setNewer] = useState<Read>(); // a user as someone else changed it since the form was read
  const [state, setState] = useState<State>({});
  const isRefused = state.error instanceof RequestError && state.error.status === 401;
  const found: Finding[] = state.error instanceof RequestError ? state.error.failure?.errors ?? [] : [];
  const problems = isRefused ? found.map((one) => ({ ...one, message: t("needs a recent sign-in with your passkey") })) : found;
  const base = read ? writable(described, read.data) : initial;
  const isChanged = JSON.stringify(value) !== JSON.stringify(base);
  const forgetDraft = useLastingDraft(
    () => (isChanged ? { value, read, ...(isRefused && state.refused === value && { repeats: subject() }) } satisfies Draft : undefined),
    () => (isChanged ? { value: withoutSecrets(schema, value) as Value, read } satisfies Draft : undefined),
  );
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
        forgetDraft();
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
    if (draft === undefined || hasRepeated.current) {
      return;
    }
    hasRepeated.current = true;
    if (draft.repeats === undefined) {
      setState({ done: t("What you had entered is here again.") });
    } else if (takeRepetition() && draft.repeats === subject()) {
      void save(read?.etag); // with the ETag of the first attempt: a change of someone else since then is a conflict
    } else {
      setState({ done: t("You are signed in. Press the button again to make the change.") });
    }
  });
  const remove = useAction("delete", async ({ etag }: { etag: string }) => {
    await send("DELETE", path, undefined, etag ? { "If-Match": etag } : {});
    forgetDraft();
    await cache.invalidateQueries({ queryKey: [noun.path] });
    await navigate(noun.path);
  }, (error) => setState({ error }));
  const isShownElsewhere = !isRefused && problems.length > 0 && problems.every((p) => schema.properties?.[p.path.split(/[.[]/)[0] ?? ""]);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const wrong = isShownElsewhere ? form.current?.querySelector<HTMLElement>("[aria-invalid=true]") : undefined;
    wrong?.focus({ preventScroll: true });
    wrong?.scrollIntoView({ block: "center" });
  }, [state.error]);
  return {
    noun, schema, read, shown: newer ?? read, value, base, state, problems, isShownElsewhere, form, save,
    setValue: (changed) => {
      setValue(changed);
      setState(({ done: _, ...others }) => others);
    },
    changes: isChanged ? describeChanges(schema, base, value) : [],
    discard: () => {
      setValue(base);
      setState({ done: t("The changes are discarded.") });
    },
    remove: () => void remove({ etag: read?.etag ?? "" }),
    takeState: (changed) => {
      if (newer) {
        setNewer(changed); // saving the form merges the change of someone else
        return;
      }
      setRead(changed);
      setValue({ ...value, status: changed.data["status"], lockedUntil: changed.data["lockedUntil"] });
    },
    takeConflict: setNewer,
    takeClient: (changed) => {
      setValue(mergeMembers(writable(described, read?.data ?? {}), value, writable(described, changed.data)));
      setRead(changed);
    },
  };
}
