import { useRef, useState } from "react";
import { ThunderIDRuntimeError } from "@thunderid/react";
import type { EmbeddedSignUpFlowResponse } from "@thunderid/react";

/**
 * Lets people go on after a failure that the SDK's forms do not get over.
 *
 * The SDK opens the passkey prompt when it learns of the passkey step, and goes on
 * to show the form of the step before. If the prompt is cancelled, that form
 * answers a question that nobody asks any more. So the form is made anew, by a new
 * key: it asks Postern where the run is, and shows the passkey step with its button.
 */
export function useRetry() {
  const [attempt, setAttempt] = useState(0);
  const [problem, setProblem] = useState("");
  const run = useRef("");
  const asked = useRef(false); // the step before was one of a passkey

  /** Makes the form anew, at the step of a run, which SignIn also keeps by itself. */
  const show = (executionId: string) => {
    const url = new URL(window.location.href);
    url.searchParams.delete("executionId");
    if (executionId) url.searchParams.set("executionId", executionId);
    window.history.replaceState(null, "", url);
    asked.current = false;
    setAttempt((n) => n + 1);
  };
  /** Begins a new run, for whatever else went wrong. */
  const startAgain = () => {
    sessionStorage.removeItem("thunderid_execution_id");
    setProblem("");
    show("");
  };
  const failed = (error: unknown) => {
    const passkey = error instanceof ThunderIDRuntimeError && error.code.startsWith("browser-webauthn-");
    setProblem(passkey ? "The passkey was not used. You can try again." : String(error instanceof Error ? error.message : error));
    if (passkey) show(run.current);
  };
  /**
   * For each step that SignUp tells of. After a passkey has been answered it keeps
   * the token of the step before, with which Postern refuses the next answer, and
   * does not say why the passkey was refused.
   */
  const follow = (step: EmbeddedSignUpFlowResponse) => {
    const answered = asked.current && step.flowStatus === "INCOMPLETE" && (step.error || !asksForPasskey(step));
    asked.current = asksForPasskey(step);
    run.current = step.executionId ?? run.current;
    if (!answered) return;
    setProblem(step.error?.description?.defaultValue ?? "");
    show(run.current);
  };
  return { attempt, problem, failed, follow, startAgain };
}

/** The SDK's type does not know of additionalData, which its code reads. */
const asksForPasskey = ({ data }: { data: { additionalData?: Record<string, unknown>; actions?: unknown } }) =>
  Boolean(data.additionalData?.passkeyCreationOptions);
