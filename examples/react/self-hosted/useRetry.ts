import { useState } from "react";
import { ThunderIDRuntimeError } from "@thunderid/react";

/**
 * Lets people try again when they cancelled their browser's passkey prompt, or
 * it failed.
 *
 * The SDK opens the prompt when it learns of the passkey step, and goes on to
 * show the form of the step before. Sent again, that form answers a question that
 * nobody asks any more, and is refused. So the form is made anew, by a new key:
 * it asks Postern where the run is, and shows the passkey step with its button.
 *
 * resume is called before that.
 */
export function useRetry(resume?: () => void) {
  const [attempt, setAttempt] = useState(0);
  const [problem, setProblem] = useState("");
  const failed = (error: unknown) => {
    const passkey = error instanceof ThunderIDRuntimeError && error.code.startsWith("browser-webauthn-");
    setProblem(passkey ? "The passkey was not used. You can try again." : textOf(error));
    if (!passkey) return;
    resume?.();
    setAttempt((n) => n + 1);
  };
  const startAgain = () => {
    sessionStorage.removeItem("thunderid_execution_id");
    setProblem("");
    setAttempt((n) => n + 1);
  };
  return { attempt, problem, failed, startAgain };
}

/** What an error says to people: the description of Postern's, where it is one. */
function textOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  try {
    return JSON.parse(message.slice(message.indexOf("{"))).description.defaultValue;
  } catch {
    return message;
  }
}
