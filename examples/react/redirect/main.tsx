import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ThunderIDProvider } from "@thunderid/react";
import { App } from "./App";
import { baseUrl, clientId, scopes } from "./postern";

// afterSignInUrl is the redirect URI, and must be registered with the application
// to the letter.
createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <ThunderIDProvider
      baseUrl={baseUrl}
      clientId={clientId}
      scopes={scopes}
      afterSignInUrl={window.location.origin}
      afterSignOutUrl={window.location.origin}
      tokenLifecycle={{ refreshToken: { autoRefresh: true } }}
    >
      <App />
    </ThunderIDProvider>
  </StrictMode>,
);
