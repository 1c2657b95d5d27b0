// Writes the icons of Lucide that Postern uses to internal/design/icons.json: `npm run icons`.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const names = `
  activity arrow-left arrow-right arrow-up at-sign ban bell book-open building calendar chart-line check chevron-down chevron-left
  chevron-right chevron-up chevrons-up-down circle circle-alert circle-check circle-question-mark circle-x clock code columns-3 copy
  corner-down-left door-open download ellipsis external-link eye eye-off file-text fingerprint-pattern flag git-compare globe
  grip-vertical hash rotate-ccw-clock house id-card image info key-round keyboard languages layers layout-grid link list-checks list-filter
  loader-circle lock lock-open log-in log-out mail map maximize menu message-square minus monitor moon network palette panel-left
  pencil phone play plug plus qr-code redo-2 refresh-cw rotate-ccw scroll-text search send server settings shield shield-alert
  shield-check smartphone split square star sun table-2 terminal trash triangle-alert undo-2 unlink upload user user-minus
  user-plus user-x users webhook workflow x zap zoom-in zoom-out
`.trim().split(/\s+/);

const require = createRequire(import.meta.url);
const all = JSON.parse(readFileSync(require.resolve("lucide-static/icon-nodes.json")));
const lines = names.map((name) => {
  if (all[name] === undefined) {
    throw new Error(`lucide-static has no icon ${name}; https://lucide.dev/icons lists them`);
  }
  return `${JSON.stringify(name)}: ${JSON.stringify(all[name])}`;
});
writeFileSync(new URL("../../../internal/design/icons.json", import.meta.url), `{\n${lines.join(",\n")}\n}\n`);
