// Shows any step of a flow from data.meta.components.
import { button, el, form, heading, icon, set } from "./dom.js";
import { phrase, t } from "./words.js";
import { picture } from "./theme.js";

const types = {
	TEXT_INPUT: { type: "text" },
	EMAIL_INPUT: { type: "email" },
	PASSWORD_INPUT: { type: "password" },
	OTP_INPUT: { type: "text", inputmode: "numeric", autocomplete: "one-time-code", class: "code" },
	PHONE_INPUT: { type: "tel" },
	NUMBER_INPUT: { type: "text", inputmode: "decimal" },
	DATE_INPUT: { type: "date" },
};

// What browsers fill into an input for which the flow does not say it.
const tokens = {
	username: "username", email: "email", phone_number: "tel", name: "name", given_name: "given-name", family_name: "family-name", birthdate: "bday",
};

/** The options of the step's passkey ceremony, if it has one. */
export function options({ data }) {
	const { passkeyCreationOptions, passkeyChallenge } = data.additionalData ?? {};
	const text = passkeyCreationOptions ?? passkeyChallenge;
	return text && JSON.parse(text);
}

/** The ACTION that starts that ceremony. */
export const trigger = (reply) => options(reply) && some(components(reply), (c) => c.type === "ACTION" && c.eventType === "TRIGGER");

/** Whether passkeys may wait in the autofill of a field. */
export const mediates = (reply) => Boolean(reply?.data.additionalData?.passkeyChallenge) &&
	(reply.data.additionalData.passkeyMediation === "conditional" || autofills(reply));

const components = ({ data }) => data.meta?.components ?? [];
const autofills = (reply) => some(components(reply), (c) => c.autocomplete?.includes("webauthn"));
const isHeading = (c) => c.type === "TEXT" && /^H/.test(c.variant);

function some(list, wanted) {
	for (const c of list) {
		const found = wanted(c) ? c : some(c.components ?? [], wanted);
		if (found) return found;
	}
	return undefined;
}

/**
 * Renders a step. context has typed, what was typed before; act, called with an
 * ACTION, its button and whether on another device; autofill, whether passkeys
 * can wait in a field; registers, whether the flow makes an account.
 */
export function renderStep(reply, context) {
	const list = components(reply);
	const faults = new Map(reply.data.fieldErrors?.map((f) => [f.identifier, f.message]));
	const show = { ...context, faults, trigger: trigger(reply), title: some(list, isHeading), above: [], below: [] };
	// A step that has no field for the autofill gets one. What is typed there is
	// carried over to the step that asks for it.
	if (context.autofill && mediates(reply) && !autofills(reply)) {
		show.above.push(field({ type: "TEXT_INPUT", ref: "username", label: t("username"), autocomplete: "username webauthn", carry: true }, show));
	}
	const nodes = list.flatMap((c) => render(c, show));
	const formed = some(list, (c) => c.type === "BLOCK") ? nodes : [form("heading", around(show, nodes))];
	return [...(show.title ? [] : introduction(reply, list, context)), ...formed];
}

// What the page adds to a form, once.
const around = ({ above, below }, nodes) => [...above.splice(0), ...nodes, ...below.splice(0)];

// Steps that only start a ceremony, or ask for a password, have no heading.
function introduction(reply, list, { registers }) {
	const ceremony = options(reply);
	const title = ceremony ? (ceremony.user ? "newKey" : "signIn") : some(list, (c) => types[c.type]) ? (registers ? "signUp" : "signIn") : "more";
	return [heading(t(title)), ceremony && el("p", { class: "lead" }, t(ceremony.user ? "newKeyText" : "keyText"))];
}

function render(component, show) {
	const { type, label = "", components: inner = [] } = component;
	const children = () => inner.flatMap((c) => render(c, show));
	switch (type) {
		case "TEXT":
		case "RICH_TEXT":
			if (component === show.title) return heading(phrase(label));
			return isHeading(component) ? el("h2", {}, phrase(label)) : label.split(/\n{2,}/).map((text) => el("p", {}, phrase(text)));
		case "IMAGE": {
			const src = picture(component.src ?? component.url);
			return src ? el("img", { src, alt: label, class: "picture" }) : [];
		}
		case "DIVIDER":
			return el("hr");
		case "BLOCK":
			return form("heading", around(show, children()));
		case "STACK":
			return el("div", { class: "stack" }, children());
		case "ACTION":
			return action(component, show);
	}
	if (types[type] || type === "SELECT") return field(component, show);
	return [label && el("p", {}, phrase(label)), ...children()];
}

function action(component, show) {
	const { id, label, variant, eventType } = component;
	const node = button(phrase(label || id), {
		id: `action-${id}`,
		type: eventType === "TRIGGER" ? "button" : "submit", // Enter in a field must not open a dialog
		class: variant?.toLowerCase(),
	}, (pressed) => show.act(component, pressed));
	if (component === show.trigger) {
		node.prepend(icon("key"));
		show.below.push(button(t("elsewhere"), { id: "elsewhere", class: "text" }, (pressed) => show.act(component, pressed, true)));
	}
	return node;
}

function field(component, { typed, faults, registers }) {
	const { type, ref = component.id, label = ref, required, placeholder, autocomplete, carry } = component;
	const secret = type === "PASSWORD_INPUT";
	const fault = faults.get(ref);
	const plain = /^(PASSWORD|EMAIL)/.test(type) || ref === "username";
	const input = type === "SELECT" ? selection(component) : el("input", types[type]);
	set(input, {
		id: `field-${ref}`, name: ref, placeholder, required, autocapitalize: plain && "none", spellcheck: plain && "false",
		[carry ? "data-carry" : "data-input"]: ref,
		autocomplete: autocomplete ?? types[type]?.autocomplete ?? (secret ? (registers ? "new-password" : "current-password") : tokens[ref]),
		"aria-invalid": fault && "true",
		"aria-describedby": fault && `error-${ref}`,
	});
	if (!secret && type !== "OTP_INPUT") input.value = typed[ref] ?? "";
	return el("div", { class: "field" },
		el("label", { for: input.id }, phrase(label), !required && !carry && el("span", { class: "soft" }, ` (${t("optional")})`)),
		secret ? el("div", { class: "secret" }, input, reveal(input)) : input,
		fault && el("p", { id: `error-${ref}`, class: "fault" }, phrase(fault)));
}

function selection({ options: choices = [] }) {
	const option = (o) => el("option", { value: o.value ?? o }, phrase(String(o.label ?? o.value ?? o)));
	return el("select", {}, el("option", { value: "" }, t("choose")), choices.map(option));
}

function reveal(input) {
	const name = () => {
		const label = t(input.type === "password" ? "show" : "hide");
		node.replaceChildren(label);
		node.ariaLabel = `${label}: ${t("password")}`;
	};
	const node = button("", { class: "reveal" }, () => {
		input.type = input.type === "password" ? "text" : "password";
		name();
	});
	name();
	return node;
}

/** The values of the form around a node: inputs, which answer the step, and typed, which may be shown again. */
export function collect(node) {
	const inputs = {};
	const typed = {};
	for (const { dataset, name, value, autocomplete } of node.form?.querySelectorAll("[name]") ?? []) {
		if (dataset.input && value !== "") inputs[name] = value;
		if (!/password|one-time/.test(autocomplete)) typed[name] = value;
	}
	return { inputs, typed };
}
