// Actions that the server may refuse until the user has signed in again. After that sign-in, the page is shown
// again, and the action that the user had already confirmed goes on by itself: once, with the same arguments,
// and only for the same user.
import { useEffect, useRef } from "react";
import { RequestError } from "./api";
import { noteRefusal, takeAction } from "./session";

/** useAction returns a function that runs an action of the page. Its arguments must have no secrets: they are kept while the user signs in. fail gets the errors. */
export function useAction<Args>(key: string, act: (args: Args) => Promise<unknown>, fail: (error: unknown) => void): (args: Args) => Promise<void> {
  const run = async (args: Args) => {
    try {
      await act(args);
      noteRefusal(undefined);
    } catch (error) {
      noteRefusal(error instanceof RequestError && error.proof ? { key, args } : undefined);
      fail(error);
    }
  };
  const newest = useRef(run);
  newest.current = run;
  useEffect(() => {
    const taken = takeAction(key);
    if (taken) {
      void newest.current(taken.args as Args);
    }
  }, [key]);
  return run;
}
