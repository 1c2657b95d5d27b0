// A flow that an author changes, and what the checker finds in it. This is no state of React: a
// keystroke reaches the checker, and its findings reach the editor, before anything else is drawn.
import type { Finding } from "../api";
import { send } from "../api";
import { call, type CheckResult, type Fix, isAvailable, type Parts, type Proof, Unavailable } from "./checker";

/** Checked are the findings about a text. */
export interface Checked {
  text: string | undefined;
  findings: Finding[];
  valid: boolean;
  error: unknown;
}

/** Studied is what the page shows of a text in addition to its findings, when no keys are pressed. */
export interface Studied {
  text: string;
  findings: Finding[];
  /** fixes are those that findings name without doubt. */
  fixes: Fix[];
  /** proof is what is proven of the text; undefined if nothing is. */
  proof: Proof | undefined;
  parts: Parts;
}

const none: Finding[] = [];
const noFixes: Fix[] = [];
const noParts: Parts = { nodes: [] };

/** pause is how long after a keystroke a text is studied, and how long before the server is asked to check, in milliseconds. */
const pause = 150;

/** FlowCheck checks a text at each change. A check that runs is finished; then the newest text is checked. */
export class FlowCheck {
  text: string;
  /** checked is about the text, or about an earlier one while isCurrent is false. */
  checked: Checked = { text: undefined, findings: none, valid: false, error: undefined };
  studied: Studied;
  #listeners = new Set<() => void>();
  #isReady = false;
  #isRunning = false;
  #isStopped = false;
  #wanted = 0; // counts changes of the text and of the system
  #typedAt = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(text: string) {
    this.text = text;
    this.studied = { text, findings: none, fixes: noFixes, proof: undefined, parts: noParts };
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  get isCurrent(): boolean {
    return this.checked.text === this.text;
  }

  /** isValid reports whether the text is checked and may be stored. */
  get isValid(): boolean {
    return this.isCurrent && this.checked.error === undefined && !this.checked.findings.some((finding) => !finding.warning);
  }

  /** change sets the text. What follows from typing waits until no keys are pressed. */
  change(text: string, isTyped = false): void {
    if (text === this.text) {
      return;
    }
    this.text = text;
    this.#typedAt = isTyped ? performance.now() : -Infinity;
    this.#want();
    this.#notify();
  }

  /** start checks the text for a system that is new, or has changed. */
  start(): void {
    this.#isReady = true;
    this.#isStopped = false;
    this.#want();
  }

  /** stop ends the work for a page that is left. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #want() {
    this.#wanted++;
    clearTimeout(this.#timer);
    if (!this.#isRunning) {
      void this.#run();
    }
  }

  async #run() {
    this.#isRunning = true;
    for (let done = 0; this.#isReady && !this.#isStopped && done !== this.#wanted;) {
      if (!isAvailable()) {
        await new Promise((resume) => setTimeout(resume, pause));
      }
      done = this.#wanted;
      const checked = await check(this.text); // the call is made at once
      if (checked.text === this.text && !this.#isStopped) {
        this.checked = checked;
        this.#notify();
      }
    }
    this.#isRunning = false;
    if (!this.#isStopped) {
      this.#timer = setTimeout(() => void this.#study(), Math.max(0, this.#typedAt + pause - performance.now()));
    }
  }

  async #study() {
    const { wanted, text, isCurrent } = { wanted: this.#wanted, text: this.text, isCurrent: this.isCurrent };
    const { findings, valid } = this.checked;
    const source = { text, json: false };
    const isWanted = () => wanted === this.#wanted && !this.#isStopped;
    const fixes = isCurrent && findings.length > 0 ? await call("fixes", source).catch(() => noFixes) : noFixes;
    const proof = isCurrent && valid && isWanted() ? await call("prove", source).catch(() => undefined) : undefined;
    const parts = isWanted() ? await call("listParts", source).catch(() => noParts) : noParts; // without the checker outcomes are written as text
    if (isWanted()) {
      this.studied = { text, findings: isCurrent ? findings : none, fixes, proof: same(this.studied.proof, proof), parts: same(this.studied.parts, parts) };
      this.#notify();
    }
  }

  #notify() {
    this.#listeners.forEach((listener) => listener());
  }
}

/** same returns the value that is known if the new one is equal: nothing is drawn again for it. */
const same = <T>(known: T, next: T): T => (JSON.stringify(known) === JSON.stringify(next) ? known : next);

async function check(text: string): Promise<Checked> {
  try {
    const { valid, findings } = await call("check", { text, json: false });
    return { text, findings: findings.length > 0 ? findings : none, valid, error: undefined };
  } catch (error) {
    return error instanceof Unavailable ? checkOnServer(text) : { text, findings: none, valid: false, error };
  }
}

async function checkOnServer(text: string): Promise<Checked> {
  try {
    const { valid, findings } = (await send("POST", "/flows/check", text, { "Content-Type": "application/yaml" })).data as CheckResult;
    return { text, findings, valid, error: undefined };
  } catch (error) {
    return { text, findings: none, valid: false, error };
  }
}
