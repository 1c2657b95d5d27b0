// What the user has entered on a page, kept while they sign in again in this tab.
import { useEffect } from "react";

const prefix = "postern.console.draft:";

const entered: { value?: () => unknown } = {};

/** useDraft names what is lost when the user leaves the page, or how to find it; undefined if nothing is. */
export function useDraft(value: unknown): void {
  useEffect(() => {
    entered.value = () => (typeof value === "function" ? (value as () => unknown)() : value);
    return () => {
      delete entered.value;
    };
  });
}

/** keepDraft stores what useDraft names until it is taken. It reports whether the page then repeats a refused change by itself: such a draft has the member repeats. */
export function keepDraft(): boolean {
  const value = entered.value?.();
  if (value !== undefined) {
    sessionStorage.setItem(prefix + location.pathname, JSON.stringify(value));
  }
  return typeof value === "object" && value !== null && "repeats" in value;
}

/** carried are the values that pages take which the console shows without loading itself again, by their paths. */
const carried = new Map<string, () => unknown>();

/** carryDraft keeps a value for a page, such as "new", next to the current one, or for the current page when it is shown again. It is read when that page takes it: nothing that is typed until then is lost. */
export function carryDraft(page: string, value: () => unknown): void {
  carried.set(new URL(page, location.href).pathname, value);
}

/** takeDraft returns the value of the page once; undefined if there is none. */
export function takeDraft(): unknown {
  const value = carried.get(location.pathname)?.();
  carried.delete(location.pathname);
  const key = prefix + location.pathname;
  const text = sessionStorage.getItem(key);
  sessionStorage.removeItem(key);
  return value ?? (text === null ? undefined : JSON.parse(text));
}
