// The scenario file of the flow: its text, the results of its scenarios, and what they do not reach.
// The server does not store scenario files; they belong next to the flow in a repository.
import { Button } from "react-aria-components";
import { t } from "../texts";
import { CopyButton } from "../ui";
import type { Result } from "./checker";
import { Problems } from "./Simulator";
import type { Simulation } from "./useSimulation";
import { YAMLEditor } from "./YAMLEditor";

export function Scenarios({ simulation, handle, isValid }: { simulation: Simulation; handle: string; isValid: boolean }) {
  const { ran, file, isBusy } = simulation;
  const problems = ran?.problems ?? simulation.result?.problems.filter((problem) => problem.in === "file") ?? [];
  return (
    <section aria-labelledby="scenario-file">
      <h2 id="scenario-file">{t("Scenario file")}</h2>
      <p className="quiet">{t("The users of the simulation, and its scenarios. The server does not store this file: keep it next to the flow, and run it with postern flow test.")}</p>
      <div className="short"><YAMLEditor label={t("Scenario file")} text={file} findings={problems.map((problem) => ({ ...problem, path: problem.path ?? "", rule: "" }) as never)} line={undefined} onChange={simulation.setFile} /></div>
      <div className="actions">
        <Button className="primary" isDisabled={isBusy || !isValid} onPress={() => void simulation.run()}>{t("Run the scenarios")}</Button>
        <CopyButton text={file} />
        <Button onPress={() => download(`${handle}_test.yaml`, file)}>{t("Download")}</Button>
        <label className="button">{t("Open a file")} <input className="hidden" type="file" accept=".yaml,.yml" onChange={(event) => void event.target.files?.[0]?.text().then(simulation.setFile)} /></label>
      </div>
      {ran && <Problems problems={ran.problems.filter((problem) => !problem.warning)} failure={ran.failure} />}
      {ran && ran.results.length > 0 && <Results simulation={simulation} />}
    </section>
  );
}

function download(name: string, text: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/yaml" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

function Results({ simulation }: { simulation: Simulation }) {
  const { results, coverage, missed } = simulation.ran ?? { results: [], missed: [] };
  const all = coverage?.nodes.reduce((sum, node) => sum + node.outcomes.length, 0) ?? 0;
  const passed = results.filter((result) => result.passed).length;
  return (
    <>
      <p role="status"><strong>{t("{passed} of {n} scenarios passed.", { passed, n: results.length })}</strong> {t("They reach {reached} of {all} outcomes.", { reached: all - missed.length, all })}</p>
      <ul className="findings">{results.map((result) => <li key={result.name} className={result.passed ? "" : "bad"}><ResultText result={result} /></li>)}</ul>
      {missed.length > 0 && (
        <>
          <h3>{t("Outcomes that no scenario reaches")}</h3>
          <ul className="badges">{missed.map((exit) => <li key={`${exit.node} ${exit.outcome}`}>{exit.node} {exit.outcome}</li>)}</ul>
          <p><Button isDisabled={simulation.isBusy} onPress={() => void simulation.draft(missed)}>{t("Draft scenarios for them")}</Button></p>
        </>
      )}
    </>
  );
}

function ResultText({ result }: { result: Result }) {
  return (
    <>
      <strong>{result.passed ? t("passed") : t("failed")}</strong> {result.name} <span className="quiet">{t("line {n}", { n: result.line })}</span>
      {result.failure?.differences.map((difference, i) => (
        <p key={i}>
          {t("line {n}", { n: difference.line })}: {difference.member && <code>{difference.member}</code>}{" "}
          {difference.member ? t("expected {expected}, got {got}", { expected: show(difference.expected), got: show(difference.got) }) : show(difference.got)}
        </p>
      ))}
      <details><summary>{t("Transcript")}</summary><pre>{result.transcript?.join("\n")}</pre></details>
    </>
  );
}

const show = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
