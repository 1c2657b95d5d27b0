import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { I18nProvider } from "react-aria-components";
import { App } from "./App";
import "./console.css";
import { signIn, SignInError, startSignIn } from "./session";
import { language, t } from "./texts";

document.documentElement.lang = language;
const root = document.getElementById("root");
if (root === null) {
  throw new Error("the page has no element #root");
}

signIn().then(
  () => createRoot(root).render(<StrictMode><I18nProvider locale={language}><App /></I18nProvider></StrictMode>),
  (error: unknown) => {
    const text = document.createElement("p");
    text.setAttribute("role", "alert");
    text.textContent = `${t("The sign-in failed")}: ${error instanceof SignInError ? error.message : String(error)}`;
    const again = document.createElement("button");
    again.textContent = t("Sign in");
    again.addEventListener("click", () => void startSignIn());
    root.replaceChildren(text, again);
  },
);
