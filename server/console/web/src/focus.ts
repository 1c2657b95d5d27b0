// The focus of the keyboard after a change of the page has removed or disabled the focused element.

const parts = "section, fieldset, .graph, main";

/** keepFocus moves the focus to the part around an element that had it and vanished, and returns it to an
 * element that was disabled for a while. It returns a function that ends this. */
export function keepFocus(main: HTMLElement): () => void {
  let last: HTMLElement | undefined;
  let around: Element[] = []; // the parts that contain it, from the inside
  const remember = ({ target }: FocusEvent) => {
    if (target instanceof HTMLElement && target !== main) {
      last = target;
      around = [];
      for (let part = target.closest(parts); part; part = part.parentElement?.closest(parts) ?? null) {
        around.push(part);
      }
    }
  };
  const forget = ({ target }: Event) => { // a click on no control takes the focus away on purpose
    if (target instanceof Element && !target.closest("a, button, input, select, textarea, summary, label, [tabindex], [contenteditable]")) {
      last = undefined;
    }
  };
  let frame = 0;
  const restore = () => {
    if (!last || document.activeElement !== document.body || !document.hasFocus()) {
      return;
    }
    if (last.isConnected) {
      last.focus({ preventScroll: true }); // unless it is still disabled
      return;
    }
    const part = around.find((one) => one.isConnected) ?? main;
    last = undefined;
    focusPart(part);
  };
  const observer = new MutationObserver(() => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => { frame = requestAnimationFrame(restore); }); // a dialog that closes returns the focus itself
  });
  main.addEventListener("focusin", remember);
  document.addEventListener("pointerdown", forget, true);
  observer.observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ["disabled"] });
  return () => {
    main.removeEventListener("focusin", remember);
    document.removeEventListener("pointerdown", forget, true);
    observer.disconnect();
    cancelAnimationFrame(frame);
  };
}

/** focusPart moves the focus to the heading of a part of the page, to the first node of a graph, or to the whole page. */
function focusPart(part: Element) {
  const target = part.matches("main") ? part : part.querySelector<HTMLElement>(part.matches(".graph") ? ".react-flow__node" : "h2, h3, legend") ?? part;
  if (target instanceof HTMLElement) {
    if (!target.hasAttribute("tabindex")) {
      target.tabIndex = -1;
    }
    target.focus();
  }
}
