// Makes 10,000 random changes of flows, with src/flows/edit.ts, and the same changes of the parsed
// definitions, and compares them. Run by TestEditsKeepTheText of package console, with the flow files
// as arguments. The seed is the environment variable SEED, 1 by default. If SAMPLES names a file, some
// of the texts are written there with their definitions, for another parser to compare.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { Lexer, parse } from "yaml";
import { compiled } from "./compiled.mjs";

const [{ edit, difference }, , { EditError }] = await compiled("edit", "configure", "flowtext");

let state = Number(process.env["SEED"] ?? 1);
function random(n) { // mulberry32
  state = (state + 0x6d2b79f5) | 0;
  let x = Math.imul(state ^ (state >>> 15), 1 | state);
  x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
  return ((x ^ (x >>> 14)) >>> 0) % n;
}
const pick = (list) => list[random(list.length)];

const targetsOf = (node) => (typeof node.next === "string" ? [["", node.next]] : Object.entries(node.next ?? {}));

/** model makes the change of a parsed definition. */
function model(flow, change, outcomes) {
  const after = structuredClone(flow);
  const node = after.nodes.find((one) => one.id === change.node);
  const drop = (one, outcome) => {
    if (outcome === "" || Object.keys(one.next).length === 1) {
      delete one.next;
    } else {
      delete one.next[outcome];
    }
  };
  switch (change.change) {
    case "add":
      after.nodes.push({ id: change.node, use: change.use });
      break;
    case "remove":
      after.nodes = after.nodes.filter((one) => one !== node);
      for (const one of after.nodes) {
        targetsOf(one).filter(([, target]) => target === change.node).forEach(([outcome]) => drop(one, outcome));
      }
      break;
    case "rename": {
      const renamed = (id) => (id === change.node ? change.to : id);
      for (const one of after.nodes) {
        one.id = renamed(one.id);
        if (typeof one.next === "string") {
          one.next = renamed(one.next);
        } else if (one.next) {
          one.next = Object.fromEntries(Object.entries(one.next).map(([outcome, target]) => [outcome, renamed(target)]));
        }
      }
      after.waive?.forEach((waiver) => { waiver.node = renamed(waiver.node); });
      break;
    }
    case "connect":
      if (change.outcome === "") {
        node.next = change.target;
      } else if (typeof node.next === "string") {
        const all = outcomes.includes(change.outcome) ? outcomes : [...outcomes, change.outcome];
        node.next = Object.fromEntries(all.map((outcome) => [outcome, outcome === change.outcome ? change.target : node.next]));
      } else {
        node.next = { ...node.next, [change.outcome]: change.target };
      }
      break;
    case "disconnect":
      drop(node, change.outcome);
      break;
    case "configure":
      delete node.with;
      if (change.with !== undefined && (Object.keys(change.with).length > 0 || isEmptyObject(flow.nodes.find((one) => one.id === change.node).with))) {
        node.with = change.with;
      }
      break;
  }
  return after;
}

const isObject = (value) => typeof value === "object" && value !== null;
const isEmptyObject = (value) => isObject(value) && Object.keys(value).length === 0;

// Values that a text needs quotes or several lines for, among others.
const values = [
  "plain", "two words", "", " led by a space", "ends with one ", "no", "true", "null", "~", "12", "0x1f", "1e3", "2001-01-01", "- dash", "#", "a # b", "a: b", "a:", "a:b", "it's", 'say "go"', "back\\slash",
  "a, b", "[a]", "{a: b}", "user.type == \"Person\" && has(user.email)", "x ? y : z", "*alias", "&anchor", "!tag", "%", "@", "`", "|", ">", "?", "<<", "=", "line\nline", "line\nline\n", "\n", "ends\n\n", "a\tb", "\u0007", "\u0085", "\u2028", "\ufeff",
  "Über uns", "日本語", "\ud83d\ude00", "--- end", "a\r\nb", true, false, null, 0, -1, 1.5, 1e21, [], {}, ["a", "no"], { a: "b" }, [{ ref: "x", label: "X: y" }, { ref: "z" }], { "a b": { "1": [1, [2, "c, d"]] }, "yes": "n" },
];

/** alter returns a value with a random change at a random depth. */
function alter(value) {
  if (!isObject(value) || random(8) === 0) {
    return structuredClone(pick(values));
  }
  if (Array.isArray(value)) {
    const list = [...value];
    const at = random(list.length + 1);
    switch (random(4)) {
      case 0:
        list.splice(at, 0, structuredClone(pick(values)));
        return list;
      case 1:
        list.splice(at, 1);
        return list;
      case 2: {
        const [item] = list.splice(Math.min(at, list.length - 1), 1);
        list.splice(random(list.length + 1), 0, ...(item === undefined ? [] : [item]));
        return list;
      }
      default:
        return list.map((item, i) => (i === at ? alter(item) : item));
    }
  }
  const names = Object.keys(value);
  const name = random(3) === 0 || names.length === 0 ? pick(["title", "label", "y", "a b", "inputs", "1st"]) : pick(names);
  if (random(4) === 0) {
    const { [name]: _, ...others } = value;
    return others;
  }
  return { ...value, [name]: name in value ? alter(value[name]) : structuredClone(pick(values)) };
}

/** configuration returns another configuration of a node, after one change or several. */
function configuration(node) {
  let after = node.with ?? {};
  for (let n = random(6) === 0 ? 4 : 1; n > 0; n--) {
    const changed = alter(after);
    after = isObject(changed) && !Array.isArray(changed) ? changed : after;
  }
  return random(20) === 0 ? undefined : after;
}

/** comments returns the comments of a text. */
function comments(text) {
  const tokens = [...new Lexer().lex(text)];
  return tokens.filter((token, i) => token.startsWith("#") && tokens[i - 1] !== "\u001f"); // which precedes a scalar
}

/** randomChange returns a change that fits the definition, with the outcomes of the node. */
function randomChange(flow, i) {
  const node = pick(flow.nodes);
  const target = random(6) === 0 ? "end" : pick(flow.nodes).id;
  const outcomes = random(3) === 0 ? [] : ["success", "failure", "other"];
  const edges = targetsOf(node);
  switch (random(8)) {
    case 5: case 6: case 7:
      return [{ change: "configure", node: node.id, with: configuration(node) }];
    case 0:
      return [{ change: "add", node: pick(["yes", "n", "null", "node", "Step-up"]) + (random(4) === 0 ? "" : `_${i}`), use: pick(["prompt", "passkey-authenticate"]) }];
    case 1:
      return [{ change: "remove", node: node.id }];
    case 2:
      return [{ change: "rename", node: node.id, to: pick(["no", "true", "renamed", "off"]) + (random(4) === 0 ? "" : `-${i}`) }];
    case 3:
      return [{ change: "connect", node: node.id, outcome: pick(["", "success", "failure", "yes", "1st", ...edges.map(([outcome]) => outcome)]), target }, outcomes];
    default:
      return [{ change: "disconnect", node: node.id, outcome: pick(["success", ...edges.map(([outcome]) => outcome)]) }];
  }
}

/** inverse returns the change that restores the text, if there is one: quotes stay once they are needed. */
function inverse(flow, change) {
  const written = change.to ?? change.target ?? "a";
  if (/^(y|n|yes|no|on|off|true|null)$/i.test(written)) {
    return undefined;
  }
  const node = flow.nodes.find((one) => one.id === change.node);
  switch (change.change) {
    case "add":
      return JSON.stringify(flow).includes(`"${change.node}"`) ? undefined : { change: "remove", node: change.node };
    case "rename": // unless something names a node that is missing
      return JSON.stringify(flow).includes(`"${change.to}"`) ? undefined : { change: "rename", node: change.to, to: change.node };
    case "connect": {
      const before = targetsOf(node).find(([outcome]) => outcome === change.outcome);
      if (before) {
        return { ...change, target: before[1] };
      }
      return !("next" in node) || change.outcome !== "" && node.next && typeof node.next === "object" ? { change: "disconnect", node: change.node, outcome: change.outcome } : undefined;
    }
  }
}

/** unchangedAround reports whether a change is between the ids of the nodes before and after its own. */
function unchangedAround(text, after, flow, change) {
  if (text === after) {
    return true;
  }
  const { from, to } = difference(text, after);
  const own = flow.nodes.findIndex((one) => one.id === change.node);
  const placeOf = (index, otherwise) => (flow.nodes[index] ? text.search(new RegExp(`\\bid"?:\\s*["']?${flow.nodes[index].id}(?![\\w-])`)) : otherwise);
  return from >= placeOf(own - 1, 0) && to <= placeOf(own + 1, text.length);
}

const files = process.argv.slice(2).map((name) => readFileSync(name, "utf8"));
const styles = files.flatMap((text) => [text, text.replaceAll("\n", "\r\n"), JSON.stringify(parse(text)), JSON.stringify(parse(text), null, 2)]);
let made = 0;
const samples = [];
let refused = 0;
let refusedForms = 0;
let restored = 0;
for (let i = 0; made < 10000; i++) {
  let text = pick(styles);
  let flow = parse(text);
  let remarks = comments(text);
  for (let step = 0; step < 12; step++) {
    const [change, outcomes = []] = randomChange(flow, i);
    const say = (what) => `${what}: ${JSON.stringify(change)} with ${JSON.stringify(outcomes)} of\n${text}`;
    let after;
    try {
      after = edit(text, change, outcomes);
    } catch (error) {
      assert.ok(error instanceof EditError, say(error.stack));
      refused++;
      refusedForms += change.change === "configure" ? 1 : 0;
      continue;
    }
    made++;
    const flowAfter = parse(after);
    const remarksAfter = comments(after);
    assert.deepEqual(flowAfter, model(flow, change, outcomes), say(`gives\n${after}\n`));
    const replaces = change.change === "remove" || change.change === "configure" || change.change === "connect" && change.outcome === ""; // the text of several targets
    if (replaces) {
      assert.ok(remarksAfter.every((remark) => remarks.includes(remark)), say(`adds a comment in\n${after}\n`));
    } else if (change.change !== "disconnect") {
      assert.deepEqual(remarksAfter, remarks, say(`changes the comments in\n${after}\n`));
    }
    if (change.change === "connect" || change.change === "configure") {
      assert.ok(unchangedAround(text, after, flow, change), say(`changes other nodes in\n${after}\n`));
    }
    assert.equal(after.includes("\r\n"), text.includes("\r\n"), say("changes the line breaks"));
    const back = inverse(flow, change);
    if (back) {
      assert.equal(edit(after, back, outcomes), text, say(`${JSON.stringify(back)} does not restore it from\n${after}\n`));
      restored++;
    }
    const { from, to, insert } = difference(text, after);
    assert.equal(text.slice(0, from) + insert + text.slice(to), after);
    [text, flow, remarks] = [after, flowAfter, remarksAfter];
  }
  samples.push(JSON.stringify({ text, definition: flow }));
}
if (process.env["SAMPLES"]) {
  writeFileSync(process.env["SAMPLES"], samples.join("\n"));
}
assert.equal(refusedForms, 0, "forms can change every text");
console.log(`${made} changes, ${restored} restored, ${refused} refused`);
