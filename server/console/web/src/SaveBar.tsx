// The changes of a form, in words, before they are stored.
import { useEffect, useRef, useState } from "react";
import { Button } from "react-aria-components";
import { Keys } from "./parts/Keys";
import { t } from "./texts";

/** most limits the changes that are named. */
const most = 4;

/** isApple reports whether shortcuts have the Command key. */
export const isApple = /Mac|iPhone|iPad/.test(navigator.platform);

/** SaveBar is shown while there are changes, and after they were stored until the focus leaves it. Its button submits the form around it, as Ctrl or Cmd with S does. */
export function SaveBar({ changes, isBusy, done, onDiscard }: { changes: string[]; isBusy: boolean; done: string | undefined; onDiscard: () => void }) {
  const bar = useRef<HTMLDivElement>(null);
  const [isUsed, setUsed] = useState(false);
  const isShown = changes.length > 0 || isBusy || isUsed;
  useEffect(() => {
    const save = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === "s" && (event.metaKey || event.ctrlKey) && !event.altKey && !event.shiftKey) {
        event.preventDefault();
        if (changes.length > 0 && !isBusy) {
          bar.current?.closest("form")?.requestSubmit();
        }
      }
    };
    addEventListener("keydown", save);
    return () => removeEventListener("keydown", save);
  }, [changes.length > 0, isBusy]);
  const count = changes.length === 1 ? t("1 change") : t("{n} changes", { n: changes.length });
  const rest = changes.length - most;
  return (
    <div ref={bar} onFocus={() => setUsed(true)} onBlur={({ relatedTarget }) => !bar.current?.contains(relatedTarget) && document.hasFocus() && setUsed(false)} className={isShown ? "save-bar" : ""}>
      {isShown && <p className="what">{changes.length > 0 && <><strong>{count}</strong>{changes.slice(0, most).join(" · ")}{rest > 0 && ` · ${t("{n} more", { n: rest })}`}</>}</p>}
      <span role="status" className={isShown ? "" : "quiet"}>{done}</span>
      {isShown && (
        <>
          {changes.length > 0 && <Button className="bare" isDisabled={isBusy} onPress={onDiscard}>{t("Discard")}</Button>}
          <Button type="submit" className="primary" isDisabled={isBusy} aria-keyshortcuts={isApple ? "Meta+S" : "Control+S"}>{t("Save")}<Keys text={isApple ? "⌘S" : "Ctrl S"} /></Button>
        </>
      )}
    </div>
  );
}
