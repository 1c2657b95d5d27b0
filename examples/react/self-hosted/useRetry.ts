import { useRef, useState } from "react";
import { ThunderIDRuntimeError } from "@thunderid/react";
import type { EmbeddedSignUpFlowResponse } from "@thunderid/react";

/**
 * Lets users continue after a failure that the SDK's forms do not handle.
 *
 * The SDK opens the passkey prompt when it receives the passkey step, but continues
 * to show the form of the previous step. If the user cancels the prompt, that form
 * submits an outdated step. So the form is recreated with a new
 * key: it requests the current step of the run, and shows the passkey step's button.
 */
export function useRetry() {
  const [attempt, setAttempt] = useState(0);
  const [problem, setProblem] = useState("");
  const run = useRef("");
  const asked = useRef(false); // the previous step was a passkey step

  /** Recreates the form at the step of a run, which SignIn also stores. */
  const show = (executionId: string) => {
    const url = new URL(window.location.href);
    url.searchParams.delete("executionId");
    if (executionId) url.searchParams.set("executionId", executionId);
    window.history.replaceState(null, "", url);
    asked.current = false;
    setAttempt((n) => n + 1);
  };
  /** Starts a new run after any other error. */
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
   * Call it for each step that SignUp reports. After a passkey step SignUp keeps
   * the token of the previous step, with which Postern rejects the next answer, and
   * does not show why the passkey was rejected.
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
