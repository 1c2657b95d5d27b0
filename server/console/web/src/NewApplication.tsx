// A new application from a template, and how to connect it.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Button, FieldError, Input, Label, Radio, RadioGroup, Text, TextArea, TextField } from "react-aria-components";
import { Link } from "react-router";
import { useAction } from "./action";
import { api, type Finding, must, RequestError } from "./api";
import { ConnectPart } from "./ConnectPart";
import { takeDraft, useLastingDraft } from "./draft";
import type { Item } from "./nouns";
import { type ApplicationRequest, type Asked, templates } from "./templates";
import { t } from "./texts";
import { Failed, Page, Secret } from "./ui";

interface Draft {
  key: string;
  name: string;
  answer: string;
}

export function NewApplication() {
  const cache = useQueryClient();
  const [draft, setDraft] = useState<Draft>(() => (takeDraft() as Draft | undefined) ?? { key: "web", name: "", answer: "" });
  const forgetDraft = useLastingDraft(() => (draft.name || draft.answer ? draft : undefined));
  const [state, setState] = useState<{ busy?: boolean; error?: unknown; created?: Item }>({});
  const template = templates.find(({ key }) => key === draft.key) ?? templates[0];
  const found: Finding[] = state.error instanceof RequestError ? state.error.failure?.errors ?? [] : [];
  const { ofName, ofAnswer, others } = byField(found);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus(), [state.error]);
  const post = useAction("create application", async (body: ApplicationRequest) => {
    setState({ busy: true });
    const created = must(await api.POST("/applications", { body })) as Item;
    void cache.invalidateQueries({ queryKey: ["/applications"] });
    forgetDraft();
    setState({ created });
  }, (error) => setState({ error }));
  const create = () => {
    const answers = draft.answer.split("\n").map((line) => line.trim()).filter((line) => line !== "");
    return post(template?.request(draft.name.trim(), answers) ?? { name: draft.name });
  };
  if (state.created) {
    return <Created application={state.created} />;
  }
  return (
    <Page title={t("New application")} crumbs={[{ to: "/applications", title: t("Applications") }]} actions={<Link className="button" to="/applications/new">{t("Fill in all fields")}</Link>}>
      {Boolean(state.error) && (found.length === 0 || others) && <Failed error={state.error} />}
      <form ref={form} className="fields" onSubmit={(event) => { event.preventDefault(); void create(); }}>
        <RadioGroup className="templates" value={draft.key} onChange={(key) => setDraft({ ...draft, key, answer: "" })}>
          <Label>{t("What kind of application is it?")}</Label>
          {templates.map(({ key, title, description }) => (
            <Radio key={key} value={key} aria-label={t(title)} aria-describedby={`template-${key}`}><strong>{t(title)}</strong><span id={`template-${key}`} className="quiet">{t(description)}</span></Radio>
          ))}
        </RadioGroup>
        <TextField value={draft.name} onChange={(name) => setDraft({ ...draft, name })} isRequired isInvalid={ofName !== ""} validationBehavior="aria">
          <Label>{t("Name")} <span className="quiet">({t("required")})</span></Label>
          <Input />
          <FieldError>{ofName}</FieldError>
        </TextField>
        {template?.asks && <Question asked={template.asks} answer={draft.answer} problem={ofAnswer} onChange={(answer) => setDraft({ ...draft, answer })} />}
        <div className="actions"><Button type="submit" className="primary" isDisabled={state.busy ?? false}>{t("Create")}</Button></div>
      </form>
    </Page>
  );
}

/** byField returns the findings of the server for each field of the form. */
function byField(found: Finding[]) {
  const isName = ({ path }: Finding) => path === "name";
  const isAnswer = ({ path }: Finding) => /^passkeyAllowedOrigins|\.(redirectUris|scopes)\b/.test(path);
  const join = (list: Finding[]) => list.map(({ message }) => message).join("; ");
  return { ofName: join(found.filter(isName)), ofAnswer: join(found.filter(isAnswer)), others: found.some((one) => !isName(one) && !isAnswer(one)) };
}

function Question({ asked, answer, problem, onChange }: { asked: Asked; answer: string; problem: string; onChange: (answer: string) => void }) {
  return (
    <TextField value={answer} onChange={onChange} isRequired={asked.required} isInvalid={problem !== ""} validationBehavior="aria">
      <Label>{t(asked.label)} <span className="quiet">({asked.required && `${t("required")}, `}{t("one per line")})</span></Label>
      <TextArea rows={2} />
      <Text slot="description">{t(asked.help)} {t("Example:")} <code>{asked.example}</code></Text>
      <FieldError>{problem}</FieldError>
    </TextField>
  );
}

/** Created shows the new application, with the secret that is not shown again. */
function Created({ application: created }: { application: Item }) {
  const [application, setApplication] = useState(created);
  const secret = created["clientSecret"] as string | undefined;
  return (
    <Page title={String(application["name"])} crumbs={[{ to: "/applications", title: t("Applications") }]} actions={<Link className="button" to={`/applications/${application.id}`}>{t("Settings of the application")}</Link>}>
      <p role="status">{t("The application was created.")}</p>
      {secret && <Secret name={t("Client secret")} value={secret} />}
      <ConnectPart application={application} onChange={({ data }) => setApplication(data)} />
    </Page>
  );
}
