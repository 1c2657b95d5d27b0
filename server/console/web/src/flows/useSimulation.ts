// A simulated run of the flow, and the scenario file that it belongs to. Everything happens in the
// browser: nothing is sent to the server, and nothing is stored.
import { useRef, useState } from "react";
import { call, type DraftResult, type Exit, type PlayResult, type ScenariosResult, type Send } from "./checker";
import { addScenario } from "./scenariofile";
import { t } from "../texts";

const firstFile = `users:
  ada: {attributes: {username: ada, email: ada@example.org, email_verified: true}, password: a long password, passkeys: [laptop]}
`;

export interface Simulation {
  file: string;
  setFile: (text: string) => void;
  start: string;
  setStart: (text: string) => void;
  sends: Send[];
  result: PlayResult | undefined;
  /** flow is the text of the flow that the result is about. */
  flow: string;
  ran: ScenariosResult | undefined;
  note: string;
  error: unknown;
  isBusy: boolean;
  play: (sends: Send[]) => Promise<void>;
  save: (name: string) => void;
  run: () => Promise<void>;
  draft: (outcomes: Exit[]) => Promise<void>;
}

// The scenario files of this page by the handles of their flows: saving a flow keeps its file.
const files = new Map<string, string>();

/** useSimulation simulates the flow whose text the function returns. */
export function useSimulation(textOf: () => string, handle: string): Simulation {
  const [file, setFileText] = useState(files.get(handle) ?? firstFile);
  const newest = useRef(file); // a button can be pressed before the state follows the editor
  const [start, setStart] = useState("");
  const [before, setPlayed] = useState<{ sends: Send[]; result?: PlayResult; flow: string }>({ sends: [], flow: "" });
  const [ran, setRan] = useState<ScenariosResult>();
  const [state, setState] = useState<{ isBusy: boolean; error?: unknown; note: string }>({ isBusy: false, note: "" });
  const source = () => ({ text: textOf(), json: false });

  const attempt = async (work: () => Promise<string>) => {
    setState({ isBusy: true, note: "" });
    try {
      setState({ isBusy: false, note: await work() });
    } catch (error) {
      setState({ isBusy: false, error, note: "" });
    }
  };
  const setFile = (changed: string) => {
    newest.current = changed;
    setFileText(changed);
    files.set(handle, changed);
    setRan(undefined);
  };
  return {
    file, setFile, start, setStart, sends: before.sends, result: before.result, flow: before.flow, ran,
    note: state.note, error: state.error, isBusy: state.isBusy,
    play: (sends) => attempt(async () => {
      const played = source();
      const result = await call("play", { ...played, file: newest.current, start, sends, name: "walk" });
      // A request that cannot be made leaves the run where it is.
      setPlayed(result.walk || sends.length === 0 ? { sends: result.sends, result, flow: played.text }
        : { ...before, result: { ...result, ...(before.result?.walk ? { walk: before.result.walk } : {}) } });
      return "";
    }),
    save: (name) => void attempt(async () => {
      const { scenario } = await call("play", { ...source(), file: newest.current, start, sends: before.sends, name });
      setFile(addScenario(newest.current, scenario));
      return t("The walk is a scenario of the file now.");
    }),
    run: () => attempt(async () => {
      setRan(await call("runScenarios", { ...source(), file: newest.current }));
      return "";
    }),
    draft: (outcomes) => attempt(async () => {
      const result: DraftResult = await call("draftScenarios", { ...source(), file: newest.current, start, outcomes });
      if (result.failure || result.problems.length > 0) {
        throw new Error(result.failure ?? result.problems[0]?.message);
      }
      setFile(result.drafts.reduce((whole, one) => addScenario(whole, one.scenario), newest.current));
      const complete = result.drafts.filter((one) => one.complete).length;
      return t("{n} drafts were added; {complete} of them reach their outcome.", { n: result.drafts.length, complete });
    }),
  };
}
