// The colors of the text editor, in light and dark.
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const frame = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--surface)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { color: "var(--ink-2)", backgroundColor: "var(--sunken)", borderRightColor: "var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "light-dark(#1c6b520d, #5fc6a014)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "light-dark(#cfe6dc, #24493c)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "light-dark(#1c6b5226, #5fc6a040)" },
  ".cm-foldPlaceholder": { color: "var(--ink-2)", backgroundColor: "var(--sunken)", borderColor: "var(--line)" },
  ".cm-panels, .cm-tooltip": { color: "var(--ink)", backgroundColor: "var(--sunken)", borderColor: "var(--line)" },
  ".cm-panel.cm-panel-lint ul [aria-selected]": { color: "var(--ink)", backgroundColor: "var(--green-soft)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { color: "var(--green-ink)", backgroundColor: "var(--green)" },
  ".cm-diagnosticAction": { color: "var(--green-ink)", backgroundColor: "var(--green)" },
});

const words = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--green)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--amber)" },
  { tag: tags.comment, color: "var(--ink-3)" },
  { tag: [tags.meta, tags.keyword, tags.labelName, tags.typeName], color: "var(--violet)" },
]);

/** appearance is the extension that colors an editor. */
export const appearance = [frame, syntaxHighlighting(words)];
