// The appearance of the hosted pages for an application: customizations.theme, with a preview.
import { useMemo } from "react";
import { membersOf } from "./grouping";
import { PagePreview } from "./PagePreview";
import type { Schema } from "./api";
import { SectionForm } from "./SectionForm";
import { t } from "./texts";

type Value = Record<string, unknown>;

const color = (title: string): Schema => ({ title: t(title), type: "string", maxLength: 100, field: "color" });

const colors = (title: string): Schema => ({
  title: t(title), type: "object", additionalProperties: false, "x-group": "theme",
  properties: { primary: color("Color of buttons and links"), background: color("Color behind the form") },
});

const text = (title: string, maxLength: number, description?: string): Schema => ({ title: t(title), type: "string", maxLength, ...(description !== undefined && { description: t(description) }) });

const theme = (): Schema => ({
  type: "object",
  properties: {
    colors: colors("Light"),
    dark: { type: "object", additionalProperties: false, properties: { colors: colors("Dark") } },
    radius: text("Radius of corners", 30, "A CSS length such as 4px."),
    logoUrl: text("Address of the logo", 500, "It replaces the logo of the organization unit or the service."),
    font: text("Font", 200, "CSS font families such as Georgia, serif. Brand is the font file below."),
    fontUrl: text("Address of a font file", 500, "A WOFF2 file. Its server must allow requests from other origins (CORS)."),
    faviconUrl: text("Address of the icon in the browser tab", 500),
    backgroundUrl: text("Address of the background picture", 500),
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

export function Appearance({ id, value, isDisabled, onChange }: { id: string; value: Value; isDisabled: boolean; onChange: (value: Value) => void }) {
  const customizations = (value["customizations"] ?? {}) as Value;
  const current = (customizations["theme"] ?? {}) as Value;
  const schema = useMemo(theme, []);
  const change = (changed: Value) => {
    const { theme: _, ...others } = customizations;
    const now = { ...others, ...(Object.keys(changed).length > 0 ? { theme: changed } : {}) };
    const { customizations: __, ...rest } = value;
    onChange(Object.keys(now).length > 0 ? { ...rest, customizations: now } : rest);
  };
  return (
    <div className="two-halves">
      <SectionForm schema={schema} group={{ name: "theme", title: t("Appearance of the hosted pages"), sections: [] }} members={membersOf(schema)} value={current} problems={[]} isDisabled={isDisabled} onChange={change} />
      <section className="card" aria-labelledby="preview">
        <h2 id="preview">{t("The page as users see it")}</h2>
        <PagePreview step={sample} application={id} theme={current} onAnswer={() => {}} />
        <p className="quiet small">{t("Colors are CSS colors such as #1f6350. The pages adjust them until texts are readable, and ignore what is not valid.")}</p>
      </section>
    </div>
  );
}
