// The texts of the console in each language, one file for each area.

import * as accounts from "./texts/accounts";
import * as administration from "./texts/administration";
import * as claims from "./texts/claims";
import * as common from "./texts/common";
import * as connect from "./texts/connect";
import * as overview from "./texts/overview";
import * as signins from "./texts/signins";
import * as simulator from "./texts/simulator";
import * as studio from "./texts/studio";
import * as users from "./texts/users";

const areas = [accounts, administration, claims, common, connect, overview, signins, simulator, studio, users];

const languages: Record<string, Record<string, string>> = {
  de: Object.assign({}, ...areas.map((area) => area.german)),
  fr: Object.assign({}, ...areas.map((area) => area.french)),
};

/** language is the language of the console: the first of the browser's that it has. */
export const language = navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag === "en" || tag in languages) ?? "en";

/** t returns a text in the language of the console, with {name} replaced by values. */
export function t(text: string, values: Record<string, string | number> = {}): string {
  const translated = languages[language]?.[text] ?? text;
  return translated.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/** formatTime writes a time in the language and time zone of the browser. */
export function formatTime(time: string | undefined): string {
  return time ? new Date(time).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" }) : "";
}
