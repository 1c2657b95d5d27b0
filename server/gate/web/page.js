// What every page does: shows a view, says what goes on and what went wrong.
import { byId, el, heading } from "./dom.js";
import { Refusal } from "./wire.js";
import { explain, t } from "./words.js";
import * as passkey from "./passkey.js";

// Replaces the content by nodes; the first is or contains the heading. A heading alone stands between the logo and the
// organization, and an alert above what it is about.
export function view(name, ...nodes) {
	const [first, ...rest] = nodes.flat().filter(Boolean);
	const isHeading = first.tagName === "H1";
	byId("alert").replaceChildren();
	document.querySelector("main > h1")?.remove();
	if (isHeading) byId("brand").before(first);
	byId("view").replaceChildren(...(isHeading ? rest : [first, ...rest]));
	byId("view").dataset.view = name;
	document.title = ["heading", "brand"].map((id) => byId(id).textContent).join(" · ");
	document.documentElement.classList.remove("waiting");
}

// Shows a heading, perhaps a text, and perhaps ways on.
export const message = (name, title, text, ...ways) => view(name, heading(title), text && el("p", { class: "lead" }, text), ...ways);

// Shows an error that ends what the page was for. Support finds the request by its trace id.
export function fail({ traceId, ...error }, ...ways) {
	const id = traceId && el("p", { class: "soft" }, t("Trace id: {id}", { id: traceId }));
	view("over", heading(t("over")), describe(error), id, ways);
	byId("heading").focus();
}

// A link back to an application. What an unverified one says of itself may be a lure.
export const back = ({ name, url, unverified } = {}) => !unverified && /^https?:/.test(url) && el("a", { class: "button", href: url }, t("Back to {app}", { app: name }));

// A way on from a page that ends here: back to the application, or else to the start page.
export const way = (application) => back(application) || el("a", { class: "button", href: new URL("..", document.baseURI.replace(/(\/gate\/).*/, "$1")).href }, t("Go to the start page"));

// Says what is going on, to who cannot see it.
export const tell = (text) => { byId("status").textContent = text; };

export const note = (text) => byId("alert").replaceChildren(el("p", {}, text));

export const complain = (error) => byId("alert").replaceChildren(el("div", { class: "fault" }, describe(error)));

// Asks for something that is needed first, with a button; it is no fault.
export const ask = (error, way) => byId("alert").replaceChildren(el("div", { class: "ask" }, el("p", {}, explain(error).text), way));

function describe(error) {
	const { text, details } = explain(error);
	return [el("p", {}, text), details && el("details", {}, el("summary", {}, t("details")), el("p", {}, details))];
}

// Puts the focus where one goes on: in the first field that is wrong or empty, or on the heading.
export function focus() {
	const fields = [...byId("view").querySelectorAll("[name]")];
	const field = fields.find((f) => f.ariaInvalid) ?? fields.find((f) => !f.value);
	(field ?? byId("heading")).focus();
	// Who hears the field hears of the error with it.
	if (field && !field.ariaInvalid && byId("alert").firstChild) field.setAttribute("aria-describedby", "alert");
}

let busy = false;

export const isBusy = () => busy;

// Runs a task, one at a time. The button that was pressed shows it, recover gets what the task throws.
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

// Runs a passkey ceremony. Meanwhile the button for other devices cancels it.
export function ceremony(options, elsewhere) {
	tell(t("Continue on your device…"));
	const button = byId("elsewhere");
	button?.closest("details")?.setAttribute("open", "");
	const cancel = (event) => {
		event.stopImmediatePropagation();
		passkey.stop();
	};
	const become = (label, listen) => {
		button?.[`${listen}EventListener`]("click", cancel, true);
		button?.firstChild.replaceChildren(t(label));
	};
	become("cancel", "add");
	return passkey.ask(options, elsewhere).finally(() => become("Use a phone or security key", "remove"));
}
