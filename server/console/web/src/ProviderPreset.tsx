// What identity providers need from an administrator: presets of known ones, and the redirect URI to
// register there.
import { useId, useState } from "react";
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
}

const presets: Preset[] = [
  { name: "Auth0", handle: "auth0", issuer: "https://DOMAIN.auth0.com/", where: "Auth0 dashboard: Applications, Create Application, Regular Web Application. The redirect URI belongs to Allowed Callback URLs." },
  { name: "GitLab", handle: "gitlab", issuer: "https://gitlab.com", where: "GitLab: Preferences, Applications, Add new application, with the scopes openid, profile and email. For your own server, replace the issuer by its address." },
  { name: "Google", handle: "google", issuer: "https://accounts.google.com", where: "Google Cloud console: Google Auth Platform, Clients, Create client, type Web application. The redirect URI belongs to Authorized redirect URIs." },
  { name: "Keycloak", handle: "keycloak", issuer: "https://HOST/realms/REALM", where: "Keycloak admin console: Clients, Create client, type OpenID Connect, with Client authentication. The redirect URI belongs to Valid redirect URIs, the secret is under Credentials." },
  { name: "Microsoft", handle: "microsoft", issuer: "https://login.microsoftonline.com/TENANT-ID/v2.0", where: "Microsoft Entra admin center: App registrations, New registration, redirect URI of the platform Web. The secret is under Certificates & secrets, the tenant id on the overview." },
  { name: "Okta", handle: "okta", issuer: "https://DOMAIN.okta.com", where: "Okta admin console: Applications, Create App Integration, OIDC, Web Application. The redirect URI belongs to Sign-in redirect URIs." },
  { name: "Postern", handle: "postern", issuer: "https://HOST", where: "Console of the other server: Applications, Create, web application with a server." },
];

/** ProviderPreset fills the form of a new provider. */
export function ProviderPreset({ value, onChange }: { value: Value; onChange: (value: Value) => void }) {
  const id = useId();
  const [name, setName] = useState("");
  const preset = presets.find((one) => one.name === name);
  const choose = (chosen: string) => {
    setName(chosen);
    const found = presets.find((one) => one.name === chosen);
    if (found) {
      onChange({ ...value, name: found.name, handle: found.handle, issuer: found.issuer, scopes: ["openid", "profile", "email"] });
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
