// The scenario files of this tab by the flows that own them. They outlive what the page does with the
// flow: creating, publishing, restoring and signing in again.

const prefix = "postern.console.scenarios:";

/** Scenarios are a scenario file, and how the runs of the simulator begin. */
export interface Scenarios {
  file: string;
  start: string;
}

const all = new Map<string, Scenarios>();

/** scenariosOf returns what is kept for the owner: the id of a flow, or a name for one that is not created yet. */
export function scenariosOf(owner: string): Scenarios | undefined {
  const text = sessionStorage.getItem(prefix + owner);
  return all.get(owner) ?? (text === null ? undefined : JSON.parse(text) as Scenarios);
}

export function keepScenarios(owner: string, scenarios: Scenarios): void {
  all.set(owner, scenarios);
  try {
    sessionStorage.setItem(prefix + owner, JSON.stringify(scenarios));
  } catch {
    sessionStorage.removeItem(prefix + owner); // too large: it is kept until the page is loaded again
  }
}

/** dropAllScenarios removes those of all flows, so that the next user of the tab does not find them. */
export function dropAllScenarios(): void {
  all.clear();
  for (const key of Object.keys(sessionStorage).filter((one) => one.startsWith(prefix))) {
    sessionStorage.removeItem(key);
  }
}

export function dropScenarios(owner: string): void {
  all.delete(owner);
  sessionStorage.removeItem(prefix + owner);
}
