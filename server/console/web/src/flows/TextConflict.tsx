// A conflict of two changes of a text: what only one side changed is merged; of the passages that both
// changed, one is chosen.
import { diff3Merge } from "node-diff3";
import { useMemo, useState } from "react";
import { Button } from "react-aria-components";
import { t } from "../texts";

type Side = "mine" | "theirs";

/** Versions are the text that was loaded, and what each side made of it. */
export interface Versions {
  base: string;
  mine: string;
  theirs: string;
}

export function TextConflict({ versions: { base, mine, theirs }, onMerge }: { versions: Versions; onMerge: (merged: string) => void }) {
  const parts = useMemo(() => diff3Merge(mine.split("\n"), base.split("\n"), theirs.split("\n"), { excludeFalseConflicts: true }), [base, mine, theirs]);
  const [choices, setChoices] = useState<Record<number, Side>>({});
  const conflicts = parts.flatMap((part, index) => (part.conflict ? [{ index, mine: part.conflict.a, theirs: part.conflict.b }] : []));
  const merged = parts.flatMap((part, index) => part.ok ?? (choices[index] === "theirs" ? part.conflict?.b : part.conflict?.a) ?? []);
  const isChosen = conflicts.every(({ index }) => choices[index]);
  return (
    <div role="alert" className="notice bad">
      <p><strong>{t("Someone else has changed this in the meantime.")}</strong> {conflicts.length > 0 ? t("Both of you changed these passages. Choose one of each.") : t("The changes do not conflict.")}</p>
      {conflicts.map((conflict, i) => (
        <div key={conflict.index} role="group" aria-label={t("Passage {n}", { n: i + 1 })} className="columns">
          {([["mine", t("Yours"), t("Keep mine")], ["theirs", t("Theirs"), t("Take theirs")]] as const).map(([side, name, action]) => (
            <div key={side}>
              <p><strong>{name}</strong></p>
              <pre>{conflict[side].join("\n")}</pre>
              <Button aria-pressed={choices[conflict.index] === side} className={choices[conflict.index] === side ? "primary" : ""} onPress={() => setChoices({ ...choices, [conflict.index]: side })} aria-label={`${action}: ${i + 1}`}>{action}</Button>
            </div>
          ))}
        </div>
      ))}
      <Button className="primary" isDisabled={!isChosen} onPress={() => onMerge(merged.join("\n"))}>{t("Merge the changes")}</Button>
    </div>
  );
}
