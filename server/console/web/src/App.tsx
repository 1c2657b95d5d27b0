// The pages of the console and their addresses.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { lazy } from "react";
import { BrowserRouter, Link, Outlet, Route, Routes } from "react-router";
import { RequestError } from "./api";
import { AuditPage } from "./AuditPage";
import { ConfigurationPage } from "./ConfigurationPage";
import { Frame } from "./Frame";
import { ItemPage } from "./ItemPage";
import { KeysPage } from "./KeysPage";
import { ListPage } from "./ListPage";
import { NewApplication } from "./NewApplication";
import { mayChange, type Noun, nouns, permission } from "./nouns";
import { Overview } from "./Overview";
import { serverURL } from "./session";
import { t } from "./texts";
import { Lacking, Page } from "./ui";

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
          <Route element={<Frame />}>
            <Route index element={<Overview />} />
            {nouns.map((noun) => (
              <Route key={noun.path} path={noun.path}>
                <Route index element={<ListPage key={noun.path} noun={noun} />} />
                <Route path="new" element={<Creation noun={noun} />}>
                  {noun.path === "/applications" && <Route path="template" element={<NewApplication />} />}
                  <Route index element={itemPage(noun, "new")} />
                </Route>
                <Route path=":id" element={itemPage(noun, "one")} />
              </Route>
            ))}
            <Route path="/audit" element={<AuditPage />} />
            <Route path="/signing-keys" element={<KeysPage />} />
            <Route path="/configuration" element={<ConfigurationPage />} />
            <Route path="*" element={<Page title={t("There is no such page.")}><p><Link to="/">← {t("Overview")}</Link></p></Page>} />
          </Route>
        </Routes>
      </BrowserRouter>
    </QueryClientProvider>
  );
}

const itemPage = (noun: Noun, key: string) => (noun.path === "/flows" ? <FlowPage /> : <ItemPage key={noun.path + key} noun={noun} />);

/** Creation shows the pages that create a resource to a user who may do so. */
function Creation({ noun }: { noun: Noun }) {
  if (mayChange(noun.path)) {
    return <Outlet />;
  }
  return (
    <Page title={t(noun.creation)} crumbs={[{ to: noun.path, title: t(noun.title) }]}>
      <Lacking permission={permission(noun, "write")} />
    </Page>
  );
}
