// What the user has entered on a page, kept while they sign in again in this tab, and for some pages until they return.
import { useEffect, useRef } from "react";

const prefix = "postern.console.draft:";

const entered: { value?: () => unknown } = {};

let isLeaving = false; // for the sign-in: what keepDraft stored is not replaced

addEventListener("pageshow", () => {
  isLeaving = false;
});

let isSignedOut = false; // nothing is kept for the next user of the tab

/** here is the address of the page. All tabs of a page have the same draft. */
const here = () => location.pathname + location.search.replace(/[?&]tab=[^&]*/, "");

/** useDraft names what is lost when the user leaves the page, or how to find it; undefined if nothing is. */
export function useDraft(value: unknown): void {
  useEffect(() => {
    entered.value = () => (typeof value === "function" ? (value as () => unknown)() : value);
    return () => {
      delete entered.value;
    };
  });
}

/** useLastingDraft is useDraft, and keeps a value when the user reloads the page or leaves it in any way, until the page is shown again in this tab: lasting, which must not have secrets. The function that it returns forgets the value: it is stored elsewhere. */
export function useLastingDraft(value: () => unknown, lasting = value): () => void {
  useDraft(value);
  const latest = useRef<(() => unknown) | undefined>(lasting);
  useEffect(() => {
    latest.current &&= lasting;
  });
  const page = useRef(here());
  const forget = () => {
    latest.current = undefined;
    sessionStorage.removeItem(prefix + page.current);
  };
  useEffect(() => {
    const keep = () => {
      if (latest.current && !isLeaving) {
        store(page.current, latest.current());
      }
    };
    addEventListener("pagehide", keep);
    return () => {
      removeEventListener("pagehide", keep);
      keep();
    };
  }, []);
  return forget;
}

function store(page: string, value: unknown): void {
  if (value === undefined || isSignedOut) {
    sessionStorage.removeItem(prefix + page);
    return;
  }
  sessionStorage.setItem(prefix + page, JSON.stringify(value));
}

/** keepDraft stores what useDraft names until it is taken. It reports whether the page then repeats a refused change by itself: such a draft has the member repeats. */
export function keepDraft(): boolean {
  const value = entered.value?.();
  if (value !== undefined) {
    store(here(), value);
    isLeaving = true;
  }
  return typeof value === "object" && value !== null && "repeats" in value;
}

/** carried are the values that pages take which the console shows without loading itself again, by their addresses. */
const carried = new Map<string, () => unknown>();

/** carryDraft keeps a value for a page, such as "new", next to the current one, or for the current page when it is shown again. It is read when that page takes it: nothing that is typed until then is lost. */
export function carryDraft(page: string, value: () => unknown): void {
  const { pathname, search } = new URL(page, location.href);
  carried.set(pathname + search, value);
}

/** takeDraft returns the value of the page once; undefined if there is none. */
export function takeDraft(): unknown {
  const value = carried.get(here())?.();
  carried.delete(here());
  const key = prefix + here();
  const text = sessionStorage.getItem(key);
  sessionStorage.removeItem(key);
  return value ?? (text === null ? undefined : JSON.parse(text));
}

/** dropAllDrafts removes those of all pages, so that the next user of the tab does not find them. */
export function dropAllDrafts(): void {
  isSignedOut = true;
  carried.clear();
  for (const key of Object.keys(sessionStorage).filter((one) => one.startsWith(prefix))) {
    sessionStorage.removeItem(key);
  }
}
