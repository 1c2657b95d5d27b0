// The appearance of the hosted pages for an application: customizations.theme, with a preview.
import { PagePreview } from "./PagePreview";
import type { Schema } from "./api";
import { SchemaForm } from "./SchemaForm";
import { t } from "./texts";

type Value = Record<string, unknown>;

const color = (title: string): Schema => ({ title: t(title), type: "string", maxLength: 100 });

const colors = (title: string): Schema => ({
  title: t(title), type: "object", additionalProperties: false,
  properties: { primary: color("Color of buttons and links"), background: color("Color behind the form") },
});

const theme = (): Schema => ({
  type: "object",
  properties: {
    colors: colors("Light"),
    dark: { type: "object", title: t("Dark"), additionalProperties: false, properties: { colors: colors("Colors") } },
    radius: { title: t("Radius of corners"), description: t("A CSS length such as 4px."), type: "string", maxLength: 30 },
    font: { title: t("Font"), description: t("CSS font families such as Georgia, serif. Brand is the font file below."), type: "string", maxLength: 200 },
    fontUrl: { title: t("Address of a font file"), description: t("A WOFF2 file. Its server must allow requests from other origins (CORS)."), type: "string", maxLength: 500 },
    faviconUrl: { title: t("Address of the icon in the browser tab"), type: "string", maxLength: 500 },
    backgroundUrl: { title: t("Address of the background picture"), type: "string", maxLength: 500 },
    logoUrl: { title: t("Address of the logo"), description: t("It replaces the logo of the organization unit or the service."), type: "string", maxLength: 500 },
  },
});

// A sign-in with a passkey or a password.
const sample = {
  flowStatus: "INCOMPLETE",
  data: {
    meta: {
      components: [
        { type: "TEXT", variant: "HEADING_1", label: "Sign in" },
        { type: "BLOCK", components: [
          { type: "TEXT_INPUT", ref: "username", label: "Username", required: true },
          { type: "PASSWORD_INPUT", ref: "password", label: "Password", required: true },
          { type: "ACTION", id: "continue", label: "Continue", variant: "PRIMARY", eventType: "SUBMIT" },
          { type: "ACTION", id: "passkey", label: "Sign in with a passkey", variant: "SECONDARY", eventType: "SUBMIT" },
        ] },
      ],
    },
  },
};

export function Appearance({ id, value, onChange }: { id: string; value: Value; onChange: (value: Value) => void }) {
  const customizations = (value["customizations"] ?? {}) as Value;
  const current = (customizations["theme"] ?? {}) as Value;
  const change = (changed: Value) => {
    const { theme: _, ...others } = customizations;
    const now = { ...others, ...(Object.keys(changed).length > 0 ? { theme: changed } : {}) };
    const { customizations: __, ...rest } = value;
    onChange(Object.keys(now).length > 0 ? { ...rest, customizations: now } : rest);
  };
  return (
    <details className="appearance">
      <summary>{t("Appearance of the hosted pages")}</summary>
      <p className="quiet">{t("Colors are CSS colors such as #1f6350. The pages adjust them until texts are readable, and ignore what is not valid.")}</p>
      <div className="pair">
        <SchemaForm schema={theme()} value={current} problems={[]} onChange={change} />
        <PagePreview step={sample} application={id} theme={current} onAnswer={() => {}} />
      </div>
    </details>
  );
}
