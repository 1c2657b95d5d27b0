// A simulated run of the flow, and the scenario file that it belongs to. Everything happens in the
// browser: nothing is sent to the server.
import { useRef, useState } from "react";
import { call, type DraftResult, type Exit, type PlayResult, type ScenariosResult, type Send } from "./checker";
import { addScenario } from "./scenariofile";
import { dropScenarios, keepScenarios, scenariosOf } from "./scenariostore";
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
  /** giveTo keeps the scenario file for a flow that was created. */
  giveTo: (created: string) => void;
}

/** useSimulation simulates the flow whose text the function returns. The scenarios of the owner are kept; at first they may be those of another flow. */
export function useSimulation(textOf: () => string, owner: string, source?: string): Simulation {
  const [kept] = useState(() => scenariosOf(owner) ?? (source === undefined ? undefined : scenariosOf(source)));
  const [file, setFileText] = useState(kept?.file ?? firstFile);
  const [start, setStartText] = useState(kept?.start ?? "");
  const newest = useRef({ file, start }); // a button can be pressed before the state follows the editor
  const [before, setPlayed] = useState<{ sends: Send[]; result?: PlayResult; flow: string }>({ sends: [], flow: "" });
  const [ran, setRan] = useState<ScenariosResult>();
  const [state, setState] = useState<{ isBusy: boolean; error?: unknown; note: string }>({ isBusy: false, note: "" });
  const flow = () => ({ text: textOf(), json: false });

  const attempt = async (work: () => Promise<string>) => {
    setState({ isBusy: true, note: "" });
    try {
      setState({ isBusy: false, note: await work() });
    } catch (error) {
      setState({ isBusy: false, error, note: "" });
    }
  };
  const keep = (changed: { file: string } | { start: string }) => {
    newest.current = { ...newest.current, ...changed };
    keepScenarios(owner, newest.current);
  };
  const setFile = (changed: string) => {
    setFileText(changed);
    keep({ file: changed });
    setRan(undefined);
  };
  const setStart = (changed: string) => {
    setStartText(changed);
    keep({ start: changed });
  };
  return {
    file, setFile, start, setStart, sends: before.sends, result: before.result, flow: before.flow, ran,
    note: state.note, error: state.error, isBusy: state.isBusy,
    giveTo: (created) => {
      keepScenarios(created, newest.current);
      if (created !== owner) {
        dropScenarios(owner);
      }
    },
    play: (sends) => attempt(async () => {
      const played = flow();
      const result = await call("play", { ...played, file: newest.current.file, start, sends, name: "walk" });
      // A request that cannot be made leaves the run where it is.
      setPlayed(result.walk || sends.length === 0 ? { sends: result.sends, result, flow: played.text }
        : { ...before, result: { ...result, ...(before.result?.walk ? { walk: before.result.walk } : {}) } });
      return "";
    }),
    save: (name) => void attempt(async () => {
      const { scenario } = await call("play", { ...flow(), file: newest.current.file, start, sends: before.sends, name });
      setFile(addScenario(newest.current.file, scenario));
      return t("The walk is a scenario of the file now.");
    }),
    run: () => attempt(async () => {
      setRan(await call("runScenarios", { ...flow(), file: newest.current.file }));
      return "";
    }),
    draft: (outcomes) => attempt(async () => {
      const result: DraftResult = await call("draftScenarios", { ...flow(), file: newest.current.file, start, outcomes });
      if (result.failure || result.problems.length > 0) {
        throw new Error(result.failure ?? result.problems[0]?.message);
      }
      setFile(result.drafts.reduce((whole, one) => addScenario(whole, one.scenario), newest.current.file));
      const complete = result.drafts.filter((one) => one.complete).length;
      return t("{n} drafts were added; {complete} of them reach their outcome.", { n: result.drafts.length, complete });
    }),
  };
}
