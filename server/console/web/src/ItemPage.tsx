// A resource: its members in a form, and what else there is to it.
import { useQuery } from "@tanstack/react-query";
import { Button } from "react-aria-components";
import { useParams, useSearchParams } from "react-router";
import { schemaOf, send, type Schema } from "./api";
import { ApplicationPage } from "./ApplicationPage";
import { Conflict } from "./Conflict";
import { membersIn, membersOf } from "./grouping";
import { InvitationPart } from "./InvitationPart";
import { mayChange, type Noun } from "./nouns";
import { Avatar } from "./parts/Avatar";
import { ProviderPreset, ProviderUse } from "./ProviderPreset";
import { SaveBar } from "./SaveBar";
import { SectionForm } from "./SectionForm";
import { may } from "./session";
import { SignInHelp } from "./SignInHelp";
import { formatTime, t } from "./texts";
import { Confirm, CopyButton, Failed, Loading, Page, ReadOnly } from "./ui";
import { type Editor, type Read, useEditor, type Value, writable } from "./useEditor";
import { UserParts } from "./UserParts";
import { StatePill, UserState } from "./UserState";
import { useOnlyUserType } from "./useUserSchema";

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
  const Shown = noun.path === "/applications" && read.data ? ApplicationPage : ResourcePage;
  return <Shown key={id ?? "new"} noun={noun} schema={schema.data} initial={initial} opened={read.data} />;
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

/** ItemProps are what a page of a resource is opened with. */
export interface ItemProps {
  noun: Noun;
  schema: Schema;
  initial: Value;
  opened: Read | undefined;
}

function ResourcePage({ noun, schema: described, initial, opened }: ItemProps) {
  const editor = useEditor(noun, described, initial, opened);
  const { schema, read, shown, value, state, setValue, save } = editor;
  const members = membersOf(schema).filter(({ path }) => !read || path.join() !== "id"); // the id stays as it is
  const mayWrite = mayChange(noun.path);
  const title = read ? noun.label(read.data) : t(noun.creation);
  const isUser = noun.path === "/users";
  return (
    <Page
      title={title} crumbs={[{ to: noun.path, title: t(noun.title) }]} facts={factsOf(read)} actions={<ItemActions editor={editor} />}
      picture={isUser && read && <Avatar large name={title} />} marks={isUser && shown && <StatePill user={shown.data} />}
    >
      <Trouble editor={editor} />
      {read && shown && mayWrite && isUser && <UserState user={shown} onConflict={editor.takeConflict} onChange={editor.takeState} />}
      {noun.path === "/identity-providers" && (read ? <ProviderUse handle={String(read.data["handle"])} /> : <ProviderPreset value={value} onChange={setValue} />)}
      <form ref={editor.form} className="item" onSubmit={(event) => { event.preventDefault(); void save(read?.etag); }}>
        <div className="stack">
          {(schema["x-groups"] ?? []).map((group) => (
            <SectionForm key={group.name} schema={schema} group={group} members={membersIn(schema, members, group.name)} value={value} problems={editor.problems} isDisabled={!mayWrite} onChange={setValue} />
          ))}
        </div>
        {noun.path === "/roles" && mayWrite && isEmpty(value["permissions"]) && <p className="notice">{t("This role has no permissions, so it allows nothing. You can add them later.")}</p>}
        {!mayWrite && <ReadOnly path={noun.path} />}
        {mayWrite && read && <SaveBar changes={editor.changes} isBusy={state.busy ?? false} done={state.done} onDiscard={editor.discard} />}
        {mayWrite && !read && <div className="actions"><Button type="submit" className="primary" isDisabled={state.busy ?? false}>{t("Create")}</Button><span role="status">{state.done}</span></div>}
      </form>
      {read && mayWrite && isUser && may("system:applications:read") && <InvitationPart user={read.data} />}
      {read && isUser && <SignInHelp id={read.data.id} />}
      {read && isUser && <UserParts id={read.data.id} name={title} mayWrite={mayWrite} />}
    </Page>
  );
}

/** factsOf are what every resource has: its id, and its times. */
export const factsOf = (read: Read | undefined) => (read ? [
  <><code>{read.data.id}</code><CopyButton small text={read.data.id} name={t("Id")} /></>,
  <>{t("Created")} {formatTime(read.data["createdAt"] as string)}</>,
  <>{t("Changed")} {formatTime(read.data["updatedAt"] as string)}</>,
] : []);

/** ItemActions are what a user who may change a resource can do with all of it. */
export function ItemActions({ editor: { noun, read, remove } }: { editor: Editor }) {
  return read && mayChange(noun.path) && <Confirm label={t("Delete")} question={t("Delete {name}? This cannot be undone.", { name: noun.label(read.data) })} onConfirm={remove} />;
}

/** Trouble shows why a change was not stored. */
export function Trouble({ editor: { schema, read, value, state, isShownElsewhere, setValue, save } }: { editor: Editor }) {
  return state.theirs
    ? <Conflict base={read ? writable(schema, read.data) : {}} mine={value} theirs={writable(schema, state.theirs.data)} onMerge={setValue} onDone={() => void save(state.theirs?.etag)} />
    : Boolean(state.error) && !isShownElsewhere && <Failed error={state.error} />;
}
