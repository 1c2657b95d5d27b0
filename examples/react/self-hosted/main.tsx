import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ThunderIDProvider } from "@thunderid/react";
import { App } from "./App";
import { applicationId, baseUrl } from "./postern";

// signInUrl is where the SDK's sign-out leads. Without it the SDK would send
// people to Postern's own page.
createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <ThunderIDProvider
      baseUrl={baseUrl}
      applicationId={applicationId}
      afterSignInUrl={window.location.origin}
      signInUrl={window.location.origin}
    >
      <App />
    </ThunderIDProvider>
  </StrictMode>,
);
