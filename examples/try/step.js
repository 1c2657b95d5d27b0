// Renders any step of a flow from data.meta.components. Images are not
// rendered: the page loads nothing from other origins.
import { button, el, form, set } from "./dom.js";

const inputTypes = {
  TEXT_INPUT: { type: "text" },
  EMAIL_INPUT: { type: "email", spellcheck: "false" },
  PASSWORD_INPUT: { type: "password" },
  OTP_INPUT: { type: "text", inputmode: "numeric", autocomplete: "one-time-code" },
  PHONE_INPUT: { type: "tel" },
  NUMBER_INPUT: { type: "text", inputmode: "decimal" },
  DATE_INPUT: { type: "date" },
};

/**
 * Renders a step. show has values, which the user entered before; act, called
 * with an ACTION and its button; autofill, whether passkeys wait in a field.
 */
export function renderStep({ data }, show) {
  let components = data.meta?.components ?? [];
  if (show.autofill && !some(components, (c) => c.autocomplete?.includes("webauthn"))) {
    components = withAutofillField(components);
  }
  const context = { ...show, title: some(components, isHeading), faults: new Map((data.fieldErrors ?? []).map((f) => [f.identifier, f.message])) };
  const nodes = components.flatMap((c) => render(c, context));
  if (!context.title) nodes.unshift(...introduction(data.additionalData ?? {}));
  return some(components, (c) => c.type === "BLOCK") ? nodes : [form({}, ...nodes)];
}

/** The values of the form around a button, by identifier; empty ones left out. */
export function collect(node) {
  const values = {};
  for (const input of node.closest("form")?.querySelectorAll("[data-input]") ?? []) {
    if (input.value !== "") values[input.dataset.input] = input.value;
  }
  return values;
}

/** Finds the ACTION that starts the passkey ceremony. */
export const trigger = ({ data }) => some(data.meta?.components ?? [], (c) => c.type === "ACTION" && c.eventType === "TRIGGER");

function some(components, wanted) {
  for (const c of components) {
    const found = wanted(c) ? c : some(c.components ?? [], wanted);
    if (found) return found;
  }
  return undefined;
}

const isHeading = (c) => c.type === "TEXT" && (c.variant ?? "").startsWith("HEADING");

function render(component, context) {
  const { id, type, label = "", components = [] } = component;
  switch (type) {
    case "TEXT":
    case "RICH_TEXT":
      return isHeading(component) ? heading(label, component === context.title) : el("p", { id: `text-${id}` }, label);
    case "DIVIDER":
      return el("hr");
    case "BLOCK":
      return form({ id: `block-${id}` }, ...components.flatMap((c) => render(c, context)));
    case "STACK":
      return el("div", { class: "stack" }, ...components.flatMap((c) => render(c, context)));
    case "ACTION":
      return action(component, context);
    case "SELECT":
      return labelled(component, context, selection(component));
  }
  if (inputTypes[type]) return labelled(component, context, el("input", inputTypes[type]));
  return label ? el("p", {}, label) : [];
}

// The first heading is the page's, and gets the focus.
const heading = (label, first) => el(first ? "h1" : "h2", first ? { id: "heading", tabindex: "-1" } : {}, label);

// Steps that only start a ceremony have no text.
function introduction(data) {
  const ask = "Your device will ask for your fingerprint, face or screen lock.";
  if (data.passkeyCreationOptions) return [heading("Create a passkey", true), el("p", {}, `${ask} The key stays on it.`)];
  if (data.passkeyChallenge) return [heading("Sign in with a passkey", true), el("p", {}, ask)];
  return [heading("One more step", true)];
}

function action(component, { act }) {
  const starts = component.eventType === "TRIGGER";
  const attributes = {
    id: `action-${component.id}`,
    "data-action": component.id,
    type: starts ? "button" : "submit", // Enter in a field must not open a dialog
    class: component.variant === "PRIMARY" ? "primary" : "",
  };
  return button(component.label || component.id, attributes, (node) => act(component, node));
}

function selection({ options = [] }) {
  return el("select", {}, el("option", { value: "" }, "Choose…"), ...options.map((o) => el("option", { value: o }, o)));
}

function labelled(component, { values, faults }, input) {
  const { ref = component.id, label = ref, required, placeholder, autocomplete, hint } = component;
  const fault = faults.get(ref);
  const id = `field-${ref}`;
  const extras = [];
  if (hint) extras.push(el("p", { id: `hint-${ref}`, class: "hint" }, hint));
  if (fault) extras.push(el("p", { id: `error-${ref}`, class: "fault" }, fault));
  set(input, {
    id, name: ref, "data-input": ref, required, placeholder, autocomplete,
    autocapitalize: /username|email/.test(autocomplete) && "none",
    "aria-invalid": fault && "true",
    "aria-describedby": extras.map((e) => e.id).join(" ") || undefined,
  });
  if (component.type !== "PASSWORD_INPUT" && component.type !== "OTP_INPUT") input.value = values[ref] ?? "";
  const caption = el("label", { for: id }, label);
  if (!required && !hint) caption.append(" ", el("span", { class: "optional" }, "(optional)"));
  return el("div", { class: "field" }, caption, input, ...extras);
}

// A step whose passkeys may wait in the autofill has no field for them. The value
// entered there is carried over to a later step with that input.
function withAutofillField(components) {
  const field = {
    id: "autofill", type: "TEXT_INPUT", ref: "username", label: "Username",
    autocomplete: "username webauthn", hint: "Your browser may offer your passkey here.",
  };
  const i = components.findIndex((c) => c.type === "BLOCK");
  if (i < 0) return [field, ...components];
  return components.with(i, { ...components[i], components: [field, ...(components[i].components ?? [])] });
}
