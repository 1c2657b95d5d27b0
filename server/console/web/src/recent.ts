// What was opened last in this tab. Only addresses are kept: the names are read again, with the permissions
// that the user has then.
const key = "postern.console.recent";

/** most limits what is kept. */
const most = 8;

/** Recent is a resource that was opened. */
export interface Recent {
  path: string; // of its kind
  id: string;
}

/** recent returns the resources, the newest first. */
export function recent(): Recent[] {
  return JSON.parse(sessionStorage.getItem(key) ?? "[]") as Recent[];
}

/** remember puts a resource first. */
export function remember(path: string, id: string): void {
  const others = recent().filter((one) => one.path !== path || one.id !== id);
  sessionStorage.setItem(key, JSON.stringify([{ path, id }, ...others].slice(0, most)));
}

/** forgetRecent drops all, so that the next user of the tab does not find them. */
export function forgetRecent(): void {
  sessionStorage.removeItem(key);
}
