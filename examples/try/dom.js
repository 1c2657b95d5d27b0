// Building the page. Text from the server becomes text nodes and attribute
// values, never markup.

/** Finds an element by its id. */
export const byId = (id) => document.getElementById(id);

/** Sets attributes; those that are undefined or false are left out. */
export function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
}

/** Makes an element. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  set(node, attributes);
  node.append(...children);
  return node;
}

/** Makes a button that calls act with itself. */
export function button(label, attributes, act) {
  const node = el("button", { type: "button", ...attributes }, label);
  node.addEventListener("click", () => act(node));
  return node;
}

/** Makes a form that never leaves the page. */
export function form(attributes, ...children) {
  // The server says what is wrong with an answer; the browser's own check
  // would keep the user from choosing another action.
  const node = el("form", { novalidate: true, ...attributes }, ...children);
  node.addEventListener("submit", (event) => event.preventDefault());
  return node;
}
