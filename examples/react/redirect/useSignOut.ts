import { useThunderID } from "@thunderid/react";
import { baseUrl, clientId } from "./postern";

/**
 * Returns what signs out of the app and of Postern, and comes back to the app
 * (OpenID Connect RP-Initiated Logout).
 *
 * The SDK's own signOut, and its SignOutButton, end the app's session alone and
 * ask for a new one at once, which Postern grants without a word while its own
 * session lasts: people would find that they cannot sign out.
 */
export function useSignOut(): () => Promise<void> {
  const { getIdToken, clearSession } = useThunderID();
  return async () => {
    const idToken = await getIdToken();
    await clearSession();
    window.location.assign(`${baseUrl}/oauth2/logout?` + new URLSearchParams({
      id_token_hint: idToken,
      client_id: clientId,
      post_logout_redirect_uri: window.location.origin,
    }));
  };
}
