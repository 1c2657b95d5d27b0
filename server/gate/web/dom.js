// Building the page. Text from elsewhere becomes text nodes and attribute
// values, never markup.

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

const shapes = {
	door: "M3.5 22V11a8.5 8.5 0 0 1 17 0v11zM8 22V11.5a4 4 0 0 1 8 0V22z",
	mail: "M2 5h20v2l-10 6L2 7zM2 9.5l10 6 10-6V19H2z",
	person: "M12 2a5 5 0 1 1 0 10 5 5 0 0 1 0-10zM3 22a9 8 0 0 1 18 0z",
	phone: "M6 1h12v22H6zM8 4v14h8V4z",
	list: "M4 5h16v2H4zM4 11h16v2H4zM4 17h16v2H4z",
	tick: "M3 12l2-2 5 5L19 5l2 2L10 19z",
	key: "M8 1.8a6.2 6.2 0 1 0 4.3 10.7L14 14.2v2.3h2.3v2.3h2.3l2 2H23v-3.8l-7.9-7.9A6.2 6.2 0 0 0 8 1.8zM6.5 4.7a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6z",
};

export function icon(name) {
	const make = (tag, attributes) => set(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes);
	const picture = make("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", class: `icon ${name}` });
	picture.append(make("path", { d: shapes[name], "fill-rule": "evenodd" }));
	return picture;
}
