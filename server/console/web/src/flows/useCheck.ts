// What the checker finds and proves of a text, at each change of it. The browser checks the text
// itself; if it cannot, the server does.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { api, must, send } from "../api";
import { call, type CheckResult, type Fix, isAvailable, type Proof, Unavailable } from "./checker";

export interface Checked {
  findings: CheckResult["findings"];
  /** checked is the text that the findings are about. */
  checked: string;
  /** fixes are those that findings name without doubt. */
  fixes: Fix[];
  error: unknown;
  /** proof is what is proven of the text; undefined while that is not known, or if nothing is. */
  proof: Proof | undefined;
}

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

/** useCheck checks a text at each change. A check that runs is finished; then the newest text is checked. */
export function useCheck(text: string): Checked {
  const system = useSystem();
  const [state, setState] = useState<Checked>({ findings: [], fixes: [], checked: "", error: undefined, proof: undefined });
  const wanted = useRef(text);
  const isRunning = useRef(false);
  const isMounted = useRef(true);
  wanted.current = text;

  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);

  useEffect(() => {
    if (!system.isReady) {
      return;
    }
    const run = async () => {
      if (isRunning.current) {
        return; // the check that runs goes on to the newest text
      }
      isRunning.current = true;
      for (let done: string | undefined; isMounted.current && done !== wanted.current;) {
        done = wanted.current;
        await check(done, (found) => isMounted.current && setState(found));
      }
      isRunning.current = false;
    };
    const timer = setTimeout(() => void run(), isAvailable() ? 0 : 150);
    return () => clearTimeout(timer);
  }, [text, system.isReady]);
  return system.error ? { ...state, error: system.error } : state;
}

async function check(text: string, report: (found: Checked) => void): Promise<void> {
  try {
    const { valid, findings } = await call("check", { text, json: false });
    const found = { findings, fixes: [], checked: text, error: undefined, proof: undefined };
    report(found);
    if (findings.length > 0) {
      report({ ...found, fixes: await call("fixes", { text, json: false }) });
    }
    if (valid) {
      report({ ...found, proof: await call("prove", { text, json: false }) });
    }
  } catch (error) {
    report(error instanceof Unavailable ? await checkOnServer(text) : { findings: [], fixes: [], checked: text, error, proof: undefined });
  }
}

async function checkOnServer(text: string): Promise<Checked> {
  try {
    const { data } = await send("POST", "/flows/check", text, { "Content-Type": "application/yaml" });
    return { findings: (data as CheckResult).findings, fixes: [], checked: text, error: undefined, proof: undefined };
  } catch (error) {
    return { findings: [], fixes: [], checked: text, error, proof: undefined };
  }
}
