import { SignIn } from "@thunderid/react";
import { useRetry } from "./useRetry";

/** Signs in with the application's flow, whatever its steps. */
export function SignInForm() {
  const { attempt, problem, failed, startAgain } = useRetry();
  return (
    <>
      {problem && <p role="alert">{problem}</p>}
      <SignIn key={attempt} onError={failed} />
      {problem && <button id="start-again" onClick={startAgain}>Start again</button>}
    </>
  );
}
