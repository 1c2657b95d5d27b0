// The text of a scenario file. Changes keep everything else as it is, comments included.
import { isMap, isSeq, parseDocument } from "yaml";

/** addScenario adds a scenario, an item of a list that is indented by two spaces, as the last one. */
export function addScenario(file: string, scenario: string): string {
  const document = parseDocument(file, { logLevel: "silent" });
  const pair = isMap(document.contents) ? document.contents.items.find((item) => String(item.key) === "scenarios") : undefined;
  const whole = file.endsWith("\n") || file === "" ? file : `${file}\n`;
  if (!pair) {
    return `${whole}scenarios:\n${scenario}`;
  }
  const list = pair.value;
  const keyEnd = (pair.key as { range?: [number, number, number] }).range?.[1] ?? 0;
  if (!isSeq(list) || list.items.length === 0) {
    const end = isSeq(list) ? list.range?.[1] ?? keyEnd + 1 : keyEnd + 1;
    return `${file.slice(0, keyEnd)}:\n${scenario}${file.slice(end).replace(/^[ \t]*\n/, "")}`;
  }
  if (list.flow) {
    const definition = parseDocument(`scenarios:\n${scenario}`).toJS() as { scenarios: unknown[] };
    document.addIn(["scenarios"], definition.scenarios[0]);
    return document.toString({ lineWidth: 0 });
  }
  const [begin, , end] = list.range ?? [0, 0, whole.length];
  const indent = begin - (file.lastIndexOf("\n", begin - 1) + 1);
  const text = scenario.split("\n").map((line) => (line ? " ".repeat(indent) + line.slice(2) : line)).join("\n");
  const before = file.slice(0, end);
  return `${before}${before.endsWith("\n") ? "" : "\n"}${text}${file.slice(end)}`;
}

/** devicesOf returns the names of the devices of the users. */
export function devicesOf(file: string): string[] {
  const users = (parseDocument(file, { logLevel: "silent" }).toJS() as { users?: Record<string, { passkeys?: unknown; totp?: unknown } | null> } | null)?.users ?? {};
  const names = Object.values(users).flatMap((user) => [...(Array.isArray(user?.passkeys) ? user.passkeys : []), user?.totp]);
  return [...new Set(names.filter((name): name is string => typeof name === "string"))];
}
