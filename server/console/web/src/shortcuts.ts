// What keys do on every page. Those of a single key can be switched off (WCAG 2.2, 2.1.4), and do nothing
// while a text is entered.
import { useEffect, useRef } from "react";
import { creationPath, mayChange, nouns } from "./nouns";
import { destinations } from "./pages";
import { hasPermissions } from "./session";

/** Overlay is what lies over the page. */
export type Overlay = "" | "palette" | "shortcuts";

const key = "postern.console.keys"; // in the storage of the browser: a choice, no data

/** hasSingleKeys reports whether single keys do something. */
export const hasSingleKeys = (): boolean => localStorage.getItem(key) !== "off";

export const setSingleKeys = (on: boolean): void => localStorage.setItem(key, on ? "" : "off");

/** pause is how long the second key of two may take, in milliseconds. */
const pause = 1500;

interface Actions {
  show: (overlay: Overlay) => void;
  fold: () => void;
  go: (path: string) => void;
  pathname: string;
}

const isTyping = (target: EventTarget | null) => target instanceof Element && target.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable=true], [role=textbox], [role=dialog], [role=alertdialog], [role=menu], [role=listbox], .graph") !== null;

export function useShortcuts(actions: Actions): void {
  const newest = useRef(actions);
  newest.current = actions;
  useEffect(() => {
    let leader = 0; // when g was pressed
    const press = (event: KeyboardEvent) => {
      const { show, fold, go, pathname } = newest.current;
      if (!hasPermissions() || event.defaultPrevented || event.altKey) {
        return;
      }
      if (event.metaKey || event.ctrlKey) {
        if (event.key.toLowerCase() === "k" && !event.shiftKey && !document.querySelector("[role=alertdialog]")) {
          event.preventDefault();
          show("palette");
        }
        return;
      }
      if (isTyping(event.target) || !hasSingleKeys() || event.repeat) {
        return;
      }
      const isSecond = event.timeStamp - leader < pause;
      leader = 0;
      const page = isSecond ? destinations().find((one) => one.key === event.key) : undefined;
      const noun = nouns.find(({ path }) => path === pathname);
      if (page) {
        go(page.path);
      } else if (event.key === "g") {
        leader = event.timeStamp;
      } else if (event.key === "?") {
        show("shortcuts");
      } else if (event.key === "[") {
        fold();
      } else if (event.key === "c" && noun && mayChange(noun.path)) {
        go(creationPath(noun));
      } else {
        return;
      }
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}
