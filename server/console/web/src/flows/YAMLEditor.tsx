// A text editor for YAML with the findings of the checker on their lines.
import { defaultKeymap, history, historyKeymap, indentWithTab, redo, undo } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, foldGutter, indentOnInput } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { Annotation, EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { type Ref, useEffect, useImperativeHandle, useRef } from "react";
import type { Finding } from "../api";
import { t } from "../texts";
import { appearance } from "./appearance";
import { assistance } from "./assistance";
import type { Fix } from "./checker";
import { difference } from "./edit";

const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";

/** fromPage marks changes that the page made: it has their text already. */
const fromPage = Annotation.define<boolean>();

/** Line is the line to show. */
export interface Line {
  number: number;
  /** keepsFocus leaves the focus where it is, for example in the graph. */
  keepsFocus?: boolean;
}

/** Changes takes back and repeats changes of the text, whatever made them. */
export interface Changes {
  undo: () => boolean;
  redo: () => boolean;
}

export function YAMLEditor({ label, text, findings, fixes, line, changes, onChange }: { label: string; text: string; findings: Finding[]; fixes?: Fix[]; line: Line | undefined; changes?: Ref<Changes>; onChange: (text: string) => void }) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const change = useRef(onChange);
  change.current = onChange;

  useEffect(() => {
    if (!host.current) {
      return;
    }
    const editor = new EditorView({
      parent: host.current,
      // The change is reported first: the text is checked while the editor draws it.
      dispatchTransactions: (transactions, changed) => {
        if (transactions.some(({ docChanged }) => docChanged) && !transactions.some((transaction) => transaction.annotation(fromPage))) {
          change.current(transactions[transactions.length - 1]?.newDoc.toString() ?? "");
        }
        changed.update(transactions);
      },
      state: EditorState.create({
        doc: text,
        extensions: [
          EditorView.cspNonce.of(nonce),
          lineNumbers(), foldGutter(), history(), drawSelection(), indentOnInput(), bracketMatching(), highlightActiveLine(), lintGutter(),
          yaml(), appearance,
          keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap, indentWithTab]),
          ...(fixes ? [assistance] : []), // the text is a flow
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": label, "aria-description": t("Press Escape and then Tab to leave the editor."), tabindex: "0" }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [label]);

  useEffect(() => {
    const editor = view.current;
    const shown = editor?.state.sliceDoc() ?? text;
    if (editor && shown !== text.replaceAll("\r\n", "\n")) {
      editor.dispatch({ changes: difference(shown, text.replaceAll("\r\n", "\n")), userEvent: "input.graph", annotations: fromPage.of(true) });
    }
  }, [text]);

  useImperativeHandle(changes, () => ({
    undo: () => view.current !== null && undo(view.current),
    redo: () => view.current !== null && redo(view.current),
  }), []);

  // While a new text is checked, the editor keeps the findings where they are. What it shows depends on the
  // findings alone: typing can remove an underline and leave its marker at the line.
  useEffect(() => {
    const editor = view.current;
    if (editor) {
      editor.dispatch(setDiagnostics(editor.state, findings.flatMap((finding, i) => diagnostic(editor.state, finding, (fixes ?? []).filter((fix) => fix.finding === i)))));
    }
  }, [findings, fixes]);

  useEffect(() => {
    const editor = view.current;
    if (editor && line && line.number <= editor.state.doc.lines) {
      const at = editor.state.doc.line(line.number).from;
      editor.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
      if (!line.keepsFocus) {
        editor.focus();
      }
    }
  }, [line]);

  return <div ref={host} className="editor" />;
}

function diagnostic(state: EditorState, finding: Finding, fixes: Fix[]): Diagnostic[] {
  if (!finding.line || finding.line > state.doc.lines) {
    return [];
  }
  const line = state.doc.line(finding.line);
  const from = Math.min(line.from + Math.max(0, (finding.column ?? 1) - 1), line.to);
  return [{ from, to: line.to, severity: finding.warning ? "warning" : "error", message: finding.message, actions: fixes.map((fix) => ({ name: fix.title, apply: (view: EditorView) => void (view.state.doc.eq(state.doc) && applyFix(view, fix)) })) }];
}

/** applyFix makes the change of a fix. */
export function applyFix(view: EditorView, fix: Fix) {
  const line = view.state.doc.line(Math.min(fix.line, view.state.doc.lines));
  const offset = (column: number) => line.from + [...line.text].slice(0, column - 1).join("").length;
  view.dispatch({ changes: { from: offset(fix.column), to: offset(fix.endColumn), insert: fix.insert } });
}
