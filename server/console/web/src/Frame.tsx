// The frame of all pages: the sidebar, which is a drawer in narrow windows, and what keys do everywhere.
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { Button, RouterProvider } from "react-aria-components";
import { Link, NavLink, Outlet, useHref, useLocation, useNavigate } from "react-router";
import { AccountLink, NoPermissions } from "./Account";
import { send } from "./api";
import { keepFocus } from "./focus";
import { nouns } from "./nouns";
import { type Destination, groups } from "./pages";
import { Icon, Mark } from "./parts/Icon";
import { Keys } from "./parts/Keys";
import { remember } from "./recent";
import { isApple } from "./SaveBar";
import { dropAction, hasPermissions, hasUnfinishedChange, signOut } from "./session";
import { type Overlay, useShortcuts } from "./shortcuts";
import { language, t } from "./texts";
import { Loading } from "./ui";

const Palette = lazy(() => import("./Palette"));
const Sheet = lazy(() => import("./ShortcutSheet"));

const folded = "postern.console.sidebar"; // in the storage of the browser: a choice, no data

export function Frame() {
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const [isOpen, setIsOpen] = useState(false); // the drawer of narrow windows
  const [isFolded, setFolded] = useState(() => localStorage.getItem(folded) === "folded");
  const [overlay, setOverlay] = useState<Overlay>("");
  const content = useRef<HTMLElement>(null);
  const menu = useRef<HTMLButtonElement>(null);
  const closeMenu = ({ key }: { key: string }) => {
    if (key === "Escape" && isOpen) {
      menu.current?.focus();
      setIsOpen(false);
    }
  };
  const fold = () => {
    localStorage.setItem(folded, isFolded ? "" : "folded");
    setFolded(!isFolded);
  };
  useShortcuts({ show: setOverlay, fold, go: (to) => void navigate(to), pathname });
  const shown = useRef(pathname);
  useEffect(() => {
    setIsOpen(false);
    if (shown.current !== pathname) {
      dropAction();
    }
    // A screen reader reads the title of the new page, and Tab goes on in it.
    if (shown.current !== pathname && !content.current?.contains(document.activeElement)) {
      content.current?.focus({ preventScroll: true });
    }
    shown.current = pathname;
    const [, kind = "", id = ""] = pathname.split("/");
    if (id && id !== "new" && nouns.some(({ path }) => path === `/${kind}`)) {
      remember(`/${kind}`, id);
    }
  }, [pathname]);
  useEffect(() => (content.current ? keepFocus(content.current) : undefined), []);
  const isUsable = hasPermissions();
  const find = t("Search or jump to");
  return (
    <RouterProvider navigate={(to) => void navigate(to)} useHref={useHref}>
      <a className="skip" href="#content" onClick={(event) => { event.preventDefault(); document.getElementById("content")?.focus(); }}>{t("Skip to content")}</a>
      <div className={isFolded ? "frame collapsed" : "frame"}>
        <header onKeyDown={closeMenu}>
          <div className="bar">
            <Button ref={menu} className="menu bare icon-only" aria-expanded={isOpen} aria-controls="side" aria-label={t("Menu")} onPress={() => setIsOpen(!isOpen)}><Icon name="menu" /></Button>
            <Brand />
            {isUsable && <Button className="bare icon-only" aria-label={find} onPress={() => setOverlay("palette")}><Icon name="search" /></Button>}
          </div>
          {isOpen && <div className="curtain" onClick={() => setIsOpen(false)} />}
          <div id="side" className={isOpen ? "side open" : "side"}>
            <div className="row top">
              <Brand />
              <Button className="fold bare small-button icon-only" aria-label={isFolded ? t("Expand the sidebar") : t("Collapse the sidebar")} aria-pressed={isFolded} onPress={fold}><Icon name="panel-left" /></Button>
            </div>
            {isUsable && <Button className="find" aria-label={find} aria-keyshortcuts={isApple ? "Meta+K" : "Control+K"} onPress={() => setOverlay("palette")}><Icon name="search" /><span>{find}</span><Keys text={isApple ? "⌘K" : "Ctrl K"} /></Button>}
            {isUsable && <Navigation />}
            <div className="account">
              <AccountLink />
              {isUsable && <Button className="bare small-button icon-only" aria-label={t("Keyboard shortcuts")} onPress={() => setOverlay("shortcuts")}><Icon name="keyboard" /></Button>}
              <Button className="bare small-button icon-only" aria-label={t("Sign out")} onPress={signOut}><Icon name="log-out" /></Button>
            </div>
          </div>
        </header>
        <main id="content" ref={content} tabIndex={-1} aria-labelledby="page-title">
          <Unfinished />
          {isUsable ? <Suspense fallback={<Loading />}><Outlet /></Suspense> : <NoPermissions />}
        </main>
      </div>
      {overlay && (
        <Suspense fallback={null}>
          {overlay === "palette" ? <Palette onClose={() => setOverlay("")} onShow={setOverlay} onFold={fold} /> : <Sheet onClose={() => setOverlay("")} />}
        </Suspense>
      )}
    </RouterProvider>
  );
}

function Brand() {
  return <Link className="brand" to="/" aria-label="Console"><Mark /><span>Console</span></Link>;
}

function Navigation() {
  return (
    <nav id="menu" aria-label={t("Main")}>
      {groups().map(({ title, pages }) => (
        <div key={title}>
          {title && <p className="group" id={`group-${title}`}><span>{t(title)}</span></p>}
          <ul {...(title && { "aria-labelledby": `group-${title}` })}>{pages.map((page) => <li key={page.path}><Entry page={page} /></li>)}</ul>
        </div>
      ))}
    </nav>
  );
}

/** counted are the pages whose number of resources is shown. */
const counted = ["/applications", "/flows", "/users"];

function Entry({ page: { path, title, icon } }: { page: Destination }) {
  const count = useQuery({
    queryKey: [path, "count"], enabled: counted.includes(path), staleTime: 60_000, retry: false,
    queryFn: async () => ((await send("GET", `${path}?limit=1`)).data as { totalResults: number }).totalResults,
  });
  const number = count.data?.toLocaleString(language, { notation: "compact" });
  return (
    <NavLink to={path} end={path === "/"} title={t(title)}>
      <Icon name={icon} /><span>{t(title)}</span>{number !== undefined && <span className="total" aria-hidden="true" data-text={number} />}
    </NavLink>
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
