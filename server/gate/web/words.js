// The page's language. Each has a module of its own, loaded when it is needed.
import { languages, standard } from "./languages.js";
import { params } from "./wire.js";

// The language of the page: a key of languages.
export let language = "en";

let locale = "en";
let words = {};

const base = (tag = "") => tag.toLowerCase().split("-")[0];

// Loads the language that the address asks for, or else the person's browser, or else the default.
export async function speak() {
	const wanted = [params.get("lang") ?? "", ...(params.get("ui_locales") ?? "").split(" "), ...navigator.languages];
	locale = wanted.find((tag) => Object.hasOwn(languages, base(tag))) ?? standard;
	language = base(locale);
	words = (await import(`./${language}.js`)).default;
	document.documentElement.lang = language;
}

export const override = (translations) => { words = { ...words, ...translations }; };

export const has = (key) => Object.hasOwn(words, key);

// The text of a key, with {names} filled in. Without one the key is the text.
export const t = (key, values = {}) => (has(key) ? words[key] : key).replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");

// A text that came with a flow. Those of the built-in flows are translated, with a number as {n}, any
// other is shown as it is.
export function phrase(text = "") {
	if (!/[A-Z]/.test(text)) return text;
	const [n] = text.match(/\d+/) ?? [];
	return [text, text.replace(n, "{n}")].filter(has).map((key) => t(key, { n }))[0] ?? text;
}

// A day, or with time an instant, as it is written here.
export const date = (value, time) => new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: time && "short" }).format(new Date(value));

// The text of an error, and details for its fix: not where a name was mistyped.
export function explain({ code, key, values, message, description, details, traceId }) {
	// A message without a key is the text of a flow.
	const known = message?.defaultValue && !message.key ? undefined : [key, description?.key, message?.key, `error.${code}`].find(has);
	const ordinary = message?.key && !traceId && code !== "passkey_verification_failed";
	const technical = [details ?? description?.defaultValue, traceId && t("Trace id: {id}", { id: traceId })];
	return {
		text: known ? t(known, values) : (code !== "internal_error" && phrase(message?.defaultValue)) || t("error.unknown"),
		details: ordinary ? "" : technical.filter(Boolean).join(" · "),
	};
}
