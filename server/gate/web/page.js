// What every page does: shows a view, says what goes on and what went wrong.
import { byId, el, heading } from "./dom.js";
import { Refusal } from "./wire.js";
import { explain, t } from "./words.js";
import * as passkey from "./passkey.js";

/** Shows nodes, of which the first is the heading, in place of what was there. */
export function view(name, ...nodes) {
	byId("alert").replaceChildren();
	byId("view").replaceChildren(...nodes.flat().filter(Boolean));
	byId("view").dataset.view = name;
	document.title = [byId("heading").textContent, byId("brand").textContent].filter(Boolean).join(" · ");
	document.documentElement.classList.remove("waiting");
}

/** Shows a heading, a text and perhaps ways on. */
export const message = (name, title, text, ...ways) => view(name, heading(title), text && el("p", { class: "lead" }, text), ...ways);

/** Says what is going on, to who cannot see it. */
export const tell = (text) => { byId("status").textContent = text; };

/** Says what is not an error. */
export const note = (text) => byId("alert").replaceChildren(el("p", { class: "note" }, text));

/** Says what went wrong, and more of it to who wants to know. */
export function complain(error) {
	const { text, details } = explain(error);
	byId("alert").replaceChildren(el("div", { class: "fault" }, el("p", {}, text),
		details && el("details", {}, el("summary", {}, t("details")), el("p", {}, details))));
}

/** Puts the focus where one goes on: in the first field that is wrong or empty, or on the heading. */
export function focus() {
	const fields = [...byId("view").querySelectorAll("[data-input], [data-carry]")];
	const field = fields.find((f) => f.ariaInvalid) ?? fields.find((f) => !f.value);
	(field ?? byId("heading")).focus();
	// Who hears the field hears of the error with it.
	if (field && !field.ariaInvalid && byId("alert").firstChild) field.setAttribute("aria-describedby", "alert");
}

let busy = false;

/** Whether a task is running. */
export const isBusy = () => busy;

/** Runs a task, one at a time; the button that was pressed shows it. recover gets what the task throws. */
export async function attempt(pressed, task, recover) {
	if (busy) return;
	busy = true;
	byId("main").ariaBusy = "true";
	pressed?.classList.add("working");
	try {
		await passkey.stop();
		await task();
	} catch (error) {
		if (!(error instanceof Refusal)) console.error(error);
		await recover(error);
	}
	busy = false;
	byId("main").ariaBusy = null;
	for (const node of document.querySelectorAll(".working")) node.classList.remove("working");
	tell("");
}

/** Runs a passkey ceremony. Meanwhile the button for other devices cancels it. */
export async function ceremony(options, elsewhere) {
	tell(t("device"));
	const button = byId("elsewhere");
	const cancel = (event) => {
		event.stopImmediatePropagation();
		passkey.stop();
	};
	const become = (listen, label) => {
		button?.[listen]("click", cancel, true);
		button?.firstChild.replaceChildren(t(label));
	};
	become("addEventListener", "cancel");
	return passkey.ask(options, elsewhere).finally(() => become("removeEventListener", "elsewhere"));
}
