// The configuration that is in effect, with the source of each value. Secrets are not shown.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Input, Label, SearchField, Switch } from "react-aria-components";
import { api, isForbidden, must } from "./api";
import { t } from "./texts";
import { Failed, Loading, Page } from "./ui";

export function ConfigurationPage() {
  const [wanted, setWanted] = useState("");
  const [isOnlySet, setOnlySet] = useState(false);
  const read = useQuery({ queryKey: ["configuration"], queryFn: async () => must(await api.GET("/configuration")) });
  const word = wanted.trim().toLowerCase();
  const shown = read.data?.settings.filter((s) => (!isOnlySet || s.source !== "default") && (s.key + " " + s.variable + " " + s.description).toLowerCase().includes(word)) ?? [];
  return (
    <Page title={t("Configuration")}>
      <p className="quiet">{t("These values are in effect on the server that answered. Change them in the configuration file or the environment, and restart the server.")}</p>
      {!isForbidden(read.error) && <div className="filter" role="search">
        <SearchField value={wanted} onChange={setWanted}><Label>{t("Find a setting")}</Label><Input /></SearchField>
        <Switch isSelected={isOnlySet} onChange={setOnlySet}><div className="switch" aria-hidden="true" />{t("Only what is configured")}</Switch>
      </div>}
      {read.isPending && <Loading />}
      {read.error && <Failed error={read.error} retry={() => void read.refetch()} />}
      {read.data && (shown.length === 0 ? <p className="quiet">{t("Nothing matches the filter.")}</p> : (
        <div className="scroll" role="region" aria-label={t("Configuration")} tabIndex={0}>
          <table className="stacked" aria-label={t("Configuration")}>
            <thead><tr>{["Setting", "Value", "Source"].map((name) => <th key={name} scope="col">{t(name)}</th>)}</tr></thead>
            <tbody>
              {shown.map((s) => (
                <tr key={s.key}>
                  <td><details><summary><code>{s.key}</code></summary><p>{s.description}</p><p className="quiet"><code>{s.variable}</code></p></details></td>
                  <td data-label={t("Value")}><code>{s.value === null || s.value === undefined ? "—" : typeof s.value === "object" ? JSON.stringify(s.value) : String(s.value)}</code></td>
                  <td data-label={t("Source")}>{t(s.source)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ))}
    </Page>
  );
}
