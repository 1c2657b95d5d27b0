// The parts of the account page about the user: the profile, and the password.
import { button, byId, el } from "./dom.js";
import { address, call } from "./wire.js";
import { dialog, limited } from "./account.js";
import { facts, offer, row, small } from "./accountparts.js";
import { phrase, t } from "./words.js";

// Shows what the account says of the user, and lets the user change it.
export function profileSection({ username, email, email_verified: verified }, fields, addresses) {
	const entry = (name, value, badge, more) => (value || more) && el("div", { class: "entry" }, el("dt", {}, name), el("dd", {}, value, badge, more));
	const badge = (text, kind = "") => el("span", { class: `badge ${kind}` }, text);
	const change = addresses && el("a", { class: "button small", id: "change-email", href: address("address", "applicationId") }, t(verified ? "Change the email address" : "Verify the email address"));
	return el("section", { "aria-labelledby": "profile" },
		el("div", { class: "top" }, el("h2", { id: "profile" }, t("Profile")), fields.some(({ owner }) => !owner) && button(t("Edit"), { id: "edit", class: "small" }, () => edit(fields))),
		el("dl", {}, entry(t("Username"), username), entry(t("Email address"), email, email && (verified ? badge(t("Verified")) : badge(t("Not verified"), "warn")), change),
			fields.map(({ title, name, value, owner }) => entry(phrase(title || name), value, owner && badge(owned(owner), "plain")))));
}

// Why the user cannot change an attribute.
const owned = ({ owner, providerName }) => ({
	provider: t("owned.provider", { provider: providerName ?? "" }), administrator: t("owned.administrator"), flow: t("owned.flow"),
})[owner];

// Attributes of another owner are shown, and cannot be changed.
function edit(fields) {
	const inputs = fields.map(({ name, value, required, options, owner }) => {
		const input = options ? el("select", {}, ["", ...options].map((o) => el("option", { value: o }, phrase(o)))) : el("input", { maxlength: 1000 });
		input.id = `profile-${name}`;
		input.required = required;
		input.value = value;
		input.disabled = owner !== undefined;
		if (owner) input.setAttribute("aria-describedby", `profile-${name}-owner`);
		return input;
	});
	const labeled = ({ title, name, owner }, i) => field(phrase(title || name), inputs[i], owner && el("p", { class: "soft", id: `${inputs[i].id}-owner` }, owned(owner)));
	dialog(t("Profile"), fields.map(labeled), "Save", "primary", "done", () => {
		const changed = fields.flatMap(({ name, value }, i) => (inputs[i].value.trim() === value ? [] : [[name, inputs[i].value.trim() || null]]));
		return changed.length ? call("PATCH", "users/me/profile", Object.fromEntries(changed)) : {};
	});
}

const field = (label, input, ...notes) => el("div", { class: "field" }, el("label", { for: input.id }, label), input, ...notes);

// The row of the password among the ways to sign in, null without one.
export const passwordRow = ({ password, passwordLimit, passwordNeeds }, unused, recent) => (password
	? row("key-round", t("Password"), "", facts(limited(passwordLimit), unused), small("Change", "password", t("Password"), () => recent(choose, passwordNeeds)), small("Delete", "password", t("Password"), remove))
	: null);

// The row that offers the first password.
export const passwordOffer = ({ password, passwordAllowed, passwordNeeds }, recent) => !password && passwordAllowed &&
	offer("key-round", "", "Set a password", "password", () => recent(choose, passwordNeeds));

function choose() {
	const input = el("input", { id: "new-password", type: "password", autocomplete: "new-password", required: true });
	dialog(t("Password"), [field(t("New password"), input), el("p", { class: "soft" }, t("You will be signed out in all other browsers."))], "Save", "primary", "done",
		() => call("PUT", "users/me/password", { password: byId(input.id).value }));
}

const remove = () => dialog(t("Delete {name}?", { name: t("Password") }), el("p", {}, t("You will no longer be able to sign in this way.")), "Delete", "danger", "done",
	() => call("DELETE", "users/me/password"));
