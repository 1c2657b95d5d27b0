// What the sections of the account page are made of.
import { button, el, icon } from "./dom.js";
import { date, t } from "./words.js";

// Long lists are folded.
const most = 5;

export const section = (id, title, rows, ...nodes) => el("section", { "aria-labelledby": id }, el("h2", { id }, t(title)), list(rows.slice(0, most)),
	rows.length > most && el("details", {}, el("summary", {}, t("{count} more", { count: rows.length - most })), list(rows.slice(most))), ...nodes);

export const list = (rows) => rows.length > 0 && el("ul", {}, rows);

export const facts = (...list) => list.filter(Boolean).join(" · ");

export const row = (picture, title, badge, text, ...controls) => el("li", {}, icon(picture),
	el("div", { class: "about" }, el("p", {}, el("strong", {}, title), badge && el("span", { class: "badge" }, t(badge))),
		el("p", { class: "soft" }, text)), el("div", { class: "controls" }, controls));

// A row for something that can be done: what it is, and a button.
export const offer = (picture, text, label, id, act, isPrimary, kind = "") => el("li", {}, icon(picture), el("div", { class: "about" }, el("p", { class: "soft" }, text || t(`${id}.text`))),
	el("div", { class: "controls" }, button(t(label), { id, class: isPrimary ? "primary" : `small ${kind}` }, act)));

export const small = (label, id, about, act) => button(t(label), { id: `${label}-${id}`, class: "small", "aria-label": `${t(label)}: ${about}` }, act);

export const since = (value, time) => t("Since {date}", { date: date(value, time) });

export const used = (value) => value && t("Last used {date}", { date: date(value) });
