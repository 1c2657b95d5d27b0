import { useRef } from "react";
import { SignUp } from "@thunderid/react";
import { useRetry } from "./useRetry";

/** Signs up by the application's flow, whatever its steps ask. */
export function SignUpForm() {
  const run = useRef("");
  const { attempt, problem, failed, startAgain } = useRetry(() => {
    // A new SignUp takes up the run that the address names.
    const url = new URL(window.location.href);
    url.searchParams.set("executionId", run.current);
    window.history.replaceState(null, "", url);
  });
  return (
    <>
      {problem && <p role="alert">{problem}</p>}
      <SignUp
        key={attempt}
        showLogo={false}
        onError={failed}
        onFlowChange={(step) => { run.current = step.executionId ?? run.current; }}
      />
      {problem && <button id="start-again" onClick={startAgain}>Start again</button>}
    </>
  );
}
