// The simulation of a run: how it begins, the step that waits for an answer, and what has happened.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "react-aria-components";
import { type PageAnswer, PagePreview } from "../PagePreview";
import { applications } from "../fields";
import { ReferenceField } from "../ReferenceField";
import { t } from "../texts";
import { Failed } from "../ui";
import { call, isAvailable, type Fault, type Problem, type Send, type Turn, type Walk } from "./checker";
import { missingChecker } from "./missing";
import type { FlowCheck } from "./flowcheck";
import { Scenarios } from "./Scenarios";
import { devicesOf } from "./scenariofile";
import { usePart } from "./useFlowCheck";
import type { Simulation } from "./useSimulation";

const starts: { name: string; text: string }[] = [
  { name: "The application starts the run", text: "" },
  { name: "An authorization request, no session", text: "request: {bound: true}\n" },
  { name: "Signed in with a passkey five minutes ago", text: "request: {bound: true}\nsession: {user: ada, amr: [hwk, pop], age: 5m}\n" },
  { name: "Signed in with a password an hour ago", text: "request: {bound: true}\nsession: {user: ada, amr: [pwd], age: 1h}\n" },
  { name: "The client demands a new sign-in", text: "login: {prompt: [login]}\nsession: {user: ada, amr: [hwk, pop], age: 5m}\n" },
  { name: "The server sends no mail", text: "noMail: true\n" },
];

/** Simulator simulates a flow with the handle, after which the scenario file is named. */
export function Simulator({ simulation, flow, handle, registers }: { simulation: Simulation; flow: FlowCheck; handle: string; registers: boolean }) {
  const isValid = usePart(flow, (one) => one.isValid);
  const { result, sends, isBusy } = simulation;
  if (!isAvailable()) {
    return <p className="notice">{missingChecker()}</p>;
  }
  const walk = result?.walk;
  return (
    <div className="simulator">
      <h2>{t("Simulation")}</h2>
      <Start simulation={simulation} />
      <div className="actions">
        <Button className="primary" isDisabled={isBusy || !isValid} onPress={() => void simulation.play([])}>{walk ? t("Restart") : t("Start")}</Button>
        <Button isDisabled={isBusy || !isValid || sends.length === 0} onPress={() => void simulation.play(sends.slice(0, -1))}>{t("Back")}</Button>
      </div>
      {!isValid && <p className="quiet">{t("A flow with errors cannot be simulated.")}</p>}
      {Boolean(simulation.error) && <Failed error={simulation.error} />}
      {result && <Problems problems={result.problems} failure={result.failure} />}
      {walk && <Where walk={walk} />}
      {walk?.step && <Hosted simulation={simulation} walk={walk} registers={registers} />}
      {walk?.step?.flowStatus === "INCOMPLETE" && <Answer key={walk.turns.length} simulation={simulation} walk={walk} />}
      {walk && <History walk={walk} />}
      {walk && <Save simulation={simulation} />}
      <Scenarios simulation={simulation} handle={handle} isValid={isValid} />
      <p role="status" className="quiet">{simulation.note}</p>
    </div>
  );
}

export function Problems({ problems, failure }: { problems: Problem[]; failure?: string | undefined }) {
  if (problems.length === 0 && !failure) {
    return null;
  }
  return (
    <div role="alert" className="notice bad">
      {failure && <p>{failure}</p>}
      <ul>{problems.map((problem, i) => <li key={i}>{problem.line ? `${t("line {n}", { n: problem.line })}: ` : ""}{problem.path && <code>{problem.path}</code>} {problem.message}</li>)}</ul>
    </div>
  );
}

function Start({ simulation }: { simulation: Simulation }) {
  return (
    <details>
      <summary>{t("How the run begins")}</summary>
      <div className="fields">
        <div className="field">
          <label htmlFor="simulation-preset">{t("Preset")}</label>
          <select id="simulation-preset" value={starts.find((one) => one.text === simulation.start)?.name ?? ""} onChange={(event) => simulation.setStart(starts.find((one) => one.name === event.target.value)?.text ?? "")}>
            {!starts.some((one) => one.text === simulation.start) && <option value="">{t("As written below")}</option>}
            {starts.map((one) => <option key={one.name} value={one.name}>{t(one.name)}</option>)}
          </select>
        </div>
        <div className="field">
          <label htmlFor="simulation-start">{t("Members of the scenario (YAML)")}</label>
          <textarea id="simulation-start" className="code" rows={3} spellCheck={false} value={simulation.start} onChange={(event) => simulation.setStart(event.target.value)} />
          <span className="quiet">{t("Such as request, session, login, consents, http. The users are in the scenario file below.")}</span>
        </div>
      </div>
    </details>
  );
}

function Where({ walk }: { walk: Walk }) {
  const last = walk.turns[walk.turns.length - 1];
  const status = walk.step?.flowStatus ?? "";
  const error = last?.error ?? last?.refused;
  return (
    <div role="status" className={status === "ERROR" ? "notice bad" : "notice"}>
      <p>
        {status === "COMPLETE" && <strong>{walk.user ? t("The run is complete: {user} is signed in.", { user: walk.user }) : t("The run is complete.")}</strong>}
        {status === "ERROR" && <strong>{t("The run has failed.")}</strong>}
        {status === "INCOMPLETE" && <strong>{t("The run waits at {node}.", { node: walk.step?.stepId ?? "" })}</strong>}
      </p>
      {error && <p><code>{error.code}</code> {error.description?.defaultValue}{last?.check && ` (${last.check})`}</p>}
      {last?.declined && <p>{t("The device did not answer: {reason}.", { reason: last.declined })}</p>}
      {walk.claims && <details><summary>{t("Claims")}</summary><pre>{JSON.stringify(walk.claims, null, 2)}</pre></details>}
      {walk.facts.length > 0 && <details><summary>{t("Facts")} ({walk.facts.length})</summary><ul>{walk.facts.map((one) => <li key={one.fact}>{one.text}</li>)}</ul></details>}
      {walk.mails.length > 0 && <details open><summary>{t("Mailbox")} ({walk.mails.length})</summary><ul>{walk.mails.map((mail, i) => <li key={i}>{mail.to}: {mail.code ? <code>{mail.code}</code> : mail.notice}</li>)}</ul></details>}
      {Object.keys(walk.appCodes).length > 0 && <details><summary>{t("Authenticator apps")}</summary><ul>{Object.entries(walk.appCodes).map(([device, code]) => <li key={device}>{device}: <code>{code}</code></li>)}</ul></details>}
    </div>
  );
}

/** Hosted shows the step as the hosted pages do. Its buttons answer the step. */
function Hosted({ simulation, walk, registers }: { simulation: Simulation; walk: Walk; registers: boolean }) {
  const [application, setApplication] = useState("");
  const answer = ({ action, eventType, inputs }: PageAnswer) => {
    const entered = Object.keys(inputs).length > 0 ? { inputs } : {};
    const makes = Boolean(walk.step?.data.additionalData?.["passkeyCreationOptions"]);
    const send = eventType === "TRIGGER" ? { passkey: { device: (!makes && devicesOf(simulation.file)[0]) || newDevice } } : { action };
    void simulation.play([...simulation.sends, { ...send, ...entered }]);
  };
  const field = { name: "applicationId", schema: { title: t("Application") }, value: application, required: false, problem: undefined, problems: [], onChange: (id: unknown) => setApplication(String(id ?? "")) };
  return (
    <details open>
      <summary>{t("The page that the user sees")}</summary>
      <ReferenceField {...field} reference={applications} otherwise={null} />
      <PagePreview step={walk.step} application={application} registers={registers} onAnswer={answer} />
    </details>
  );
}

const newDevice = "new device";

const ceremonyInputs = new Set(["credentialId", "clientDataJSON", "authenticatorData", "signature", "userHandle", "attestationObject", "authenticatorAttachment", "credentialName", "transports"]);

/** Answer is the form for the answer to the step. */
function Answer({ simulation, walk }: { simulation: Simulation; walk: Walk }) {
  const [values, setValues] = useState<Record<string, string>>({});
  const [after, setAfter] = useState("");
  const data = walk.step?.data ?? {};
  const inputs = (data.inputs ?? []).filter((input) => !ceremonyInputs.has(input.identifier));
  const makes = Boolean(data.additionalData?.["passkeyCreationOptions"]);
  const asks = makes || Boolean(data.additionalData?.["passkeyChallenge"]);
  const answer = (send: Send) => void simulation.play([...simulation.sends, after ? { ...send, after } : send]);
  const entered = () => {
    const filled = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
    return Object.keys(filled).length > 0 ? { inputs: filled } : {};
  };
  const actions = data.actions ?? [];
  return (
    <form className="fields" onSubmit={(event) => event.preventDefault()} aria-label={t("Answer")}>
      {inputs.map((input) => (
        <div className="field" key={input.identifier}>
          <label htmlFor={`simulated-${input.identifier}`}>{input.identifier}</label>
          <input id={`simulated-${input.identifier}`} autoComplete="off" value={values[input.identifier] ?? ""} list={`simulated-${input.identifier}-values`} onChange={(event) => setValues({ ...values, [input.identifier]: event.target.value })} />
          <datalist id={`simulated-${input.identifier}-values`}>
            {[...(input.options ?? []), ...(input.identifier === "code" ? walk.mails.flatMap((mail) => mail.code ?? []) : []), ...(input.type === "OTP_INPUT" ? Object.values(walk.appCodes) : [])].map((value) => <option key={value} value={value} />)}
          </datalist>
        </div>
      ))}
      {asks && <Ceremony file={simulation.file} makes={makes} isBusy={simulation.isBusy} onAnswer={(passkey) => answer({ passkey, ...entered() })} />}
      {walk.provider && <Provider name={walk.provider} isBusy={simulation.isBusy} onAnswer={(federated) => answer({ federated })} />}
      <div className="actions">
        {actions.map((action) => <Button key={action.ref} isDisabled={simulation.isBusy} onPress={() => answer({ action: action.ref, ...entered() })}>{t("Send {action}", { action: action.ref })}</Button>)}
        {actions.length === 0 && !walk.provider && <Button isDisabled={simulation.isBusy} onPress={() => answer(entered())}>{t("Continue")}</Button>}
      </div>
      <div className="field">
        <label htmlFor="simulated-after">{t("Wait before the answer")}</label>
        <input id="simulated-after" placeholder="31m" value={after} onChange={(event) => setAfter(event.target.value)} />
      </div>
    </form>
  );
}

/** useFaults reads the faults that devices and providers can have. */
function useFaults(): { devices: Fault[]; providers: Fault[] } {
  const read = useQuery({ queryKey: ["faults"], staleTime: Infinity, queryFn: () => call("listFaults", {}) });
  return read.data ?? { devices: [], providers: [] };
}

function FaultField({ id, faults, value, onChange }: { id: string; faults: Fault[]; value: string; onChange: (fault: string) => void }) {
  return (
    <div className="field">
      <label htmlFor={id}>{t("Fault")}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{t("none: the answer is correct")}</option>
        {faults.map((fault) => <option key={fault.fault} value={fault.fault}>{fault.fault}: {fault.doc}</option>)}
      </select>
    </div>
  );
}

function Ceremony({ file, makes, isBusy, onAnswer }: { file: string; makes: boolean; isBusy: boolean; onAnswer: (passkey: { device: string; fault?: string }) => void }) {
  const devices = [...devicesOf(file), newDevice];
  const [device, setDevice] = useState(makes ? newDevice : devices[0] ?? "");
  const [fault, setFault] = useState("");
  const faults = useFaults().devices.filter((one) => one.ceremony === "both" || one.ceremony === (makes ? "registration" : "authentication"));
  return (
    <fieldset className="fields">
      <legend>{makes ? t("Create a passkey") : t("Use a passkey")}</legend>
      <div className="field">
        <label htmlFor="simulated-device">{t("Device")}</label>
        <select id="simulated-device" value={device} onChange={(event) => setDevice(event.target.value)}>{devices.map((name) => <option key={name}>{name}</option>)}</select>
      </div>
      <FaultField id="simulated-fault" faults={faults} value={fault} onChange={setFault} />
      <div><Button className="primary" isDisabled={isBusy} onPress={() => onAnswer({ device, ...(fault ? { fault } : {}) })}>{t("Answer with the passkey")}</Button></div>
    </fieldset>
  );
}

function Provider({ name, isBusy, onAnswer }: { name: string; isBusy: boolean; onAnswer: (federated: { subject: string; fault?: string }) => void }) {
  const [subject, setSubject] = useState("1");
  const [fault, setFault] = useState("");
  const faults = useFaults().providers;
  return (
    <fieldset className="fields">
      <legend>{t("Sign in at {provider}", { provider: name })}</legend>
      <div className="field">
        <label htmlFor="simulated-subject">{t("Subject at the provider")}</label>
        <input id="simulated-subject" value={subject} onChange={(event) => setSubject(event.target.value)} />
      </div>
      <FaultField id="simulated-provider-fault" faults={faults} value={fault} onChange={setFault} />
      <div><Button className="primary" isDisabled={isBusy || subject === ""} onPress={() => onAnswer({ subject, ...(fault ? { fault } : {}) })}>{t("Return from the provider")}</Button></div>
    </fieldset>
  );
}

function History({ walk }: { walk: Walk }) {
  return (
    <>
      <h3>{t("Steps so far")}</h3>
      <ol className="walk">{walk.turns.map((turn, i) => <li key={i}><TurnText turn={turn} isFirst={i === 0} /></li>)}</ol>
    </>
  );
}

function TurnText({ turn, isFirst }: { turn: Turn; isFirst: boolean }) {
  const error = turn.error ?? turn.refused;
  return (
    <>
      <code>{isFirst ? t("Start") : JSON.stringify(turn.send)}</code>
      {turn.left.length > 0 && <p>{turn.left.map((exit) => (exit.outcome ? `${exit.node} —${exit.outcome}→` : exit.node)).join(" ")} {turn.step}</p>}
      {error && <p className="danger">{error.code}{turn.check && ` (${turn.check})`}</p>}
      {turn.events.length > 0 && <p className="quiet">{t("Audit log")}: {turn.events.join(", ")}</p>}
    </>
  );
}

function Save({ simulation }: { simulation: Simulation }) {
  const [name, setName] = useState("");
  return (
    <form className="filter" onSubmit={(event) => event.preventDefault()} aria-label={t("Save as a scenario")}>
      <div className="field">
        <label htmlFor="simulation-name">{t("Name of the scenario")}</label>
        <input id="simulation-name" value={name} onChange={(event) => setName(event.target.value)} />
      </div>
      <Button isDisabled={simulation.isBusy || name.trim() === ""} onPress={() => { simulation.save(name.trim()); setName(""); }}>{t("Save as a scenario")}</Button>
    </form>
  );
}
