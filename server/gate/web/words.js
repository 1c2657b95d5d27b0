// The page's language. Each has a module of its own, loaded when it is needed.
import { params } from "./wire.js";

/** The languages there are, as their speakers call them. */
export const languages = { en: "English", de: "Deutsch", fr: "Français" };

/** The language of the page: a key of languages. */
export let language = "en";

let locale = "en";
let words = {};
let phrases = {};

const base = (tag) => tag.toLowerCase().split("-")[0];

/** Loads the language that the address asks for, or else the person's browser. */
export async function speak() {
	const wanted = [params.get("lang"), ...(params.get("ui_locales") ?? "").split(" "), ...navigator.languages];
	locale = wanted.find((tag) => tag && Object.hasOwn(languages, base(tag))) ?? "en";
	language = base(locale);
	({ words, phrases } = await import(`./${language}.js`));
	Object.assign(document.documentElement, { lang: language, dir: /^(ar|fa|he|ur)$/.test(language) ? "rtl" : "ltr" });
}

/** Takes the server's translations in place of the page's own texts. */
export const override = (translations) => { words = { ...words, ...translations }; };

/** Whether there is a text of the key. */
export const has = (key) => Object.hasOwn(words, key);

/** The text of a key, with {names} filled in. */
export const t = (key, values = {}) => (words[key] ?? key).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");

/** A text that came with a flow. Those of the built-in flows are translated, any other is shown as it is. */
export function phrase(text = "") {
	const numbers = text.match(/\d+/g) ?? [];
	return phrases[text.replace(/\d+/g, "#")]?.replace(/#/g, () => numbers.shift()) ?? text;
}

/** A day, or with time an instant, as it is written here; "" for what is neither. */
export function date(value, time) {
	const when = new Date(value);
	return Number.isNaN(when.getTime()) ? "" : new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: time && "short" }).format(when);
}

/** What an error says to a person, and details for who can mend it: not where a name was mistyped. */
export function explain({ code, key, values, message, description, details, traceId }) {
	const known = [key, description?.key, message?.key, `error.${code}`].find(has);
	const ordinary = message?.key && !traceId && code !== "passkey_verification_failed";
	const trace = traceId && `Trace id: ${traceId}`;
	return {
		text: known ? t(known, values) : phrase(message?.defaultValue) || t("error.unknown"),
		details: ordinary ? "" : [details ?? description?.defaultValue, trace].filter(Boolean).join(" · "),
	};
}
