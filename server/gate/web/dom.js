// Building the page. Text from elsewhere becomes text nodes and attribute
// values, never markup.

/** Finds an element by its id. */
export const byId = (id) => document.getElementById(id);

/** Makes an element; attributes and children that are false, null or undefined are left out. */
export function el(tag, attributes = {}, ...children) {
	const node = document.createElement(tag);
	set(node, attributes);
	node.append(...children.flat().filter(Boolean));
	return node;
}

/** Sets attributes; true means an empty one. */
export function set(node, attributes) {
	for (const [name, value] of Object.entries(attributes)) {
		if (value !== undefined && value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
	}
}

/** Makes a button that calls act with itself. Its label has a box, whose place a spinner takes. */
export function button(label, attributes, act) {
	const node = el("button", { type: "button", ...attributes }, el("span", {}, label));
	node.addEventListener("click", () => act(node));
	return node;
}

/** The heading of what the page shows. It may have the focus. */
export const heading = (text) => el("h1", { id: "heading", tabindex: "-1" }, text);

/** A form that never leaves the page. The server says what is wrong with an answer, at all fields at once. */
export function form(labelledby, ...children) {
	const node = el("form", { novalidate: true, "aria-labelledby": labelledby }, ...children);
	node.addEventListener("submit", (event) => event.preventDefault());
	return node;
}

const shapes = {
	door: ["M3.5 22V11a8.5 8.5 0 0 1 17 0v11z", "M8 22V11.5a4 4 0 0 1 8 0V22z"],
	key: ["M8 1.8a6.2 6.2 0 1 0 4.3 10.7L14 14.2v2.3h2.3v2.3h2.3l2 2H23v-3.8l-7.9-7.9A6.2 6.2 0 0 0 8 1.8zM6.5 4.7a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6z"],
	screen: ["M3 4h18a1 1 0 0 1 1 1v11a1 1 0 0 1-1 1h-7v2h3v1.5H7V19h3v-2H3a1 1 0 0 1-1-1V5a1 1 0 0 1 1-1zm.7 1.7v9.6h16.6V5.7z"],
};

/** A picture that says nothing to who cannot see it. */
export function icon(name) {
	const make = (tag, attributes, ...children) => {
		const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
		set(node, attributes);
		node.append(...children);
		return node;
	};
	const paths = shapes[name].map((d) => make("path", { d, "fill-rule": "evenodd" }));
	return make("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", class: `icon ${name}` }, ...paths);
}
