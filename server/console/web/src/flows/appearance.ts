// The colors of the text editor, in light and dark.
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const frame = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--back)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { color: "var(--quiet)", backgroundColor: "var(--panel)", borderRightColor: "var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "light-dark(#1d4fd80f, #8fb0ff1a)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "light-dark(#c8d8ff, #2d4474)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "light-dark(#1d4fd826, #8fb0ff40)" },
  ".cm-foldPlaceholder": { color: "var(--quiet)", backgroundColor: "var(--panel)", borderColor: "var(--line)" },
  ".cm-panels, .cm-tooltip": { color: "var(--text)", backgroundColor: "var(--panel)", borderColor: "var(--line)" },
  ".cm-panel.cm-panel-lint ul [aria-selected]": { color: "var(--text)", backgroundColor: "light-dark(#dbe5ff, #2d3a57)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { color: "var(--on-accent)", backgroundColor: "var(--accent)" },
  ".cm-diagnosticAction": { color: "#ffffff", backgroundColor: "#444444" },
});

const words = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string)], color: "light-dark(#a31515, #f0a58f)" },
  { tag: tags.comment, color: "light-dark(#3d6b35, #98c28e)" },
  { tag: [tags.meta, tags.keyword, tags.labelName, tags.typeName], color: "light-dark(#6f2da8, #d3a8f5)" },
]);

/** appearance is the extension that colors an editor. */
export const appearance = [frame, syntaxHighlighting(words)];
