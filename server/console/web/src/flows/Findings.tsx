// The findings about a flow: how many there are, whether it may be stored, and the list.
import { Button } from "react-aria-components";
import type { Finding } from "../api";
import { t } from "../texts";
import type { FlowCheck } from "./flowcheck";
import { usePart } from "./useFlowCheck";

export function FindingsTab({ flow }: { flow: FlowCheck }) {
  return <>{t("Findings")} ({usePart(flow, ({ checked }) => checked.findings.length)})</>;
}

/** summary counts the findings about a flow without errors. */
function summary(findings: Finding[]): string {
  if (findings.length === 0) {
    return t("No findings: the flow is safe.");
  }
  const waived = findings.filter((finding) => finding.waived).length;
  const warnings = findings.length - waived;
  const counts = [
    ...(warnings > 0 ? [warnings === 1 ? t("1 warning") : t("{n} warnings", { n: warnings })] : []),
    ...(waived > 0 ? [waived === 1 ? t("1 waived finding") : t("{n} waived findings", { n: waived })] : []),
  ];
  return t("No errors; {findings}.", { findings: counts.join(", ") });
}

/** Verdict shows whether the flow may be stored. It keeps the last verdict while a new text is checked: a screen reader reads only what changes. */
export function Verdict({ flow }: { flow: FlowCheck }) {
  const isChecked = usePart(flow, ({ checked }) => checked.text !== undefined);
  const isCurrent = usePart(flow, (one) => one.isCurrent);
  const error = usePart(flow, ({ checked }) => checked.findings.find((finding) => !finding.warning));
  const findings = usePart(flow, ({ checked }) => checked.findings);
  const isUnknown = usePart(flow, ({ checked }) => checked.error !== undefined); // the page shows why
  return (
    <div role="status" aria-busy={!isCurrent} className={error ? "notice bad" : "notice"}>
      {isUnknown ? "" : !isChecked ? t("Checking …") : error ? `${/[.?!]$/.test(error.message) ? error.message : `${error.message}.`} ${t("The flow cannot be saved until its errors are fixed.")}` : summary(findings)}
    </div>
  );
}

export function Findings({ flow, onSelect }: { flow: FlowCheck; onSelect: (line: number) => void }) {
  const findings = usePart(flow, ({ checked }) => checked.findings);
  if (findings.length === 0) {
    return <p className="quiet">{t("No findings: the flow is safe.")}</p>;
  }
  const roots = findings.filter((finding) => !findings.some((other) => follows(finding, other)));
  return (
    <ul className="findings">
      {roots.map((root, i) => {
        const following = findings.filter((finding) => follows(finding, root));
        return (
          <li key={i} className={root.warning ? "" : "bad"}>
            <FindingText finding={root} onSelect={onSelect} />
            {following.length > 0 && (
              <details>
                <summary>{following.length === 1 ? t("It causes 1 more finding.") : t("It causes {n} more findings.", { n: following.length })}</summary>
                <ul>{following.map((finding, k) => <li key={k}><FindingText finding={finding} onSelect={onSelect} /></li>)}</ul>
              </details>
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** follows reports whether a finding would not exist without the other one. */
function follows(finding: Finding, other: Finding): boolean {
  const cause = finding.follows;
  return Boolean(cause) && !other.follows && cause?.rule === other.rule && cause?.path === other.path && (cause?.node ?? "") === (other.node ?? "");
}

function FindingText({ finding, onSelect }: { finding: Finding; onSelect: (line: number) => void }) {
  return (
    <>
      <strong>{finding.waived ? t("waived") : finding.warning ? t("warning") : t("error")}</strong> {finding.rule && <code>{finding.rule}</code>} {finding.message}
      {finding.trace && finding.trace.length > 0 && <p className="quiet">{finding.trace.map((step) => step.outcome ? `${step.node} —${step.outcome}→` : step.node).join(" ")}</p>}
      {finding.line ? <Button onPress={() => onSelect(finding.line ?? 1)}>{t("line {n}", { n: finding.line })}</Button> : null}
    </>
  );
}
