// An application: its name and id on top, and its settings by task.
import { useEffect } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { useSearchParams } from "react-router";
import type { Schema } from "./api";
import { Appearance } from "./Appearance";
import { ApplicationParts } from "./ApplicationParts";
import { ClaimsPart } from "./ClaimsPart";
import { ConnectPart, ConnectValues, TestSignIn } from "./ConnectPart";
import { clientOf } from "./connect/client";
import { isAt, type Member, membersIn, membersOf } from "./grouping";
import { factsOf, ItemActions, type ItemProps, Trouble } from "./ItemPage";
import { LastSignIns } from "./LastSignIns";
import { type Item, mayChange } from "./nouns";
import { NotSwitchedOn } from "./NotSwitchedOn";
import { Logo } from "./parts/Avatar";
import { Pill } from "./parts/Pill";
import { SaveBar } from "./SaveBar";
import { SectionForm } from "./SectionForm";
import { may, serverURL } from "./session";
import { t } from "./texts";
import { CopyButton, More, Page, ReadOnly } from "./ui";
import { type Editor, useEditor } from "./useEditor";

type Group = NonNullable<Schema["x-groups"]>[number];

/** clientIDOf returns the client id of an application; "" if it has no client. */
const clientIDOf = (application: Item) => String((application["inboundAuthConfig"] as { config?: { clientId?: string } }[] | undefined)?.[0]?.config?.clientId ?? "");

export function ApplicationPage({ noun, schema: described, initial, opened }: ItemProps) {
  const editor = useEditor(noun, described, initial, opened);
  const { schema, read, state, problems } = editor;
  const [query, setQuery] = useSearchParams();
  const groups = schema["x-groups"] ?? [];
  const members = membersOf(schema).filter(({ path }) => path.join() !== "id");
  const of = (group: Group) => membersIn(schema, members, group.name);
  const faults = (group: Group) => of(group).filter((member) => problems.some((one) => isAt(one, member))).length;
  const show = (tab: string) => setQuery(tab === groups[0]?.name ? {} : { tab }, { replace: true });
  useEffect(() => { // the first fault is shown
    const faulty = groups.find((group) => faults(group) > 0);
    if (faulty && editor.isShownElsewhere) {
      show(faulty.name);
    }
  }, [state.error]);
  if (!read) {
    return null;
  }
  const application = read.data;
  const name = noun.label(application);
  const clientID = clientIDOf(application);
  const kind = String(application["type"] ?? "");
  const mayWrite = mayChange(noun.path);
  return (
    <Page
      title={name} crumbs={[{ to: noun.path, title: t(noun.title) }]} actions={<ApplicationMenu id={application.id} />}
      picture={<Logo name={name} url={String(application["logoUrl"] ?? "")} />}
      marks={kind && <Pill tone="plain">{schema.properties?.["type"]?.["x-labels"]?.[kind] ?? kind}</Pill>}
      facts={[clientID && <><code>{clientID}</code><CopyButton small text={clientID} name={t("Client id")} /></>, ...factsOf(read).slice(clientID ? 2 : 0)]}
    >
      <Trouble editor={editor} />
      <form ref={editor.form} className="item" onSubmit={(event) => { event.preventDefault(); void editor.save(read.etag); }}>
        <Tabs selectedKey={query.get("tab") ?? groups[0]?.name ?? ""} onSelectionChange={(key) => show(String(key))}>
          <TabList aria-label={t("Settings")}>
            {groups.map((group) => <Tab key={group.name} id={group.name}>{group.title}{faults(group) > 0 && <span className="count problem">{faults(group)}</span>}</Tab>)}
          </TabList>
          {groups.map((group) => <TabPanel key={group.name} id={group.name}><Task editor={editor} application={application} group={group} members={of(group)} isDisabled={!mayWrite} show={show} /></TabPanel>)}
        </Tabs>
        {mayWrite ? <SaveBar changes={editor.changes} isBusy={state.busy ?? false} done={state.done} onDiscard={editor.discard} /> : <ReadOnly path={noun.path} />}
      </form>
    </Page>
  );
}

/** ApplicationMenu has what is done rarely. */
function ApplicationMenu({ id }: { id: string }) {
  return (
    <More
      label={t("More")}
      items={[
        { id: "copy", icon: "copy", text: t("Copy the id of the application"), onAction: () => void navigator.clipboard.writeText(id) },
        ...(may("system:audit:read") ? [{ id: "audit", icon: "scroll-text" as const, text: t("Its events in the audit log"), href: `/audit?application=${id}` }] : []),
      ]}
    />
  );
}

interface TaskProps {
  editor: Editor;
  application: Item;
  group: Group;
  members: Member[];
  isDisabled: boolean;
  show: (tab: string) => void;
}

/** Task is what a tab shows: the members of its group, and what belongs to them. */
function Task({ editor, application, group, members, isDisabled, show }: TaskProps) {
  const { schema, value, problems, setValue } = editor;
  const shown = group.name === "appearance" ? members.filter(({ path }) => path[0] !== "customizations") : members;
  const form = <SectionForm schema={schema} group={group} members={shown} value={value} problems={problems} isDisabled={isDisabled} onChange={setValue} />;
  const client = clientOf(application, serverURL);
  switch (group.name) {
    case "overview":
      return (
        <div className="columns-2">
          <div><ConnectPart application={application} onChange={editor.takeClient} />{form}</div>
          <div><NotSwitchedOn value={value} mayChange={!isDisabled} show={show} />{may("system:audit:read") && <LastSignIns application={application.id} />}</div>
        </div>
      );
    case "sign-in":
      return <div className="columns-2"><div>{form}</div><div><NotSwitchedOn value={value} mayChange={!isDisabled} show={show} /></div></div>;
    case "protocol":
      return <div className="columns-2"><div>{form}</div><div><section className="card"><h2>{t("Connect")}</h2><ConnectValues client={client} /><TestSignIn client={client} /></section></div></div>;
    case "claims":
      return <>{form}<ClaimsPart id={application.id} /></>;
    case "appearance":
      return <><Appearance id={application.id} value={value} isDisabled={isDisabled} onChange={setValue} />{form}</>;
    case "danger":
      return (
        <>
          {!isDisabled && <ApplicationParts application={application} />}
          {form}
          {!isDisabled && (
            <section className="card" aria-labelledby="deletion">
              <h2 id="deletion">{t("Delete the application")}</h2>
              <p>{t("Users can no longer sign in to it, and its tokens become invalid.")}</p>
              <ItemActions editor={editor} />
            </section>
          )}
        </>
      );
    default:
      return form;
  }
}
