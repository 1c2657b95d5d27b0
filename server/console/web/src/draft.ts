// What the user has entered on a page, kept while they sign in again in this tab.

const prefix = "postern.console.draft:";

/** keepDraft stores the value of the page until it is taken. */
export function keepDraft(value: unknown): void {
  sessionStorage.setItem(prefix + location.pathname, JSON.stringify(value));
}

/** takeDraft returns the value of the page once; undefined if there is none. */
export function takeDraft(): unknown {
  const key = prefix + location.pathname;
  const text = sessionStorage.getItem(key);
  sessionStorage.removeItem(key);
  return text === null ? undefined : JSON.parse(text);
}
