// Begins the page that the address names.
import { button, byId, el } from "./dom.js";
import { address, call, go, params } from "./wire.js";
import { attempt, back, complain, fail, message, way } from "./page.js";
import { dress } from "./theme.js";
import { arrive } from "./callback.js";
import { languages } from "./languages.js";
import { has, language, override, speak, t } from "./words.js";

// How the application looks. A page that cannot learn it is plain, and works.
async function introduce(page, applicationId) {
	const ask = (id) => call("GET", `flow/meta?${new URLSearchParams({ id, type: "APP", language })}`);
	// Without the application there are still the texts.
	const meta = await ask(applicationId).catch(() => ask("")).catch(() => ({}));
	override(meta.i18n?.translations?.gate);
	dress(meta.brand, named() ? meta.application : {}, meta.design?.theme);
	foot(meta.application ?? {});
	return meta;
}

function foot({ tosUri, policyUri }) {
	const link = (href, text) => /^https?:/.test(href) && el("a", { href, target: "_blank", rel: "noopener" }, t(text));
	const tags = Object.entries(languages).map(([tag, name]) => el("option", { value: tag, lang: tag, selected: tag === language }, name));
	const choice = el("select", { id: "language", "aria-label": t("Language") }, tags);
	choice.addEventListener("change", () => {
		params.set("lang", choice.value);
		location.replace(`?${params}`);
	});
	byId("foot").replaceChildren(...[link(tosUri, "Terms"), link(policyUri, "Privacy"), choice].filter(Boolean));
}

// A page knows its application only by the address, or is the account page.
const named = () => params.has("applicationId");

// The codes of the error page: those of server/oauth/error.go that it redirects with.
const codes = ["invalid_request", "invalid_client", "unauthorized_client", "unsupported_response_type", "request_not_supported", "request_uri_not_supported", "access_denied", "login_required",
	"consent_required", "invalid_scope", "invalid_target", "temporarily_unavailable", "server_error", "lost"];

// The pages that only say something.
const plain = {
	// RFC 6749 §4.1.2.1. Anyone can write an address, so the page shows only the codes that it knows, and
	// the id that the operator searches the log for.
	error(application) {
		const code = codes.find((known) => known === params.get("error"));
		const lost = code === "lost";
		const traceId = /^[0-9a-f]{32}$/.test(params.get("traceId")) && params.get("traceId");
		const key = lost && !navigator.cookieEnabled ? "error.no_cookies" : has(`oauth.${code}`) ? `oauth.${code}` : /^(invalid|unsupported|unauthorized|request)/.test(code) && "oauth.request";
		fail({ key, details: code, traceId }, way(lost ? { ...application, url: application.startUrl } : application));
	},
	// All that it takes to go on is in the address.
	signout(application) {
		const leave = () => { params.set("ui_locales", language); go(`../oauth2/logout?${params}`); };
		const stay = named() && back(application);
		message("signout", t("Sign out in this browser?"), "", button(t("signOut"), { id: "sign-out", class: "primary" }, leave), stay);
	},
	signedout(application) {
		const next = named() ? way(application) : el("a", { class: "button", href: address("account") }, t("Sign in"));
		message("signedout", t("You are signed out"), t("Apps that you signed in to may still be open."), next);
	},
	// Only the button locks, because mail scanners open links. No server gets the fragment.
	lock() {
		const lock = (pressed) => attempt(pressed, async () => {
			await call("POST", "account/lock", { token: location.hash.slice(1) });
			message("locked", t("Your account is locked"), t("All sessions have ended. Only an administrator can unlock the account."));
		}, complain);
		message("lock", t("Lock your account?"), t("This ends all sessions. Afterwards, only an administrator can unlock the account."),
			button(t("Lock my account"), { id: "lock", class: "primary" }, lock));
	},
	absent: () => message("absent", t("absent"), "", way()),
	// A provider's response that this tab did not ask for.
	callback: () => fail({ key: "oauth.lost" }, way()),
};

async function begin({ page, account }) {
	if (page === "preview") return Promise.all([import("./preview.js"), speak()]).then(([preview]) => preview.begin());
	const arrival = page === "callback" ? arrive() : { page };
	if (arrival.page === "leaving") return undefined;
	await speak();
	const unknown = params.has("executionId") || ["callback", "error", "absent"].includes(arrival.page);
	const applicationId = params.get("applicationId") ?? (unknown ? "" : account);
	const looks = introduce(arrival.page, applicationId);
	if (plain[arrival.page]) return plain[arrival.page]((await looks).application ?? {});
	const { begin: beginPage } = await import(page === "account" ? "./account.js" : "./run.js");
	return beginPage(arrival.page, applicationId, looks, arrival.answer);
}

begin(document.body.dataset).catch((error) => {
	console.error(error);
	fail({});
});
