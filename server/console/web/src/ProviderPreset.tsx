// What identity providers need from an administrator: presets of known ones, and the redirect URI to
// register there.
import { useId, useState } from "react";
import known from "./presets.json";
import { serverURL } from "./session";
import { t } from "./texts";
import { CopyButton } from "./ui";

type Value = Record<string, unknown>;

interface Preset {
  name: string;
  handle: string;
  /** issuer has the parts to replace in capitals. */
  issuer: string;
  /** where says where the provider registers clients. */
  where: string;
  scopes: string[];
  /** mapping has the claims that the provider documents: docs/federation.md cites them. */
  mapping: Value;
}

const presets: Preset[] = known;

/** ProviderPreset fills the form of a new provider. */
export function ProviderPreset({ value, onChange }: { value: Value; onChange: (value: Value) => void }) {
  const id = useId();
  const [name, setName] = useState("");
  const preset = presets.find((one) => one.name === name);
  const choose = (chosen: string) => {
    setName(chosen);
    const found = presets.find((one) => one.name === chosen);
    if (found) {
      onChange({ ...value, name: found.name, handle: found.handle, issuer: found.issuer, scopes: found.scopes, mapping: found.mapping });
    }
  };
  return (
    <div className="fields">
      <div className="field">
        <label htmlFor={id}>{t("Preset")}</label>
        <select id={id} value={name} onChange={(event) => choose(event.target.value)}>
          <option value="">{t("Another OpenID provider")}</option>
          {presets.map((one) => <option key={one.name}>{one.name}</option>)}
        </select>
      </div>
      {preset && <p className="notice">{t("Register a client at the provider first.")} {t(preset.where)} {/[A-Z]{4}/.test(preset.issuer) && t("Replace the capitals in the issuer.")}</p>}
      <RedirectURI />
    </div>
  );
}

/** ProviderUse shows what remains to be done for a stored provider. */
export function ProviderUse({ handle }: { handle: string }) {
  return (
    <>
      <RedirectURI />
      <p className="quiet">{t("To offer this provider at a sign-in, add a node of the kind federated-oidc with the provider {handle} to a flow.", { handle })}</p>
    </>
  );
}

/** RedirectURI shows where providers send users back. */
function RedirectURI() {
  const uri = `${serverURL}/gate/callback`;
  return <p className="actions">{t("Redirect URI to register at the provider")} <code>{uri}</code> <CopyButton text={uri} /></p>;
}
