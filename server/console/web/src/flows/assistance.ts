// Completion and hover of the editor, from the checker. Without the checker the editor has neither.
import { autocompletion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import type { Extension, Text } from "@codemirror/state";
import { hoverTooltip } from "@codemirror/view";
import { call, type Cursor } from "./checker";

/** assistance completes words and describes the one at the pointer. */
export const assistance: Extension = [autocompletion({ override: [complete] }), hoverTooltip(async (view, pos) => {
  const found = await call("describe", cursorAt(view.state.doc, pos)).catch(() => undefined);
  if (!found || (!found.text && found.facts.length === 0)) {
    return null;
  }
  return {
    pos,
    create: () => {
      const dom = document.createElement("div");
      dom.className = "hover";
      dom.append(element("strong", found.title), ...found.text.split("\n").map((line) => element("p", line)));
      if (found.facts.length > 0) {
        const list = document.createElement("ul");
        list.append(...found.facts.map((fact) => element("li", fact)));
        dom.append(list);
      }
      return { dom };
    },
  };
})];

function element(name: string, text: string): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function cursorAt(doc: Text, pos: number): Cursor {
  const line = doc.lineAt(pos);
  return { text: doc.toString(), line: line.number, column: [...line.text.slice(0, pos - line.from)].length };
}

async function complete(context: CompletionContext): Promise<CompletionResult | null> {
  const { typed, options } = await call("complete", cursorAt(context.state.doc, context.pos)).catch(() => ({ typed: "", options: [] }));
  if (options.length === 0 || (typed === "" && !context.explicit)) {
    return null;
  }
  return {
    from: context.pos - typed.length,
    options: options.map(({ label, insert, detail, doc }) => ({ label, apply: insert, detail, ...(doc ? { info: doc } : {}) })),
    validFor: /^[\w.:-]*$/,
  };
}
