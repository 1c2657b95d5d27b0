// The texts of the console in the language of the user. The English texts are the keys of the others, which
// stand in texts/, one file for each area. Only the texts of the language are loaded.

const languages: Record<string, () => Promise<{ default: Record<string, string> }>> = {
  de: () => import("./german"),
  fr: () => import("./french"),
};

/** language is the language of the console: the first of the browser's that it has. */
export const language = navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag === "en" || tag in languages) ?? "en";

const translations = (await languages[language]?.())?.default ?? {};

/** t returns a text in the language of the console, with {name} replaced by values. */
export function t(text: string, values: Record<string, string | number> = {}): string {
  return (translations[text] ?? text).replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/** formatTime writes a time in the language and time zone of the browser. */
export function formatTime(time: string | undefined): string {
  return time ? new Date(time).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" }) : "";
}
