// Shows any step of a flow from data.meta.components.
import { button, el, form, heading, icon, initial, set } from "./dom.js";
import { phrase, t } from "./words.js";
import { picture } from "./theme.js";

const types = {
	TEXT_INPUT: { type: "text" },
	EMAIL_INPUT: { type: "email" },
	PASSWORD_INPUT: { type: "password", autocomplete: "current-password" },
	OTP_INPUT: { type: "text", inputmode: "numeric", autocomplete: "one-time-code" },
	PHONE_INPUT: { type: "tel" },
	NUMBER_INPUT: { type: "text", inputmode: "decimal" },
	DATE_INPUT: { type: "date" },
	SELECT: {},
};

// What browsers fill into an input for which the flow does not say it.
const tokens = { username: "username", email: "email", given_name: "given-name", family_name: "family-name" };

const stacks = { list: "ul", claims: "li" };

// The mark of a scope.
const marks = { profile: "id-card", email: "mail", account: "key-round" };

// The options of the step's passkey ceremony, if it has one.
export function options({ data }) {
	const { passkeyCreationOptions, passkeyChallenge } = data.additionalData ?? {};
	return JSON.parse(passkeyCreationOptions ?? passkeyChallenge ?? "null");
}

const components = ({ data }) => data.meta?.components ?? [];

const all = (list = []) => list.flatMap((c) => [c, ...all(c.components)]);

const some = (list, wanted) => all(list).find(wanted);

export const trigger = (reply) => options(reply) && some(components(reply), (c) => c.eventType === "TRIGGER");

export const mediates = (reply) => Boolean(reply?.data.additionalData?.passkeyChallenge) &&
	(reply.data.additionalData.passkeyMediation === "conditional" || autofills(reply));

const autofills = (reply) => some(components(reply), (c) => c.autocomplete?.includes("webauthn"));
const isHeading = (c) => c.type === "TEXT" && /^H/.test(c.variant);

// The action of a step that asks for nothing but the name that was typed before.
export function answered(reply, typed) {
	const list = all(components(reply));
	const fields = list.filter((c) => types[c.type]);
	const name = fields.length === 1 && ["username", "email"].includes(fields[0].ref) && typed.username;
	return name && !trigger(reply) && { action: list.find((c) => c.type === "ACTION").id, inputs: { [fields[0].ref]: name } };
}

// Renders a step. context has typed, what was typed before; act, called with an
// ACTION, its button and whether on another device; autofill, whether passkeys
// can wait in a field; registers, whether the flow makes an account; application,
// what the user signs in to, if the page should say it.
export function renderStep(reply, context) {
	const list = components(reply);
	const faults = new Map(reply.data.fieldErrors?.map((f) => [f.identifier, f.message]));
	const show = { ...context, faults, trigger: trigger(reply), title: some(list, isHeading), above: [], below: [], ways: [] };
	// A step that has no field for the autofill gets one. What is typed there is
	// carried over to the step that asks for it.
	if (context.autofill && mediates(reply) && !autofills(reply)) {
		show.above.push(field({ type: "TEXT_INPUT", ref: "username", label: "Username", autocomplete: "username webauthn", carry: true }, show));
		show.asks = ["username", "email", "password"].map((id) => some(list, (c) => c.type === "ACTION" && c.id === id)).find(Boolean);
	}
	const nodes = list.flatMap((c) => render(c, show));
	const formed = some(list, (c) => c.type === "BLOCK") ? nodes : [block(show, nodes)];
	return [...(show.title ? [] : introduction(reply, list, context)), ...formed];
}

// A form, with what the page adds to the first one.
const block = ({ above, below, ways }, nodes) => form("heading", above.splice(0), nodes, below.splice(0),
	ways.length > 0 && el("details", { class: "ways" }, el("summary", {}, t("Other ways")), el("div", { class: "stack" }, ways.splice(0))));

// Steps that only start a ceremony, or ask for a password, have no heading.
function introduction(reply, list, { registers, application }) {
	const ceremony = options(reply);
	const makes = ceremony?.user ? "Create a passkey" : "Sign in";
	const asks = registers ? "Create an account" : "Sign in";
	const title = ceremony ? makes : some(list, (c) => types[c.type]) ? asks : "One more step";
	return [title === "Sign in" ? greeting(application || undefined) : heading(t(title)), ceremony?.user && el("p", { class: "lead" }, t("Your device asks for your fingerprint, face or screen lock."))].flat();
}

// The heading of a sign-in. An unverified application chose its name itself, perhaps that of
// another, so the heading does not repeat it.
function greeting({ name, unverified } = {}) {
	if (!name || !unverified) return heading(name ? t("Sign in to {app}", { app: name }) : t("Sign in"));
	return [heading(t("Sign in")), el("p", { class: "lead" }, t("For an unverified app that calls itself “{app}”.", { app: name }))];
}

function render(component, show) {
	const { type, label = "", variant = "" } = component;
	const looks = variant.toLowerCase();
	const children = () => (component.components ?? []).flatMap((c) => render(c, show));
	switch (type) {
		case "TEXT":
		case "RICH_TEXT":
			if (component === show.title) return label === "Sign in" ? greeting(show.application || undefined) : heading(phrase(label));
			if (looks === "item") return el("li", {}, icon(marks[component.ref] ?? "check"), el("p", {}, phrase(label)));
			if (looks === "label") return el("span", { class: looks }, phrase(label));
			if (looks === "value") return el("span", { class: looks }, label);
			if (looks === "account") return el("p", { class: looks }, icon("user"), label);
			return isHeading(component) ? el("h2", {}, phrase(label)) : label.split(/\n{2,}/).map((text) => el("p", { class: looks }, phrase(text)));
		case "IMAGE": {
			const src = picture(component.src);
			return src ? el("img", { src, alt: label, class: "picture" }) : [];
		}
		case "DIVIDER":
			return el("hr");
		case "BLOCK":
			return block(show, children());
		case "STACK":
			return el(stacks[looks] ?? "div", { class: `stack ${looks}` }, looks === "client" && initial(component.components[0].label), children());
		case "ACTION":
			return action(component, show);
	}
	if (types[type]) return field(component, show);
	return [label && el("p", {}, phrase(label)), ...children()];
}

// The provider that a label names after "with".
const provider = (label) => / (?:with|mit|avec|con|com|met|z) (\p{Lu}.*)$/u.exec(label)?.[1];

// A button. A step with a passkey has one primary button: that of the passkey, or else the one that goes on with
// the name that is entered above it. Providers follow, and all other ways are behind one link.
function action(component, show) {
	const { act, trigger: starts, asks, above, below, ways } = show;
	const { id, label, variant, eventType } = component;
	// Enter in a field must not open a dialog.
	const type = eventType === "TRIGGER" ? "button" : "submit";
	const text = phrase(label || id);
	const at = starts && provider(text);
	const looks = (component === asks && "primary") || (asks && component === starts ? "" : variant?.toLowerCase());
	const node = button(component === asks ? t("Continue") : text, { id: `action-${id}`, type, class: at ? "provider" : looks, "data-carries": component === asks }, () => act(component, node));
	if (at) node.prepend(initial(at));
	if (component === asks) above.push(node, el("p", { class: "or" }, t("or")));
	if (component === starts) {
		node.prepend(icon("fingerprint-pattern"));
		ways.unshift(button(t("Use a phone or security key"), { id: "elsewhere" }, (pressed) => act(component, pressed, true)));
	}
	const folds = starts && component !== starts && component !== asks && !at;
	if (folds) ways.push(node);
	if (at) below.push(node);
	return folds || at || component === asks ? [] : node;
}

function field(component, { typed, faults, registers }) {
	const { type, ref = component.id, label = ref, required, placeholder, autocomplete = tokens[ref], carry } = component;
	const secret = type === "PASSWORD_INPUT";
	const fault = faults.get(ref);
	const literal = /email|username|password/i.test(type + ref);
	const input = type === "SELECT" ? selection(component) : el("input", types[type]);
	set(input, {
		id: `field-${ref}`, name: ref, [carry ? "data-carry" : "data-input"]: true,
		placeholder, required, autocomplete: autocomplete ?? (secret && registers && "new-password"),
		autocapitalize: literal && "none", spellcheck: literal && "false",
		"aria-invalid": fault && "true", "aria-describedby": fault && `error-${ref}`,
	});
	if (!secret && type !== "OTP_INPUT") input.value = typed[ref] ?? "";
	return el("div", { class: "field" },
		el("label", { for: input.id }, phrase(label), !required && !carry && el("span", { class: "soft" }, " ", t("(optional)"))),
		secret ? el("div", { class: "secret" }, input, reveal(input)) : input,
		fault && el("p", { id: `error-${ref}`, class: "fault" }, phrase(fault)));
}

function selection({ options: choices = [] }) {
	const option = (o) => el("option", { value: o }, phrase(o));
	return el("select", {}, el("option", { value: "" }), choices.map(option));
}

function reveal(input) {
	return button(t("Show"), { class: "reveal", "aria-label": `${t("Show")}: ${t("Password")}`, "aria-pressed": "false" }, (pressed) => {
		input.type = input.type === "text" ? "password" : "text";
		pressed.setAttribute("aria-pressed", input.type === "text");
	});
}

// The values of the form around a node: inputs, which answer the step, and typed, which may be shown again.
export function collect({ form: around }) {
	const inputs = {};
	const typed = {};
	for (const { dataset, name, value, autocomplete } of (around ?? document.body).querySelectorAll("[name]")) {
		if ("input" in dataset && value !== "") inputs[name] = value;
		if (!/password|one-time/.test(autocomplete)) typed[name] = value;
	}
	return { inputs, typed };
}
