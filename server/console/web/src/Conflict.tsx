// A conflict of two changes: both versions of each member that differs, to choose from.
import { Button } from "react-aria-components";
import { t } from "./texts";

type Value = Record<string, unknown>;

export function Conflict({ mine, theirs, onMerge, onDone }: { mine: Value; theirs: Value; onMerge: (merged: Value) => void; onDone: () => void }) {
  const names = [...new Set([...Object.keys(mine), ...Object.keys(theirs)])].filter((name) => JSON.stringify(mine[name]) !== JSON.stringify(theirs[name]));
  return (
    <div role="alert" className="notice bad">
      <p><strong>{t("Someone else has changed this in the meantime.")}</strong> {t("Your changes are kept. These members differ:")}</p>
      <div className="scroll">
        <table>
          <thead><tr><th scope="col">{t("Name")}</th><th scope="col">{t("Yours")}</th><th scope="col">{t("Theirs")}</th><td /></tr></thead>
          <tbody>
            {names.map((name) => (
              <tr key={name}>
                <th scope="row"><code>{name}</code></th>
                <td><pre>{JSON.stringify(mine[name], null, 1)}</pre></td>
                <td><pre>{JSON.stringify(theirs[name], null, 1)}</pre></td>
                <td><Button onPress={() => onMerge(theirs[name] === undefined ? Object.fromEntries(Object.entries(mine).filter(([other]) => other !== name)) : { ...mine, [name]: theirs[name] })} aria-label={`${t("Take theirs")}: ${name}`}>{t("Take theirs")}</Button></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Button className="primary" onPress={onDone}>{t("Save")}</Button>
    </div>
  );
}
