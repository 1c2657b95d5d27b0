// The account page: how one signs in, where one is signed in, and which apps have access.
import { button, byId, el, form, heading, initial } from "./dom.js";
import { Refusal, address, call, params, remember, show, storage } from "./wire.js";
import { ask as askFirst, attempt, back, complain, fail, note, tell, view } from "./page.js";
import { date, phrase, t } from "./words.js";
import { ask, disown } from "./passkey.js";
import { device } from "./device.js";
import { facts, list, offer, row, section, since, small, used } from "./accountparts.js";
import { factorOffers, factorRow } from "./factors.js";
import { formerSection } from "./former.js";
import { passwordOffer, passwordRow, profileSection } from "./profile.js";

let me = "";
let sessions = [];
let addresses = false; // users can change their mail address
let returned = false; // from a sign-in
let origin = null; // a link to the application that led here

const drop = (what, id) => call("DELETE", `users/me/${what}/${encodeURIComponent(id)}`);
export const task = (pressed, work) => attempt(pressed, work, recover);

// The id of the last button pressed: a change that needs a new sign-in goes on there.
let last = "";
addEventListener("click", ({ target }) => { last = target.closest("#view button")?.id ?? last; }, true);

// Shows the user's account, after a sign-in if need be.
export async function begin(page, applicationId, looks) {
	addresses = (await looks).isAddressFlowEnabled;
	origin = params.has("from") && await call("GET", `flow/meta?${new URLSearchParams({ id: params.get("from"), type: "APP" })}`).then(({ application }) => back(application), () => null);
	returned = params.has("begun");
	params.delete("begun");
	remember();
	await task(null, load);
	const [user, id] = storage.take("then")?.split(" ") ?? [];
	return byId(id) && user === me && byId(id).click();
}

function leave(page, then = "") {
	storage.keep("then", then);
	location.replace(address(page));
}

function recover(error) {
	if (error.code === "weak_session") return leave("signin");
	if (/^(no_session|invalid_token)$/.test(error.code)) return signedOut();
	if (!byId("heading") || error.code === "other_user") return fail(error, button(t("Load again"), { id: "reload", class: "primary" }, () => location.reload()));
	if (/^(insufficient_user_authentication|second_factor_required)$/.test(error.code)) askFirst(error, again(`${me} ${last}`));
	else complain(error);
	return scrollTo(0, 0);
}

const again = (then) => button(t("Sign in"), { id: "again", class: "primary" }, () => leave("signin", then));

// The session has ended, perhaps in another tab, or the browser has not kept it.
function signedOut() {
	if (!me && !returned) return leave("signin");
	return fail({ code: me ? "no_session" : "no_cookies" }, again());
}

const change = (pressed, text, work) => task(pressed, async () => {
	const name = await work();
	await load();
	note(t(text, { name }));
	scrollTo(0, 0);
});

// A change that needs a recent sign-in, or one of a class, asks for it before the user enters something.
const maxAge = 5 * 60000;

function recent(change, needs = "") {
	const here = sessions.find((s) => s.current);
	if (!needs && here && Date.now() - new Date(here.createdAt) < maxAge) return change();
	return recover(new Refusal({ code: "insufficient_user_authentication" }));
}

const parts = ["", "/profile", "/passkeys?limit=100", "/identities?limit=100", "/factors", "/sessions?limit=100", "/consents?limit=100", "/former-password?limit=100"];

async function load() {
	const [user, profile, ...lists] = await Promise.all(parts.map((part) => call("GET", `users/me${part}`)));
	show(me = user.id);
	const { passkeys, identities, factors, consents, sessions: begun, addedWithFormerPassword } = Object.assign({}, ...lists);
	sessions = begun;
	const { name, username, email } = user.attributes;
	const focused = document.activeElement?.id;
	const unused = (kind) => profile.unusedCredentials?.includes(kind) && t("limit.unused");
	const called = [name ?? username, email].filter(Boolean);
	view("account", el("div", { class: "head" }, called.length > 0 && initial(called[0]),
		el("div", {}, heading(t("Your account")), el("p", { class: "lead" }, called.join(" · "))), origin, signOut()),
		formerSection(addedWithFormerPassword, dialog),
		profileSection(user.attributes, profile.attributes, addresses),
		section("ways", "How you sign in", [...passkeys.map((passkey) => passkeyRow(passkey, unused("passkey"))), passwordRow(profile, unused("password"), recent), ...identities.map(identityRow), ...factors.map((factor) => factorRow(factor, unused(factor.type), recent))].filter(Boolean),
			list([offer("fingerprint-pattern", passkeys.length ? "" : t("You have no passkey yet."), "Add a passkey", "add", add, !passkeys.length), passwordOffer(profile, recent), ...factorOffers(factors, recent)].filter(Boolean))),
		section("sessions", "Where you are signed in", [...browsers().map(browserRow), ...sessions.filter((s) => s.offlineOf).map(offlineRow)],
			browsers().length > 1 && button(t("Sign out everywhere else"), { id: "others", class: "small" }, endOthers)),
		consents.length > 0 && section("apps", "Apps with access", consents.map(appRow)),
		section("data", "Your data", [offer("id-card", "", "Download my data", "export", download), offer("user", "", "Delete my account", "leave", removeAccount, false, "harm")]));
	return (byId(focused) ?? byId("heading")).focus({ preventScroll: true });
}

// What a passkey or factor is worth at most that was added after a weaker sign-in, by its class: docs/second-factors.md.
const limits = ["vouched", "recovery", "otp", "password", "mfa"];

export function limited(limit, formerPassword) {
	if (formerPassword) return t("limit.former");
	const kind = limits.find((name) => limit?.includes(name)) ?? (limit && "password");
	return kind && t(`limit.${kind}`);
}

function passkeyRow({ id, name, authenticator, backedUp, createdAt, lastUsedAt, limit, formerPassword }, unused) {
	const text = facts(authenticator !== name && authenticator, since(createdAt, true), used(lastUsedAt), limited(limit, formerPassword), unused);
	return row("fingerprint-pattern", name, backedUp && "Synced", text, small("Rename", id, name, () => rename(id, name)),
		small("Delete", id, name, () => remove("Delete", name, "passkeys", id, text, t("Delete it on your device too."))));
}

function identityRow({ id, provider, name, createdAt, lastUsedAt, formerPassword }) {
	const text = facts(name, since(createdAt), used(lastUsedAt), limited("", formerPassword));
	const unlink = () => remove("Unlink", provider.name, "identities", id, text);
	return row("link", provider.name, "", text, small("Unlink", id, provider.name, unlink));
}

// The sessions by browser: a browser has several after it signed in again.
function browsers() {
	const grouped = new Map();
	for (const s of sessions.filter((each) => !each.offlineOf)) grouped.set(s.browser ?? s.id, [...(grouped.get(s.browser ?? s.id) ?? []), s]);
	return [...grouped.values()];
}

function browserRow(list) {
	const [{ id, client = "" }] = list;
	const name = device(client) || "—";
	const latest = (member) => list.map((s) => s[member]).filter(Boolean).sort().at(-1);
	const seen = latest("lastSeenAt");
	const text = facts(since(list.at(-1).createdAt, true), seen && t("Last seen {date}", { date: date(seen, true) }));
	const end = (pressed) => change(pressed, "done", () => drop("sessions", id));
	const here = list.some((s) => s.current);
	return row(/iPhone|Android/.test(name) ? "smartphone" : "monitor", name, here && "This browser", text, !here && small("signOut", id, `${name}, ${text}`, end));
}

// An application whose tokens are valid after a sign-out, too.
function offlineRow({ id, applicationName = "—", client, createdAt }) {
	const text = facts(phrase("Stay connected while you are away"), device(client ?? ""), since(createdAt, true));
	return row("check", applicationName, "", text, small("Revoke", id, applicationName, (pressed) => change(pressed, "done", () => drop("sessions", id))));
}

function appRow({ applicationId, name, scopes, grantedAt }) {
	const revoke = (pressed) => change(pressed, "done", () => drop("consents", applicationId));
	return row("check", name, "", facts(...scopes.map(({ text }) => phrase(text)), since(grantedAt)), small("Revoke", applicationId, name, revoke));
}

const add = (pressed) => change(pressed, "Added: {name}.", async () => {
	const wanted = { userId: me, authenticatorSelection: { residentKey: "required" } };
	const begun = await call("POST", "register/passkey/start", wanted);
	tell(t("Continue on your device…"));
	const publicKeyCredential = await ask(begun.publicKeyCredentialCreationOptions);
	return (await call("POST", "register/passkey/finish", { publicKeyCredential, sessionToken: begun.sessionToken })).CredentialName;
});

function rename(id, old) {
	const input = el("input", { id: "new-name", maxlength: 64, autocomplete: "off" });
	input.value = old;
	dialog(t("Rename"), el("div", { class: "field" }, el("label", { for: "new-name" }, t("Name")), input), "Save", "primary", "done", async () => {
		const name = input.value.trim() || old;
		await call("PATCH", `users/me/passkeys/${encodeURIComponent(id)}`, { name });
		return name;
	});
	input.select();
}

const removals = { Delete: ["Delete {name}?", "Deleted: {name}."], Unlink: ["Unlink {name}?", "Unlinked: {name}."] };

// Asks before a way to sign in is gone.
export function remove(label, name, what, id, about, more) {
	const [question, done] = removals[label];
	dialog(t(question, { name }), [about, t("You will no longer be able to sign in this way."), more].map((text) => text && el("p", {}, text)), label, "danger", done, async () => {
		await drop(what, id);
		// The relying party is the host or a domain above it; that of another has no such passkey.
		for (let host = what === "passkeys" && location.hostname; host; host = host.split(".").slice(1).join(".")) disown(host, id);
		return name;
	});
}

const download = (pressed) => task(pressed, async () => {
	const text = JSON.stringify(await call("GET", "users/me/export"), null, 2);
	const href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
	el("a", { href, download: "account.json" }).click();
	URL.revokeObjectURL(href);
});

function removeAccount() {
	const warning = el("p", {}, t("All data of your account will be deleted. This cannot be undone."));
	dialog(t("Delete my account"), warning, "Delete", "danger", "done", async () => {
		await call("DELETE", "users/me");
		leave("signedout");
		return new Promise(() => {}); // there is nothing left to show
	});
}

const endOthers = () => dialog(t("Sign out everywhere else"), "", "signOut", "danger", "done", () => call("DELETE", "users/me/sessions"));

// Asks before something is done. The browser keeps the focus inside, and gives it back. What is wrong with the input is said inside, too.
export function dialog(title, content, label, kind, done, work) {
	const fault = el("p", { id: "fault", class: "fault", role: "alert" });
	const sure = button(t(label), { id: "sure", type: "submit", class: kind }, () => task(sure, async () => {
		try {
			const name = await work();
			box.close();
			await load();
			note(t(done, { name }));
			scrollTo(0, 0);
		} catch (error) {
			if (!error.errors) box.close();
			if (!error.errors) throw error;
			fault.replaceChildren(error.errors.map(({ message }) => phrase(message)).join(" "));
			box.querySelector("input, select")?.focus();
		}
	}));
	const cancel = button(t("cancel"), { id: "cancel" }, () => box.close());
	const box = el("dialog", { "aria-labelledby": "asked" }, form("asked", el("h2", { id: "asked" }, title), content, fault, el("div", { class: "row" }, cancel, sure)));
	box.addEventListener("close", () => box.remove());
	document.body.append(box);
	box.showModal();
}

const signOut = () => button(t("signOut"), { id: "sign-out" }, (pressed) => task(pressed, async () => {
	const here = browsers().find((list) => list.some((s) => s.current));
	await drop("sessions", here[0].id);
	leave("signedout");
}));
