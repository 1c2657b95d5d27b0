// Begins the page that the address names.
import { byId, el } from "./dom.js";
import { call, params } from "./wire.js";
import { complain, message } from "./page.js";
import { dress } from "./theme.js";
import { language, languages, override, speak, t } from "./words.js";

const { page, account } = document.body.dataset;
const applicationId = params.get("applicationId") ?? (params.has("executionId") ? "" : account);

/** How the application looks. A page that cannot learn it is plain, and works. */
async function introduce() {
	const query = new URLSearchParams({ id: applicationId, type: "APP", language });
	const meta = page !== "absent" && applicationId ? await call("GET", `flow/meta?${query}`).catch(() => ({})) : {};
	override(meta.i18n?.translations?.gate);
	dress(meta.application, meta.design?.theme);
	foot(meta.application ?? {});
	return meta;
}

/** The foot of the page: the application's terms, and the languages. */
function foot({ tosUri, policyUri }) {
	const link = (href, text) => /^https?:/.test(href) && el("a", { href, target: "_blank", rel: "noopener" }, t(text));
	const tags = Object.entries(languages).map(([tag, name]) => el("option", { value: tag, lang: tag, selected: tag === language }, name));
	const choice = el("select", { id: "language", "aria-label": t("language") }, tags);
	choice.addEventListener("change", () => {
		params.set("lang", choice.value);
		location.replace(`?${params}`);
	});
	byId("foot").replaceChildren(...[link(tosUri, "terms"), link(policyUri, "privacy"), choice].filter(Boolean));
}

async function begin() {
	const modules = { account: "./account.js", error: "./plain.js", signedout: "./plain.js", absent: "./plain.js" };
	const [module] = await Promise.all([import(modules[page] ?? "./run.js"), speak()]);
	const meta = introduce();
	if (module.begin) await module.begin(page, applicationId, meta);
	else module[page]((await meta).application ?? {});
}

begin().catch((error) => {
	console.error(error);
	message("over", t("over"));
	complain({ code: "unknown" });
});
