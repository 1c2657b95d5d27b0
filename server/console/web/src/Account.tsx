// Who is signed in, and what a user without permissions sees.
import { useQuery } from "@tanstack/react-query";
import { Button } from "react-aria-components";
import { api, must } from "./api";
import { Avatar } from "./parts/Avatar";
import { accountURL, signOut } from "./session";
import { t } from "./texts";
import { Page } from "./ui";

/** useName returns the name or username of the signed-in user; "" while it is unknown. The request needs no permission. */
function useName(): string {
  const read = useQuery({ queryKey: ["signed-in user"], staleTime: Infinity, queryFn: async () => must(await api.GET("/oauth2/userinfo")) });
  const { name, preferred_username: username } = read.data ?? {};
  return String(name ?? username ?? "");
}

/** AccountLink names the signed-in user, and leads to the page of the account. */
export function AccountLink() {
  const name = useName();
  return <a className="signed-in" href={accountURL} aria-label={name ? t("Your account: {name}", { name }) : t("Your account")}><Avatar name={name} /><span title={name}>{name || t("Your account")}</span></a>;
}

/** NoPermissions is the only page of a user without a permission. */
export function NoPermissions() {
  const name = useName();
  return (
    <Page title={t("Your account has no permissions here")}>
      {name && <p>{t("You are signed in as {name}.", { name })}</p>}
      <p>{t("The console is for administrators. Ask an administrator for a role, and sign in again afterwards.")}</p>
      <div className="actions">
        <a className="button primary" href={accountURL}>{t("Your account")}</a>
        <Button onPress={signOut}>{t("Sign out")}</Button>
      </div>
    </Page>
  );
}
