// The account page: how one signs in, where one is signed in, and which apps have access.
import { button, byId, el, form, heading, icon } from "./dom.js";
import { address, call, params, remember, show, storage } from "./wire.js";
import { attempt, complain, fail, note, tell, view } from "./page.js";
import { date, phrase, t } from "./words.js";
import { ask, disown } from "./passkey.js";

let me = "";
let sessions = [];
let returned = false; // from a sign-in

const drop = (what, id) => call("DELETE", `users/me/${what}/${encodeURIComponent(id)}`);
const task = (pressed, work) => attempt(pressed, work, recover);

// The id of the last button pressed: a change that needs a new sign-in goes on there.
let last = "";
addEventListener("click", ({ target }) => { last = target.closest("#view button")?.id ?? last; }, true);

// Shows the user's account, after a sign-in if need be.
export async function begin(page, applicationId, looks) {
	await looks;
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
	complain(error);
	if (/^(insufficient_user_authentication|second_factor_required)$/.test(error.code)) byId("alert").firstChild.append(again(`${me} ${last}`));
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

const parts = ["", "/passkeys?limit=100", "/identities?limit=100", "/factors", "/sessions?limit=100", "/consents?limit=100"];

async function load() {
	const found = Object.assign(...(await Promise.all(parts.map((part) => call("GET", `users/me${part}`)))));
	show(me = found.id);
	const { attributes: { name, username, email }, passkeys, identities, factors, consents } = found;
	const top = [heading(t("Your account")), el("p", { class: "lead" }, [name ?? username, email].filter(Boolean).join(" · "))];
	({ sessions } = found);
	const focused = document.activeElement?.id;
	view("account", ...top,
		section("ways", "How you sign in", [...passkeys.map(passkeyRow), ...identities.map(identityRow), ...factors.map(factorRow)],
			!passkeys.length && el("p", { class: "soft" }, t("You have no passkey yet.")), button(t("Add a passkey"), { id: "add", class: "primary" }, add)),
		section("sessions", "Where you are signed in", sessions.map(sessionRow),
			sessions.some((s) => !s.current) && button(t("Sign out everywhere else"), { id: "others" }, endOthers)),
		consents.length > 0 && section("apps", "Apps with access", consents.map(appRow)),
		el("section", { "aria-labelledby": "data" }, el("h2", { id: "data" }, t("Your data")), el("div", { class: "row" },
			button(t("Download my data"), { id: "export" }, download), button(t("Delete my account"), { id: "leave" }, removeAccount))),
		signOut());
	return (byId(focused) ?? byId("heading")).focus({ preventScroll: true });
}

// Long lists are folded.
const most = 5;

const section = (id, title, rows, ...nodes) => el("section", { "aria-labelledby": id }, el("h2", { id }, t(title)), list(rows.slice(0, most)),
	rows.length > most && el("details", {}, el("summary", {}, t("{count} more", { count: rows.length - most })), list(rows.slice(most))), ...nodes);

const list = (rows) => rows.length > 0 && el("ul", {}, rows);

const row = (picture, title, badge, facts, ...controls) => el("li", {}, icon(picture),
	el("div", { class: "about" }, el("p", {}, el("strong", {}, title), badge && el("span", { class: "badge" }, t(badge))),
		el("p", { class: "soft" }, facts.filter(Boolean).join(" · "))), el("div", { class: "controls" }, controls));

const small = (label, id, about, act) => button(t(label), { id: `${label}-${id}`, class: "small", "aria-label": `${t(label)}: ${about}` }, act);

const since = (value, time) => t("Since {date}", { date: date(value, time) });

const used = (value) => value && t("Last used {date}", { date: date(value) });

function passkeyRow({ id, name, authenticator, backedUp, createdAt, lastUsedAt }) {
	const facts = [authenticator !== name && authenticator, since(createdAt), used(lastUsedAt)];
	return row("key", name, backedUp && "Synced", facts, small("Rename", id, name, () => rename(id, name)),
		small("Delete", id, name, () => remove("Delete", name, "passkeys", id, t("Delete it on your device too."))));
}

function identityRow({ id, provider, name, createdAt, lastUsedAt }) {
	const unlink = () => remove("Unlink", provider.name, "identities", id);
	return row("person", provider.name, "", [name, since(createdAt), used(lastUsedAt)], small("Unlink", id, provider.name, unlink));
}

function factorRow({ type, createdAt, lastUsedAt, total, left }) {
	const [picture, title] = type === "totp" ? ["phone", "Authenticator app"] : ["list", "Recovery codes"];
	const facts = [total && t("{left} of {total} left", { left, total }), since(createdAt), used(lastUsedAt)];
	return row(picture, t(title), "", facts, small("Delete", type, t(title), () => remove("Delete", t(title), "factors", type)));
}

function sessionRow({ id, client = "", createdAt, current }) {
	const name = device(client) || "—";
	const begun = since(createdAt, true);
	const end = (pressed) => change(pressed, "done", () => drop("sessions", id));
	return row("door", name, current && "This browser", [begun], !current && small("signOut", id, `${name}, ${begun}`, end));
}

function appRow({ applicationId, name, scopes, grantedAt }) {
	const revoke = (pressed) => change(pressed, "done", () => drop("consents", applicationId));
	return row("tick", name, "", [...scopes.map(({ text }) => phrase(text)), since(grantedAt)], small("Revoke", applicationId, name, revoke));
}

// The browser and system of a User-Agent, or the program that it names first.
function device(agent) {
	const find = (...names) => names.find((name) => agent.includes(name.split("=")[0]))?.split("=").at(-1);
	const browser = find("Edg=Edge", "OPR=Opera", "Firefox", "Chrome", "Safari");
	const system = find("iPhone", "iPad", "Android", "Windows", "Mac OS=macOS", "Linux");
	return browser && system ? `${browser} · ${system}` : agent.split("/")[0];
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
function remove(label, name, what, id, more) {
	const [question, done] = removals[label];
	dialog(t(question, { name }), [t("You will no longer be able to sign in this way."), more].map((text) => text && el("p", {}, text)), label, "danger", done, async () => {
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

// Asks before something is done. The browser keeps the focus inside, and gives it back.
function dialog(title, content, label, kind, done, work) {
	const sure = button(t(label), { id: "sure", type: "submit", class: kind }, () => {
		box.close();
		change(null, done, work);
	});
	const cancel = button(t("cancel"), { id: "cancel" }, () => box.close());
	const box = el("dialog", { "aria-labelledby": "asked" }, form("asked", el("h2", { id: "asked" }, title), content, el("div", { class: "row" }, cancel, sure)));
	box.addEventListener("close", () => box.remove());
	document.body.append(box);
	box.showModal();
}

const signOut = () => button(t("signOut"), { id: "sign-out", class: "text" }, (pressed) => task(pressed, async () => {
	await drop("sessions", sessions.find((s) => s.current).id);
	leave("signedout");
}));
