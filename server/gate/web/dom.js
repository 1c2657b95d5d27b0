// Building the page. Text from elsewhere becomes text nodes and attribute
// values, never markup.
import icons from "./icons.js";

export const byId = (id) => document.getElementById(id);

// Makes an element. Children that are falsy are left out.
export function el(tag, attributes = {}, ...children) {
	const node = set(document.createElement(tag), attributes);
	node.append(...children.flat().filter(Boolean));
	return node;
}

// Sets attributes: true means an empty one, undefined, null and false none.
export function set(node, attributes) {
	for (const [name, value] of Object.entries(attributes)) {
		if (value != null && value !== false) node.setAttribute(name, value === true ? "" : value);
	}
	return node;
}

// Makes a button that calls act with itself. Its label has a box, whose place a spinner takes.
export function button(label, attributes, act) {
	const node = el("button", { type: "button", ...attributes }, el("span", {}, label));
	node.addEventListener("click", () => act(node));
	return node;
}

export const heading = (text) => el("h1", { id: "heading", tabindex: "-1" }, text);

// A form that never leaves the page. The server says what is wrong with an answer, at all fields at once.
export function form(labelledby, ...children) {
	const node = el("form", { novalidate: true, "aria-labelledby": labelledby }, ...children);
	node.addEventListener("submit", (event) => event.preventDefault());
	return node;
}

export function icon(name) {
	const make = ([tag, attributes]) => set(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes);
	const picture = make(["svg", { viewBox: "0 0 24 24", "aria-hidden": "true", class: "icon" }]);
	picture.append(...icons[name].map(make));
	return picture;
}

// The first letter of a name, in place of a picture.
export const initial = (name, shape = "initial") => el("span", { class: shape, "aria-hidden": "true" }, [...name][0]);
