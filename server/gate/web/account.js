// The account page: one's passkeys, and where one is signed in.
import { button, byId, el, form, heading, icon } from "./dom.js";
import { address, assertion, call, claims } from "./wire.js";
import { attempt, complain, note, tell, view } from "./page.js";
import { date, t } from "./words.js";
import { ask, disown } from "./passkey.js";

let sessions = [];

const api = (method, path, body) => call(method, path, { body, token: assertion.get() });
const own = (what, id) => api("DELETE", `users/me/${what}/${encodeURIComponent(id)}`);

/** Shows the account of who is signed in. Anybody else signs in first. */
export async function begin(page, applicationId, meta) {
	await meta;
	return assertion.get() ? task(null, load) : location.replace(address("signin"));
}

const task = (pressed, work) => attempt(pressed, work, recover);

function recover(error) {
	if (/^(unauthorized|invalid_token)$/.test(error.code)) {
		assertion.forget();
		return location.replace(address("signin"));
	}
	if (!byId("heading")) view("account", heading(t("account")), signOut());
	complain(error);
	return byId("alert").scrollIntoView({ block: "nearest" });
}

/** Does something to the account, shows it anew, and says what was done. */
const change = (pressed, text, work) => task(pressed, async () => {
	const values = await work();
	await load();
	note(t(text, values));
	byId("alert").scrollIntoView({ block: "nearest" });
});

async function load() {
	const paths = ["users/me", "users/me/passkeys", "users/me/sessions"];
	const [user, keys, places] = await Promise.all(paths.map((path) => api("GET", path)));
	sessions = places.sessions ?? [];
	const focused = document.activeElement?.id;
	show(user.attributes ?? claims(assertion.get()), keys.passkeys ?? []);
	(byId(focused) ?? byId("heading")).focus({ preventScroll: true });
}

function show({ given_name: first, family_name: last, username, email }, passkeys) {
	const name = [first, last].filter(Boolean).join(" ") || username;
	const others = sessions.some((s) => !s.current) && button(t("others"), { id: "others" }, endOthers);
	view("account", heading(t("account")), el("p", { class: "lead" }, [...new Set([name, email])].filter(Boolean).join(" · ")),
		section("keys", passkeys.map(passkeyRow), !passkeys.length && el("p", { class: "soft" }, t("noKeys")), button(t("addKey"), { id: "add", class: "primary" }, add)),
		section("sessions", sessions.map(sessionRow), others), signOut());
}

const section = (name, rows, ...nodes) => el("section", { id: name, "aria-labelledby": `${name}-title` },
	el("h2", { id: `${name}-title` }, t(name)), rows.length > 0 && el("ul", {}, rows), ...nodes);

const row = (picture, title, badge, facts, ...controls) => el("li", {}, icon(picture),
	el("div", { class: "about" }, el("p", {}, el("strong", {}, title), badge && el("span", { class: "badge" }, badge)),
		el("p", { class: "soft" }, facts.filter(Boolean).join(" · "))),
	...controls);

const small = (text, id, name, act) => button(t(text), { id: `${text}-${id}`, class: "small", "aria-label": `${t(text)}: ${name}` }, act);

function passkeyRow({ id, name = t("keys"), authenticator, backedUp, createdAt, lastUsedAt }) {
	const used = lastUsedAt ? t("used", { date: date(lastUsedAt) }) : t("unused");
	return row("key", name, t(backedUp ? "synced" : "bound"), [authenticator !== name && authenticator, t("created", { date: date(createdAt) }), used],
		small("rename", id, name, () => rename(id, name)), small("remove", id, name, () => remove(id, name)));
}

function sessionRow({ id, client, createdAt, current }) {
	const name = client?.name ?? client ?? t("anApp");
	const facts = [t("since", { date: date(createdAt, true) })];
	const end = (pressed) => change(pressed, "ended", () => own("sessions", id).then(() => ({ name })));
	return row("screen", name, current && t("here"), facts, !current && small("signOut", id, `${name}, ${facts}`, end));
}

const add = (pressed) => change(pressed, "added", async () => {
	const selection = { userId: claims(assertion.get()).sub, authenticatorSelection: { residentKey: "required" } };
	const { publicKeyCredentialCreationOptions: options, sessionToken } = await api("POST", "register/passkey/start", selection);
	tell(t("device"));
	const publicKeyCredential = await ask(options);
	const { CredentialName: name } = await api("POST", "register/passkey/finish", { publicKeyCredential, sessionToken });
	return { name };
});

function rename(id, old) {
	const input = el("input", { id: "new-name", maxlength: 64, autocomplete: "off" });
	input.value = old;
	const field = el("div", { class: "field" }, el("label", { for: "new-name" }, t("name")), input);
	dialog("rename", "renamed", field, t("rename"), t("save"), async () => {
		const name = input.value.trim() || old;
		await api("PATCH", `users/me/passkeys/${encodeURIComponent(id)}`, { name });
		return { name };
	});
	input.select();
}

const remove = (id, name) => dialog("danger", "removed", el("p", {}, t("removeText")), t("removeKey", { name }), t("remove"), async () => {
	await own("passkeys", id);
	await disown(location.hostname, id);
	return { name };
});

const endOthers = () => dialog("danger", "othersEnded", el("p", {}, t("othersText")), t("others"), t("signOut"), () => api("DELETE", "users/me/sessions"));

/** Asks before something is done. The browser keeps the focus inside, and gives it back. */
function dialog(kind, done, content, title, label, work) {
	const sure = button(label, { id: "sure", type: "submit", class: kind === "danger" ? "danger" : "primary" }, () => {
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
	if (here) await own("sessions", here.id);
	assertion.forget();
	location.replace(address("signedout"));
}));
