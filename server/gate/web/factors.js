// The parts of the account page about second factors: authenticator apps and recovery codes.
import { byId, el } from "./dom.js";
import { call } from "./wire.js";
import { dialog, limited, remove, task } from "./account.js";
import { facts, offer, row, since, small, used } from "./accountparts.js";
import { t } from "./words.js";

const kinds = { totp: ["smartphone", "Authenticator app"], "recovery-codes": ["list-checks", "Recovery codes"] };

export function factorRow({ type, createdAt, lastUsedAt, total, left, limit, formerPassword, disabledAt }, unused, recent) {
	const [picture, title] = kinds[type];
	const text = facts(total && t("{left} of {total} left", { left, total }), since(createdAt), used(lastUsedAt), limited(limit, formerPassword), disabledAt && t("Disabled in new browsers after too many wrong codes. Sign in with another factor, or in a browser in which you used it before, to enable it."), unused);
	const replace = type === "totp" ? setUpApp : issueCodes;
	return row(picture, t(title), "", text, small("Replace", type, t(title), (pressed) => recent(() => replace(pressed))),
		small("Delete", type, t(title), () => remove("Delete", t(title), "factors", type)));
}

// The rows that offer the factors that the user lacks.
export function factorOffers(factors, recent) {
	const lacks = (kind) => !factors.some(({ type }) => type === kind);
	return [
		lacks("totp") && offer("smartphone", "", "Set up an authenticator app", "totp", (pressed) => recent(() => setUpApp(pressed))),
		lacks("recovery-codes") && offer("list-checks", "", "Get recovery codes", "recovery-codes", (pressed) => recent(() => issueCodes(pressed))),
	];
}

const grouped = (text) => text.match(/.{1,4}/g).join(" ");

const setUpApp = (pressed) => task(pressed, async () => {
	const { qrCode, secret, sessionToken } = await call("POST", "users/me/factors/totp/start");
	const input = el("input", { id: "first-code", type: "text", inputmode: "numeric", autocomplete: "one-time-code", required: true });
	dialog(t("Set up an authenticator app"), [
		el("p", {}, t("Scan the QR code with your authenticator app, or enter the key. Then enter the code from the app.")),
		el("img", { src: qrCode, alt: t("QR code"), class: "picture" }), el("p", { class: "code" }, grouped(secret)),
		el("div", { class: "field" }, el("label", { for: input.id }, t("Code from your authenticator app")), input),
	], "Save", "primary", "Added: {name}.", async () => {
		await call("POST", "users/me/factors/totp/finish", { sessionToken, code: byId(input.id).value });
		return t("Authenticator app");
	});
});

// The codes become valid when the user has saved them.
const issueCodes = (pressed) => task(pressed, async () => {
	const { recoveryCodes, sessionToken } = await call("POST", "users/me/factors/recovery-codes/start");
	dialog(t("Save your recovery codes"), [
		el("p", {}, t("Each of these codes signs you in once if you lose your other sign-in methods. Keep them in a safe place: they are not shown again.")),
		el("div", { class: "stack codes" }, recoveryCodes.map((code) => el("p", { class: "code" }, code))),
	], "I have saved them", "primary", "Added: {name}.", async () => {
		await call("POST", "users/me/factors/recovery-codes/finish", { sessionToken });
		return t("Recovery codes");
	});
});
