import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ThunderIDProvider } from "@thunderid/react";
import { App } from "./App";
import { baseUrl, clientId, postLogoutUri, redirectUri, scopes } from "./postern";

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <ThunderIDProvider
      baseUrl={baseUrl}
      clientId={clientId}
      scopes={scopes}
      afterSignInUrl={redirectUri}
      afterSignOutUrl={postLogoutUri}
      tokenLifecycle={{ refreshToken: { autoRefresh: true } }}
    >
      <App />
    </ThunderIDProvider>
  </StrictMode>,
);
