// The flow of the studio as state of React, in parts: a component is drawn again only for the part that
// it shows.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import { api, must } from "../api";
import { call, isAvailable, Unavailable } from "./checker";
import { FlowCheck } from "./flowcheck";

/** useSystem gives the checker what the flows of this server depend on, and reports when it is there. */
export function useSystem(): { isReady: boolean; error: unknown; readAt: number } {
  const read = useQuery({
    queryKey: ["/flows", "system"],
    enabled: isAvailable(),
    refetchOnWindowFocus: false,
    queryFn: async () => {
      try {
        await call("setSystem", must(await api.GET("/flows/system")));
      } catch (error) {
        if (!(error instanceof Unavailable)) {
          throw error;
        }
      }
      return Date.now(); // a new system: the text is checked again
    },
  });
  return { isReady: !isAvailable() || read.data !== undefined, error: read.error, readAt: read.data ?? 0 };
}

/** useFlowCheck checks a text, at first the given one, while the page is shown. */
export function useFlowCheck(text: string): { flow: FlowCheck; error: unknown } {
  const [flow] = useState(() => new FlowCheck(text));
  const system = useSystem();
  useEffect(() => {
    if (system.isReady) {
      flow.start();
    }
    return () => flow.stop();
  }, [flow, system.isReady, system.readAt]);
  const error = usePart(flow, ({ checked }) => checked.error);
  return { flow, error: system.error ?? error };
}

/** usePart returns a part of the flow: a value that stays the same while the part does not change. */
export function usePart<T>(flow: FlowCheck, part: (flow: FlowCheck) => T): T {
  return useSyncExternalStore(flow.subscribe, () => part(flow));
}
