import { SignUp } from "@thunderid/react";
import { useRetry } from "./useRetry";

/** Signs up with the application's flow, whatever its steps. */
export function SignUpForm() {
  const { attempt, problem, failed, follow, startAgain } = useRetry();
  return (
    <>
      {problem && <p role="alert">{problem}</p>}
      <SignUp key={attempt} showLogo={false} onError={failed} onFlowChange={follow} />
      {problem && <button id="start-again" onClick={startAgain}>Start again</button>}
    </>
  );
}
