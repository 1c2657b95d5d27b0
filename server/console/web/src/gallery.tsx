// Every part of the console in every state, for developers and for the visual test of e2e. It is not in the
// product: `npm run gallery` shows it.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import { Button, I18nProvider, Switch, Tab, TabList, TabPanel, Tabs, ToggleButton } from "react-aria-components";
import { MemoryRouter } from "react-router";
import { RequestError, type Schema } from "./api";
import { Empty } from "./Empty";
import { nouns } from "./nouns";
import { Avatar, Logo } from "./parts/Avatar";
import { Icon, Mark } from "./parts/Icon";
import { Pill, type Tone } from "./parts/Pill";
import { SaveBar } from "./SaveBar";
import { SchemaForm } from "./SchemaForm";
import "./styles/index.css";
import { CopyButton, Failed, KeyValues, Lacking, Loading, More, Page, Secret } from "./ui";

/** Example is a part with its name; the test measures what is in it. */
function Example({ name, children }: { name: string; children: ReactNode }) {
  return <section className="card" data-part={name} aria-label={name}><h2>{name}</h2>{children}</section>;
}

const tones: [Tone, string][] = [["ok", "active"], ["bad", "disabled"], ["warn", "locked"], ["info", "published"], ["", "retired"], ["plain", "Web server"]];

const schema: Schema = {
  type: "object", additionalProperties: false, required: ["name"],
  properties: {
    name: { type: "string", title: "Name", description: "The name that users see." },
    wrong: { type: "string", title: "Address", description: "Replaced by the error." },
    note: { type: "string", title: "Note", maxLength: 2000 },
    uris: { type: "array", title: "Redirect URIs", description: "Compared exactly.", items: { type: "string" } },
    algorithm: { type: "string", title: "Algorithm", enum: ["RS256", "ES256", "EdDSA"], default: "RS256" },
    pkce: { type: "string", title: "PKCE", enum: ["required", "optional"], "x-labels": { required: "Required", optional: "If sent" } },
    lifetime: { type: "integer", title: "Lifetime", "x-unit": "seconds", default: 3600 },
    color: { type: "string", title: "Color", field: "color" },
    grants: { type: "array", title: "Grants", description: "How the client gets tokens.", items: { type: "string", enum: ["authorization_code", "refresh_token"] } },
    consent: { type: "boolean", title: "Consent required", description: "Users are asked first.", default: false },
    password: { type: "string", title: "Password", "x-credential": true },
    address: { type: "object", title: "Address", additionalProperties: false, properties: { city: { type: "string", title: "City" }, country: { type: "string", title: "Country" } } },
  },
};

function Form({ isDisabled }: { isDisabled: boolean }) {
  const [value, setValue] = useState<Record<string, unknown>>({ name: "Lamp shop", wrong: "ftp:", uris: ["https://shop.example/callback"], pkce: "required", lifetime: 7200, color: "#1c6b52", grants: ["refresh_token"], consent: true });
  return <fieldset className="form rows" disabled={isDisabled}><SchemaForm schema={schema} value={value} problems={[{ path: "wrong", message: "Expected an address that begins with https://." } as never]} onChange={setValue} /></fieldset>;
}

function refusal(status: number, code: string, header: Record<string, string> = {}): RequestError {
  return new RequestError(new Response(null, { status, headers: header }), { code, description: { defaultValue: "name \"Lamp shop\" is taken; choose another one" }, traceId: "4c1c7d4f9d0e" });
}

function Gallery() {
  return (
    <main className="stack">
      <Page title="Components" crumbs={[{ to: "/", title: "Overview" }]} picture={<Logo name="Lamp shop" />} marks={<Pill tone="ok">active</Pill>} facts={["Created today", <code key="id">43KPfGCD</code>]} actions={<Button className="primary">Create</Button>}>
        <Example name="Buttons">
          <div className="actions">
            <Button className="primary">Save</Button><Button>Cancel</Button><Button className="danger">Delete</Button><Button className="bare">Discard</Button><Button className="link">Choose a flow</Button>
            <Button><Icon name="play" />Test the sign-in</Button><Button className="bare icon-only" aria-label="Search"><Icon name="search" /></Button>
            <Button isDisabled>Save</Button><ToggleButton>Live</ToggleButton><ToggleButton defaultSelected>Live, on</ToggleButton><a className="button" href="#root">A link</a>
          </div>
        </Example>
        <Example name="Pills"><div className="actions">{tones.map(([tone, text]) => <Pill key={text} tone={tone}>{text}</Pill>)}</div></Example>
        <Example name="Pictures"><div className="actions"><Mark /><Avatar name="Ada Lovelace" /><Avatar large name="maria@acme.example" /><Logo name="Acme Intranet" /><Icon name="shield-check" /></div></Example>
        <Example name="Fields"><Form isDisabled={false} /></Example>
        <Example name="Fields that cannot be changed"><Form isDisabled /></Example>
        <Example name="Switches"><div className="actions"><Switch><div className="switch" aria-hidden="true" />Off</Switch><Switch defaultSelected><div className="switch" aria-hidden="true" />On</Switch></div></Example>
        <Example name="Tabs"><Tabs><TabList aria-label="Tabs"><Tab id="a">Overview</Tab><Tab id="b">Protocol<span className="count">2</span></Tab></TabList><TabPanel id="a">The first panel</TabPanel><TabPanel id="b">The second panel</TabPanel></Tabs></Example>
        <Example name="Facts"><KeyValues rows={[{ name: "Issuer", value: <code>https://id.acme.example</code>, copy: "https://id.acme.example" }, { name: "Last sign-in", value: "2 minutes ago" }]} /></Example>
        <Example name="Secret"><Secret name="Client secret" value="kV0mY3pQe7uXr2Zt" /></Example>
        <Example name="Code"><div className="actions"><code>app.ts</code><CopyButton text="code" /></div><pre className="snippet" tabIndex={0}>{"const issuer = process.env.ISSUER;\nstart(issuer);"}</pre></Example>
        <Example name="Menu"><More label="More" items={[{ id: "copy", icon: "copy", text: "Duplicate" }]} /></Example>
        <Example name="Table">
          <div className="scroll"><table className="stacked" aria-label="Users"><thead><tr><th scope="col">Username</th><th scope="col">State</th><th scope="col">Changed</th></tr></thead>
            <tbody><tr><td><a href="#root">ada</a></td><td><Pill tone="ok">active</Pill></td><td>Nov 28, 2026</td></tr><tr><td><a href="#root">bob</a></td><td><Pill tone="bad">disabled</Pill></td><td>Nov 27, 2026</td></tr></tbody></table></div>
        </Example>
        <Example name="List"><ul className="parts"><li><span>MacBook of Ada <span className="quiet">synced</span></span><Button className="danger">Delete</Button></li><li><span>Phone</span><Button className="danger">Delete</Button></li></ul></Example>
        <Example name="Numbers"><ul className="cards"><li><a href="#root"><span className="number">1,204</span> sign-ins</a></li><li className="card"><span className="number">71 %</span> with a passkey<span className="quiet small">of all sign-ins</span></li></ul></Example>
        <Example name="Notices"><p className="notice">A notice.</p><p className="notice warn">A warning.</p><p className="notice bad">An error.</p></Example>
        <Example name="A failed request"><Failed error={refusal(409, "conflict")} retry={() => {}} /></Example>
        <Example name="An ended session"><Failed error={refusal(401, "unauthorized")} /></Example>
        <Example name="A lacking permission"><Lacking permission="system:users:write" /></Example>
        <Example name="Loading"><Loading /></Example>
        <Example name="Nothing yet"><Empty noun={nouns[0] as never} /></Example>
        <Example name="Changes"><SaveBar changes={["Redirect URIs: https://shop.example/ added", "PKCE: If sent → Required"]} isBusy={false} done={undefined} onDiscard={() => {}} /></Example>
        <Example name="Changes while they are stored"><SaveBar changes={["PKCE: If sent → Required"]} isBusy done={undefined} onDiscard={() => {}} /></Example>
      </Page>
    </main>
  );
}

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(<StrictMode><I18nProvider locale="en"><QueryClientProvider client={new QueryClient()}><MemoryRouter><Gallery /></MemoryRouter></QueryClientProvider></I18nProvider></StrictMode>);
}
