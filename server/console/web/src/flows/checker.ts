// The functions of the flow studio that the browser runs itself: package studio of the server,
// compiled to WebAssembly, in a worker, so that typing never waits for a check.
import type { Finding, Schema } from "../api";
import type { operations } from "../description";

/** System is what the check of a flow depends on. */
export type System = operations["getCheckedSystem"]["responses"][200]["content"]["application/json"];

export interface Source {
  text: string;
  json: boolean;
}

export interface CheckResult {
  valid: boolean;
  findings: Finding[];
}

export type UserState = "anyone" | "identified" | "created" | "authenticated";

export interface ProvenEdge {
  /** outcome is "" if all outcomes of the node lead to the target. */
  outcome: string;
  target: string;
  user: UserState;
  gains: string[];
  loses: string[];
}

/** Proof is what is proven of a flow without errors: see studio.Proof. */
export interface Proof {
  guarantees: { acr?: string; amr?: string[]; phishingResistant?: boolean; userVerified?: boolean; noEnumeration?: boolean };
  sessions: { node: string; outcome: string; acr: string }[];
  nodes: { id: string; user: UserState; edges: ProvenEdge[] }[];
}

/** Send is a request of a run: the member send of a step in a scenario file. */
export interface Send {
  action?: string;
  inputs?: Record<string, string>;
  passkey?: { device: string; fault?: string };
  federated?: { subject: string; fault?: string };
  after?: string;
}

export interface Exit {
  node: string;
  outcome: string;
}

export interface Problem {
  in?: string;
  path?: string;
  message: string;
  line?: number;
  column?: number;
  warning?: boolean;
}

interface StepError {
  code: string;
  description?: { defaultValue: string };
}

/** Turn is a request and its reply: see flowtest.Turn. */
export interface Turn {
  send: Send;
  status?: string;
  step?: string;
  error?: StepError;
  refused?: StepError;
  check?: string;
  declined?: string;
  left: Exit[];
  events: string[];
}

/** Walk describes a simulated run: see flowtest.Walk. */
export interface Walk {
  turns: Turn[];
  step?: {
    flowStatus: "INCOMPLETE" | "COMPLETE" | "ERROR";
    stepId?: string;
    data: { inputs?: { identifier: string; type: string; options?: string[] }[]; actions?: { ref: string }[]; additionalData?: Record<string, string> };
  };
  facts: { fact: string; text: string }[];
  mails: { to: string; code?: string; notice?: string }[];
  appCodes: Record<string, string>;
  user?: string;
  claims?: Record<string, unknown>;
  provider?: string;
}

export interface PlayResult {
  problems: Problem[];
  failure?: string;
  walk?: Walk;
  sends: Send[];
  scenario: string;
}

export interface Result {
  name: string;
  line: number;
  passed: boolean;
  failure?: { differences: { member?: string; line: number; expected?: unknown; got: unknown }[] };
  transcript?: string[];
}

export interface ScenariosResult {
  problems: Problem[];
  failure?: string;
  results: Result[];
  coverage?: { nodes: { id: string; outcomes: { outcome: string; scenarios: number }[] }[] };
  missed: Exit[];
}

export interface DraftResult {
  problems: Problem[];
  failure?: string;
  drafts: { node: string; outcome: string; complete: boolean; scenario: string }[];
}

export interface Fault {
  fault: string;
  ceremony?: string;
  doc: string;
}

/** Cursor is a place in a text: the line from 1, and the number of characters before it in the line. */
export interface Cursor {
  text: string;
  line: number;
  column: number;
}

export interface Completion {
  label: string;
  insert: string;
  detail: string;
  doc: string;
}

/** Fix replaces a part of a line, for the finding with the number. Columns count characters from 1. */
export interface Fix {
  finding: number;
  title: string;
  line: number;
  column: number;
  endColumn: number;
  insert: string;
}

/** Kind is a kind of nodes: see studio.Kind. */
export interface Kind {
  name: string;
  doc: string;
  with: Schema | null;
  values: Record<string, string[]>;
}

/** Parts are the parts of a flow that its graph shows: see studio.Parts. */
export interface Parts {
  nodes: { id: string; outcomes: string[] }[];
}

/** StudioFunctions lists the functions with their inputs and results. */
export interface StudioFunctions {
  setSystem: { input: System; result: object };
  check: { input: Source; result: CheckResult };
  prove: { input: Source; result: Proof };
  play: { input: Source & { file: string; start: string; sends: Send[]; name: string }; result: PlayResult };
  runScenarios: { input: Source & { file: string }; result: ScenariosResult };
  draftScenarios: { input: Source & { file: string; start: string; outcomes: Exit[] }; result: DraftResult };
  listFaults: { input: object; result: { devices: Fault[]; providers: Fault[] } };
  complete: { input: Cursor; result: { typed: string; options: Completion[] } };
  describe: { input: Cursor; result: { title: string; text: string; node: string; facts: string[] } };
  fixes: { input: Source; result: Fix[] };
  listKinds: { input: object; result: Kind[] };
  listParts: { input: Source; result: Parts };
  compare: { input: { before: Source; after: Source }; result: { what: string; text: string }[] };
  compareBuiltin: { input: Source; result: { text: string; differences: { what: string; text: string }[] } };
  factsAt: { input: Source & { node: string; outcome?: string; target?: string }; result: { facts: string[] } };
}

/** Unavailable is thrown if the browser cannot run the checker, or the server does not have it. */
export class Unavailable extends Error {}

interface Call {
  resolve: (result: never) => void;
  reject: (reason: Error) => void;
}

const address = document.querySelector<HTMLMetaElement>('meta[name="checker"]')?.content ?? "";
const calls = new Map<number, Call>();
let worker: Worker | undefined;
let count = 0;
/** isBeingBuilt is true if the checker is compiled while the server runs; a page that is loaded later has it. */
export const isBeingBuilt = address === "pending";
let failure = address && !isBeingBuilt && typeof WebAssembly === "object" ? "" : "the server has no checker for the browser";

/** isAvailable reports whether calls can succeed. */
export function isAvailable(): boolean {
  return failure === "";
}

/** call runs a function in the worker. Calls are answered in their order. */
export function call<N extends keyof StudioFunctions>(name: N, input: StudioFunctions[N]["input"]): Promise<StudioFunctions[N]["result"]> {
  return new Promise((resolve, reject) => {
    if (failure) {
      reject(new Unavailable(failure));
      return;
    }
    try {
      worker ??= start();
    } catch (error) {
      stop(String(error));
      reject(new Unavailable(failure));
      return;
    }
    count++;
    calls.set(count, { resolve: resolve as Call["resolve"], reject });
    worker.postMessage({ id: count, name, input: JSON.stringify(input) });
  });
}

function start(): Worker {
  const started = new Worker(trusted(new URL(address, document.baseURI).href));
  started.onmessage = ({ data }: MessageEvent<{ id: number; reply?: string; failed?: string }>) => {
    if (data.failed !== undefined || data.reply === undefined) {
      stop(data.failed ?? "the checker gave no reply");
      return;
    }
    const asked = calls.get(data.id);
    calls.delete(data.id);
    const reply = JSON.parse(data.reply) as { result?: never; error?: string };
    if (reply.error === undefined) {
      asked?.resolve(reply.result as never);
    } else {
      asked?.reject(new Error(reply.error));
    }
  };
  started.onerror = (event) => stop(event.message || "the worker cannot start");
  return started;
}

/** stop makes all calls fail from now on: the callers ask the server instead. */
function stop(reason: string) {
  failure = reason;
  worker?.terminate();
  for (const { reject } of calls.values()) {
    reject(new Unavailable(reason));
  }
  calls.clear();
}

interface Policy {
  createScriptURL(url: string): string;
}

/** trusted marks the only address that a worker can have, for browsers with Trusted Types. */
function trusted(url: string): string {
  const types = (window as { trustedTypes?: { createPolicy(name: string, rules: Policy): Policy } }).trustedTypes;
  const only = (asked: string) => {
    if (asked !== url) {
      throw new TypeError("the policy allows only the worker of the checker");
    }
    return asked;
  };
  return types?.createPolicy("checker", { createScriptURL: only }).createScriptURL(url) ?? url;
}
