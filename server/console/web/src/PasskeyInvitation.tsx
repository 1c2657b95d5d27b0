// Leads an administrator without a passkey to one: a password alone should not manage the service.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "react-aria-components";
import { useAction } from "./action";
import { api, must } from "./api";
import { t } from "./texts";
import { Failed } from "./ui";

export function PasskeyInvitation() {
  const cache = useQueryClient();
  const keys = useQuery({ queryKey: ["own passkeys"], queryFn: async () => must(await api.GET("/users/me/passkeys", { params: { query: { limit: 1 } } })) });
  const [state, setState] = useState<{ busy?: boolean; done?: boolean; later?: boolean; error?: unknown }>({});
  const add = useAction("add passkey", async () => {
    setState({ busy: true });
    await register();
    setState({ done: true });
    await cache.invalidateQueries({ queryKey: ["audit"] });
  }, (error) => setState({ error }));
  if (!keys.data || state.later || (keys.data.totalResults > 0 && !state.done)) {
    return null;
  }
  if (state.done) {
    return <p role="status" className="notice">{t("Your passkey is set up. Use it to sign in from now on.")}</p>;
  }
  return (
    <section className="notice" aria-labelledby="add-passkey">
      <h2 id="add-passkey">{t("Protect your account with a passkey")}</h2>
      <p>{t("You signed in with a password, which others can guess or phish. With a passkey, sensitive changes are only possible shortly after you have used it.")}</p>
      {Boolean(state.error) && <Failed error={state.error} />}
      <div className="actions">
        <Button className="primary" isDisabled={state.busy ?? false} onPress={() => void add(undefined)}>{t("Add a passkey")}</Button>
        <Button onPress={() => setState({ later: true })}>{t("Later")}</Button>
      </div>
    </section>
  );
}

/** register creates a passkey for the signed-in user. */
async function register(): Promise<void> {
  const me = must(await api.GET("/users/me"));
  const started = must(await api.POST("/register/passkey/start", { body: { userId: me.id as string, authenticatorSelection: { residentKey: "required", userVerification: "preferred" } } }));
  const options = PublicKeyCredential.parseCreationOptionsFromJSON(started.publicKeyCredentialCreationOptions as unknown as PublicKeyCredentialCreationOptionsJSON);
  const key = (await navigator.credentials.create({ publicKey: options })) as PublicKeyCredential;
  must(await api.POST("/register/passkey/finish", { body: { publicKeyCredential: key.toJSON(), sessionToken: started.sessionToken } }));
}
