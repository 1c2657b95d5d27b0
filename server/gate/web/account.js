// The account page: one's passkeys, where one is signed in, and which apps have access.
import { button, byId, el, form, heading, icon } from "./dom.js";
import { address, assertion, call, claims } from "./wire.js";
import { attempt, complain, fail, note, tell, view } from "./page.js";
import { date, phrase, t } from "./words.js";
import { ask, disown } from "./passkey.js";

let sessions = [];

const api = (method, path, body) => call(method, path, { body, token: assertion.get() });
const drop = (what, id) => api("DELETE", `users/me/${what}/${encodeURIComponent(id)}`);
const task = (pressed, work) => attempt(pressed, work, recover);

// Shows the account of who is signed in. Anybody else signs in first.
export async function begin(page, applicationId, looks) {
	await looks;
	return assertion.get() ? task(null, load) : leave("signin");
}

function leave(page) {
	assertion.forget();
	location.replace(address(page));
}

function recover(error) {
	if (/^(unauthorized|invalid_token)$/.test(error.code)) return leave("signin");
	if (!byId("heading")) return fail(error, signOut());
	complain(error);
	return scrollTo(0, 0);
}

const change = (pressed, text, work) => task(pressed, async () => {
	const name = await work();
	await load();
	note(t(text, { name }));
	scrollTo(0, 0);
});

async function load() {
	const [user, keys, places, { consents }] = await Promise.all(["", "/passkeys?limit=100", "/sessions?limit=100", "/consents?limit=100"].map((path) => api("GET", `users/me${path}`)));
	sessions = places.sessions;
	const focused = document.activeElement?.id;
	const { name, username, email } = user.attributes;
	view("account", heading(t("Your account")), el("p", { class: "lead" }, [name ?? username, email].filter(Boolean).join(" · ")),
		section("keys", "Passkeys", keys.passkeys.map(passkeyRow), !keys.passkeys.length && el("p", { class: "soft" }, t("None yet.")),
			button(t("Add a passkey"), { id: "add", class: "primary" }, add)),
		section("sessions", "Where you are signed in", sessions.map(sessionRow), sessions.some((s) => !s.current) && button(t("Sign out everywhere else"), { id: "others" }, endOthers)),
		consents.length > 0 && section("apps", "Apps with access", consents.map(appRow)), signOut());
	(byId(focused) ?? byId("heading")).focus({ preventScroll: true });
}

const section = (id, title, rows, ...nodes) => el("section", { "aria-labelledby": id },
	el("h2", { id }, t(title)), rows.length > 0 && el("ul", {}, rows), ...nodes);

const row = (picture, title, badge, facts, ...controls) => el("li", {}, icon(picture),
	el("div", { class: "about" }, el("p", {}, el("strong", {}, title), badge && el("span", { class: "badge" }, t(badge))), el("p", { class: "soft" }, facts)),
	...controls);

const small = (label, id, about, act) => button(t(label), { id: `${label}-${id}`, class: "small", "aria-label": `${t(label)}: ${about}` }, act);

function passkeyRow({ id, name, authenticator, backedUp, createdAt, lastUsedAt }) {
	const facts = [authenticator !== name && authenticator, t("Created {date}", { date: date(createdAt) }), lastUsedAt && t("Last used {date}", { date: date(lastUsedAt) })];
	return row("key", name, backedUp && "Synced", facts.filter(Boolean).join(" · "),
		small("Rename", id, name, () => rename(id, name)), small("Delete", id, name, () => remove(id, name)));
}

function sessionRow({ id, client = "", createdAt, current }) {
	const name = device(client) || "—";
	const since = t("Since {date}", { date: date(createdAt, true) });
	const end = (pressed) => change(pressed, "done", () => drop("sessions", id));
	return row("door", name, current && "This browser", since, !current && small("signOut", id, `${name}, ${since}`, end));
}

function appRow({ applicationId, name, scopes, grantedAt }) {
	const facts = [...scopes.map(({ text }) => phrase(text)), t("Since {date}", { date: date(grantedAt) })].join(" · ");
	return row("tick", name, "", facts, small("Revoke", applicationId, name, (pressed) => change(pressed, "done", () => drop("consents", applicationId))));
}

// The browser and system of a User-Agent, or the program that it names first.
function device(agent) {
	const find = (...names) => names.find((name) => agent.includes(name.split("=")[0]))?.split("=").at(-1);
	const browser = find("Edg=Edge", "OPR=Opera", "Firefox", "Chrome", "Safari");
	const system = find("iPhone", "iPad", "Android", "Windows", "Mac OS=macOS", "Linux");
	return browser && system ? `${browser} · ${system}` : agent.split("/")[0];
}

const add = (pressed) => change(pressed, "Added: {name}.", async () => {
	const wanted = { userId: claims(assertion.get()).sub, authenticatorSelection: { residentKey: "required" } };
	const begun = await api("POST", "register/passkey/start", wanted);
	tell(t("device"));
	const publicKeyCredential = await ask(begun.publicKeyCredentialCreationOptions);
	return (await api("POST", "register/passkey/finish", { publicKeyCredential, sessionToken: begun.sessionToken })).CredentialName;
});

function rename(id, old) {
	const input = el("input", { id: "new-name", maxlength: 64, autocomplete: "off" });
	input.value = old;
	dialog(t("Rename"), el("div", { class: "field" }, el("label", { for: "new-name" }, t("Name")), input), "Save", "primary", "done", async () => {
		const name = input.value.trim() || old;
		await api("PATCH", `users/me/passkeys/${encodeURIComponent(id)}`, { name });
		return name;
	});
	input.select();
}

const remove = (id, name) => dialog(t("Delete {name}?", { name }), el("p", {}, t("You can no longer sign in with it. Delete it on your device too.")), "Delete", "danger", "Deleted: {name}.", async () => {
	await drop("passkeys", id);
	// The relying party is the host or a domain above it; that of another has no such passkey.
	for (let host = location.hostname; host; host = host.split(".").slice(1).join(".")) disown(host, id);
	return name;
});

const endOthers = () => dialog(t("Sign out everywhere else"), "", "signOut", "danger", "done", () => api("DELETE", "users/me/sessions"));

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
	const here = sessions.find((s) => s.current);
	if (here) await drop("sessions", here.id);
	leave("signedout");
}));
