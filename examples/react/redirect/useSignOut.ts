import { useThunderID } from "@thunderid/react";
import { baseUrl, clientId, postLogoutUri } from "./postern";

/**
 * Returns a function that signs out of the app and of Postern, and returns to the app
 * (OpenID Connect RP-Initiated Logout).
 *
 * The SDK's own signOut, and its SignOutButton, end only the app's session and
 * request a new one at once, which Postern grants silently while its own
 * session lasts: users could not sign out.
 */
export function useSignOut(): () => Promise<void> {
  const { getIdToken, clearSession } = useThunderID();
  return async () => {
    const idToken = await getIdToken();
    await clearSession();
    window.location.assign(`${baseUrl}/oauth2/logout?` + new URLSearchParams({
      id_token_hint: idToken,
      client_id: clientId,
      post_logout_redirect_uri: postLogoutUri,
    }));
  };
}
