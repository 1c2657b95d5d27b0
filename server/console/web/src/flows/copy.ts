// A copy of a flow for a new one: the same text, with a handle and a name that are free.
import { condition, readList } from "../listing";
import { type Item, nouns } from "../nouns";
import { t } from "../texts";
import { memberOf, rangeOf, read, splice, word } from "./flowtext";
import { isScalar } from "yaml";

const most = { handle: 64, name: 200 }; // characters, as in the schema of flows
const room = 12; // for what a copy adds

/** copyOf returns the text of a flow, comments included, with a free handle and name. It fails if the text is not the one of a flow. */
export async function copyOf(text: string): Promise<string> {
  const { document } = read(text);
  const handle = String(document.get("handle")).replace(/-copy(-\d+)?$/, "").slice(0, most.handle - room);
  const name = String(document.get("name")).slice(0, most.name - room);
  const noun = nouns.find(({ path }) => path === "/flows") as (typeof nouns)[number];
  const list = (await readList(noun, new URLSearchParams({ limit: "100", filter: condition("handle", "sw", handle) })))[noun.plural] as Item[];
  const taken = new Set(list.flatMap((item) => [item["handle"], item["name"]]));
  for (let n = 1; ; n++) {
    const copy = n === 1 ? { handle: `${handle}-copy`, name: t("{name} (copy)", { name }) } : { handle: `${handle}-copy-${n}`, name: t("{name} (copy {n})", { name, n }) };
    if (!taken.has(copy.handle) && !taken.has(copy.name)) {
      return withMember(withMember(text, "handle", copy.handle), "name", copy.name);
    }
  }
}

/** withMember replaces the value of a member of the flow, and nothing else. */
function withMember(text: string, name: string, value: string): string {
  const old = memberOf(read(text).root, name)?.value;
  return isScalar(old) ? splice(text, rangeOf(old)[0], rangeOf(old)[1], word(text, value, old)) : text;
}
