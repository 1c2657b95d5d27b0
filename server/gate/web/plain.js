// The pages that only say something.
import { el } from "./dom.js";
import { address, params } from "./wire.js";
import { complain, message } from "./page.js";
import { has, t } from "./words.js";

const back = ({ name, url }) => /^https?:/.test(url) && el("a", { class: "button", href: url }, t("back", { app: name }));

/** What went wrong: RFC 6749 §4.1.2.1. What the address says about it is shown as its words, not as ours. */
export function error(application) {
	const [code, text, traceId] = ["error", "error_description", "traceId"].map((name) => params.get(name)?.slice(0, 300));
	message("error", t("over"), "", back(application));
	complain({ key: has(`oauth.${code}`) ? `oauth.${code}` : "oauth.other", details: code && `“${[code, text].filter(Boolean).join(": ")}”`, traceId });
}

/** The end of a visit. */
export function signedout(application) {
	message("signedout", t("out"), t("outText"),
		params.has("applicationId") ? back(application) : el("a", { class: "button", href: address("account") }, t("signIn")));
}

/** An address that leads nowhere. */
export const absent = () => message("absent", t("absent"), t("absentText"));
