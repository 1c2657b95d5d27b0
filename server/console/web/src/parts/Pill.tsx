// The state of something as a word with a color.
import type { ReactNode } from "react";

/** Tone is what a state means: well, wrong, needs attention, in progress, or nothing of these. */
export type Tone = "ok" | "bad" | "warn" | "info" | "" | "plain";

/** Pill shows a state. A plain one is a kind of something, and has no dot. */
export function Pill({ tone = "", children }: { tone?: Tone; children: ReactNode }) {
  return <span className={`pill ${tone}`.trim()}>{children}</span>;
}

const tones: Record<string, Tone> = { active: "ok", disabled: "bad", locked: "warn", UP: "ok", DOWN: "bad", signing: "ok", published: "info", next: "info", retired: "", expired: "" };

/** toneOf returns the tone of a state that the API names. */
export const toneOf = (state: string): Tone => tones[state] ?? "";
