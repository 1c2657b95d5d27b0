import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { Button, RouterProvider } from "react-aria-components";
import { BrowserRouter, NavLink, Outlet, Route, Routes, useHref, useNavigate } from "react-router";
import { RequestError } from "./api";
import { AuditPage } from "./AuditPage";
import { ConfigurationPage } from "./ConfigurationPage";
import { ItemPage } from "./ItemPage";
import { KeysPage } from "./KeysPage";
import { ListPage } from "./ListPage";
import { NewApplication } from "./NewApplication";
import { nouns } from "./nouns";
import { Overview } from "./Overview";
import { serverURL, signOut } from "./session";
import { t } from "./texts";
import { Loading, Page } from "./ui";

// The editor and the graph are as large as the rest of the console, and only flows need them.
const FlowPage = lazy(() => import("./flows/FlowPage"));

const queries = new QueryClient({
  defaultOptions: { queries: { retry: (count, error) => count < 2 && !(error instanceof RequestError && error.status < 500) } },
});

const basename = `${new URL(serverURL).pathname.replace(/\/$/, "")}/console`;

export function App() {
  return (
    <QueryClientProvider client={queries}>
      <BrowserRouter basename={basename}>
        <Routes>
          <Route element={<Shell />}>
            <Route index element={<Overview />} />
            {nouns.map((noun) => (
              <Route key={noun.path} path={noun.path}>
                <Route index element={<ListPage key={noun.path} noun={noun} />} />
                {noun.path === "/applications" && <Route path="new/template" element={<NewApplication />} />}
                {["new", ":id"].map((path) => <Route key={path} path={path} element={noun.path === "/flows" ? <FlowPage /> : <ItemPage key={noun.path + path} noun={noun} />} />)}
              </Route>
            ))}
            <Route path="/audit" element={<AuditPage />} />
            <Route path="/signing-keys" element={<KeysPage />} />
            <Route path="/configuration" element={<ConfigurationPage />} />
            <Route path="*" element={<Page title={t("There is no such page.")}><p /></Page>} />
          </Route>
        </Routes>
      </BrowserRouter>
    </QueryClientProvider>
  );
}

function Shell() {
  const navigate = useNavigate();
  return (
    <RouterProvider navigate={(to) => void navigate(to)} useHref={useHref}>
      <a className="skip" href="#content" onClick={(event) => { event.preventDefault(); document.getElementById("content")?.focus(); }}>{t("Skip to content")}</a>
      <header>
        <strong>Console</strong>
        <Button onPress={signOut}>{t("Sign out")}</Button>
      </header>
      <div className="columns">
        <nav aria-label={t("Main")}>
          <ul>
            <li><NavLink to="/" end>{t("Overview")}</NavLink></li>
            {nouns.map((noun) => <li key={noun.path}><NavLink to={noun.path}>{t(noun.title)}</NavLink></li>)}
            <li><NavLink to="/audit">{t("Audit log")}</NavLink></li>
            <li><NavLink to="/signing-keys">{t("Signing keys")}</NavLink></li>
            <li><NavLink to="/configuration">{t("Configuration")}</NavLink></li>
          </ul>
        </nav>
        <main id="content" tabIndex={-1}>
          <Suspense fallback={<Loading />}><Outlet /></Suspense>
        </main>
      </div>
    </RouterProvider>
  );
}
