// A conflict of two changes: what only one side changed is merged; of the members that both changed,
// one version is chosen.
import { Button } from "react-aria-components";
import { t } from "./texts";
import { reveal } from "./ui";

type Value = Record<string, unknown>;

const differs = (name: string, one: Value, other: Value) => JSON.stringify(one[name]) !== JSON.stringify(other[name]);

const isObject = (value: unknown): value is Value => typeof value === "object" && value !== null && !Array.isArray(value);

/** mergeMembers takes over what only the others changed, also in a member that is an object. */
export function mergeMembers(base: Value, mine: Value, theirs: Value): Value {
  const names = [...new Set([...Object.keys(mine), ...Object.keys(theirs)])];
  const merged = (name: string): unknown => {
    const [a, b, c] = [base[name], mine[name], theirs[name]];
    return isObject(a) && isObject(b) && isObject(c) ? mergeMembers(a, b, c) : differs(name, mine, base) ? b : c;
  };
  return Object.fromEntries(names.map((name) => [name, merged(name)]).filter(([, value]) => value !== undefined));
}

/** conflicting returns the members that both have changed, to different values. */
function conflicting(base: Value, mine: Value, theirs: Value): string[] {
  return [...new Set([...Object.keys(mine), ...Object.keys(theirs)])].filter((name) => {
    const [a, b, c] = [base[name], mine[name], theirs[name]];
    return isObject(a) && isObject(b) && isObject(c) ? conflicting(a, b, c).length > 0 : differs(name, mine, theirs) && differs(name, base, theirs);
  });
}

/** Conflict shows the members that both have changed since the base. */
export function Conflict({ base, mine, theirs, onMerge, onDone }: { base: Value; mine: Value; theirs: Value; onMerge: (merged: Value) => void; onDone: () => void }) {
  const names = conflicting(base, mine, theirs);
  return (
    <div ref={reveal} role="alert" className="notice bad">
      <p><strong>{t("Someone else has changed this in the meantime.")}</strong> {names.length > 0 ? t("Your changes are kept. Both of you changed these members:") : t("The changes do not conflict.")}</p>
      {names.length > 0 && <div className="scroll">
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
      </div>}
      <Button className="primary" onPress={onDone}>{t("Save")}</Button>
    </div>
  );
}
