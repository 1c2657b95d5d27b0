// What former passwords alone have added to an account. Its user keeps or removes it on the account page.
import { button, el } from "./dom.js";
import { Refusal, address, call } from "./wire.js";
import { message } from "./page.js";
import { row, section, since, small } from "./accountparts.js";
import { t } from "./words.js";

const kinds = { passkey: ["fingerprint-pattern"], identity: ["link"], totp: ["smartphone", "Authenticator app"], "recovery-codes": ["list-checks", "Recovery codes"], email: ["mail", "Email address"] };

const titleOf = ({ type, name }) => [kinds[type][1] && t(kinds[type][1]), name].filter(Boolean).join(": ");

const rowOf = (one, ...controls) => row(kinds[one.type][0], titleOf(one), "", since(one.createdAt, true), ...controls);

// The section of the account page. ask asks before something is decided.
export const formerSection = (added, ask) => added.length > 0 &&
	section("former", "former.title", added.map((one) => {
		const name = titleOf(one);
		const decide = (question, label, kind, done, decision) => ask(t(question, { name }), "", label, kind, done, () => decided(decision).then(() => name));
		return rowOf(one,
			small("Keep", `former-${one.id}`, name, () => decide("Keep {name}?", "Keep", "primary", "Kept: {name}.", { keep: [one.id] })),
			small("Delete", `former-${one.id}`, name, () => decide("Delete {name}?", "Delete", "danger", "Deleted: {name}.", { remove: [one.id] })));
	}), el("p", { class: "soft" }, t("former.text")));

// A password is not enough here, so the usual advice to sign in again would not help.
async function decided(decision) {
	try {
		return await call("POST", "users/me/former-password", decision);
	} catch (error) {
		throw error.code === "insufficient_user_authentication" ? new Refusal({ ...error, key: "former.stronger" }) : error;
	}
}

// Shows what the password that a flow has replaced had added, before the page is left.
export function tellFormer(added, goOn) {
	message("former", t("former.title"), t("former.text"), el("ul", {}, added.map((one) => rowOf(one))),
		el("p", {}, el("a", { href: address("account"), target: "_blank", rel: "noopener" }, t("Your account"))),
		button(t("Continue"), { id: "continue", class: "primary" }, goOn));
}
