import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { Button, RouterProvider } from "react-aria-components";
import { BrowserRouter, Link, NavLink, Outlet, Route, Routes, useHref, useLocation, useNavigate } from "react-router";
import { AccountLink, NoPermissions } from "./Account";
import { RequestError } from "./api";
import { AuditPage } from "./AuditPage";
import { ConfigurationPage } from "./ConfigurationPage";
import { keepFocus } from "./focus";
import { ItemPage } from "./ItemPage";
import { KeysPage } from "./KeysPage";
import { ListPage } from "./ListPage";
import { NewApplication } from "./NewApplication";
import { mayChange, type Noun, nouns, permission } from "./nouns";
import { Overview } from "./Overview";
import { hasPermissions, hasUnfinishedChange, may, serverURL, signOut } from "./session";
import { t } from "./texts";
import { Lacking, Loading, Page } from "./ui";

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
    <Page title={t(noun.creation)}>
      <p className="quiet"><Link to={noun.path}>← {t(noun.title)}</Link></p>
      <Lacking permission={permission(noun, "write")} />
    </Page>
  );
}

/** destinations returns the pages that the permissions of the signed-in user allow. */
function destinations(): { path: string; title: string }[] {
  return [
    { path: "/", title: "Overview" },
    ...nouns.filter((noun) => may(permission(noun, "read"))),
    ...(may("system:audit:read") ? [{ path: "/audit", title: "Audit log" }] : []),
    ...(may("system") ? [{ path: "/signing-keys", title: "Signing keys" }, { path: "/configuration", title: "Configuration" }] : []),
  ];
}

function Shell() {
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const [isOpen, setIsOpen] = useState(false); // the menu of narrow windows
  const content = useRef<HTMLElement>(null);
  const menu = useRef<HTMLButtonElement>(null);
  const closeMenu = ({ key }: { key: string }) => {
    if (key === "Escape" && isOpen) {
      menu.current?.focus();
      setIsOpen(false);
    }
  };
  const shown = useRef(pathname);
  useEffect(() => {
    setIsOpen(false);
    // A screen reader reads the title of the new page, and Tab goes on in it.
    if (shown.current !== pathname && !content.current?.contains(document.activeElement)) {
      content.current?.focus({ preventScroll: true });
    }
    shown.current = pathname;
  }, [pathname]);
  useEffect(() => (content.current ? keepFocus(content.current) : undefined), []);
  return (
    <RouterProvider navigate={(to) => void navigate(to)} useHref={useHref}>
      <a className="skip" href="#content" onClick={(event) => { event.preventDefault(); document.getElementById("content")?.focus(); }}>{t("Skip to content")}</a>
      <header onKeyDown={closeMenu}>
        {hasPermissions() && <Button ref={menu} className="menu" aria-expanded={isOpen} aria-controls="menu" onPress={() => setIsOpen(!isOpen)}>{t("Menu")}</Button>}
        <strong>Console</strong>
        <AccountLink />
        <Button onPress={signOut}>{t("Sign out")}</Button>
      </header>
      <div className="columns">
        {hasPermissions() && (
          <nav id="menu" className={isOpen ? "open" : ""} aria-label={t("Main")} onKeyDown={closeMenu}>
            <ul>{destinations().map(({ path, title }) => <li key={path}><NavLink to={path} end={path === "/"}>{t(title)}</NavLink></li>)}</ul>
          </nav>
        )}
        <main id="content" ref={content} tabIndex={-1} aria-labelledby="page-title">
          <Unfinished />
          {hasPermissions() ? <Suspense fallback={<Loading />}><Outlet /></Suspense> : <NoPermissions />}
        </main>
      </div>
    </RouterProvider>
  );
}

/** Unfinished reminds a user who signed in for a change to repeat it, until the next press. A screen reader reads a text that appears, but not one that a new page has. */
function Unfinished() {
  const [isShown, setIsShown] = useState(false);
  useEffect(() => {
    if (!hasUnfinishedChange()) {
      return;
    }
    const appearance = setTimeout(() => setIsShown(true), 500);
    const hide = () => setIsShown(false);
    addEventListener("click", hide, { once: true });
    return () => {
      clearTimeout(appearance);
      removeEventListener("click", hide);
    };
  }, []);
  return <div role="status">{isShown && <p className="notice">{t("You are signed in. Press the button again to make the change.")}</p>}</div>;
}
