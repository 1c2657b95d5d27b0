import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { I18nProvider } from "react-aria-components";
import { App } from "./App";
import { Mark } from "./parts/Icon";
import "./styles/index.css";
import { signIn, SignInError, startSignIn } from "./session";
import { language, t } from "./texts";
import { explain, Page } from "./ui";

document.documentElement.lang = language;
const root = document.getElementById("root");
if (root === null) {
  throw new Error("the page has no element #root");
}

signIn().then(
  () => createRoot(root).render(<StrictMode><I18nProvider locale={language}><App /></I18nProvider></StrictMode>),
  (error: unknown) => createRoot(root).render(<SignInFailed error={error} />),
);

/** SignInFailed is the whole page if there is no session to show anything else. */
function SignInFailed({ error }: { error: unknown }) {
  return (
    <main>
      <Mark />
      <Page title={t("The sign-in failed")}>
        <div role="alert" className="notice bad"><p>{error instanceof SignInError ? error.message : explain(error)}</p></div>
        <button className="primary" onClick={() => void startSignIn()}>{t("Sign in")}</button>
      </Page>
    </main>
  );
}
