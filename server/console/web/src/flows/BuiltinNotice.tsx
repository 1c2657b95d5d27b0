// The notice that a stored flow differs from the built-in flow of this release, which does not replace it.
import { useQuery } from "@tanstack/react-query";
import { Button } from "react-aria-components";
import { mayChange } from "../nouns";
import { t } from "../texts";
import { call, isAvailable } from "./checker";

/** BuiltinNotice compares the stored text; onUse puts the text of the built-in flow into the editor. */
export function BuiltinNotice({ text, onUse }: { text: string; onUse: (text: string) => void }) {
  const read = useQuery({
    queryKey: ["/flows", "builtin", text],
    enabled: isAvailable(),
    retry: false,
    queryFn: () => call("compareBuiltin", { text, json: false }),
  });
  const builtin = read.data;
  if (!builtin || builtin.differences.length === 0) {
    return null;
  }
  return (
    <div className="notice" role="status">
      {t("This flow differs from the built-in flow of this release, which does not replace modified flows.")}
      <details>
        <summary>{t("View the difference")}</summary>
        <ul className="differences">{builtin.differences.map(({ what, text }, i) => <li key={i} className={what === "lost" ? "bad" : ""}><code>{text}</code></li>)}</ul>
      </details>
      {mayChange("/flows") && <Button onPress={() => onUse(builtin.text)}>{t("Use the new version")}</Button>}
    </div>
  );
}
