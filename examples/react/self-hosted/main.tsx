import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ThunderIDProvider } from "@thunderid/react";
import { App } from "./App";
import { applicationId, baseUrl } from "./postern";

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <ThunderIDProvider
      baseUrl={baseUrl}
      applicationId={applicationId}
      afterSignInUrl={window.location.origin}
    >
      <App />
    </ThunderIDProvider>
  </StrictMode>,
);
