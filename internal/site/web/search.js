// The search: each term must begin a word of a section or of its page's title. Sections are ordered by
// where the terms are: in the title, in the heading, or in the text.
"use strict";

const shownResults = 30;

// wordsOf returns the words of a text in lower case, without the "s" of a plural.
function wordsOf(text) {
	return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => word.replace(/(?<=\p{L}{3})s$/u, ""));
}

// termsOf returns the words of a query, without articles and the like if it has others.
function termsOf(query) {
	const words = wordsOf(query);
	const terms = words.filter((word) => !["a", "an", "and", "for", "how", "in", "is", "it", "my", "of", "on", "or", "the", "to", "with"].includes(word));
	return terms.length > 0 ? terms : words;
}

// sectionOf returns a section of a page. The first one is the page's introduction, which has no heading.
function sectionOf([title, page, group], [headings, anchor, text], isFirst) {
	const heading = isFirst ? title + " " + headings[0] : headings.at(-1);
	return {
		title, group, text, isFirst, url: isFirst ? page : page + "#" + anchor,
		name: isFirst ? title : [title, ...headings].join(" › "),
		titleWords: wordsOf(title), headingWords: wordsOf(heading), aboveWords: wordsOf(headings.slice(0, -1).join(" ")), textWords: wordsOf(text),
	};
}

const sections = searchIndex.flatMap((page) => page[3].map((part, i) => sectionOf(page, part, i === 0)));

// match returns how well the best of words fits a term: 0 for no word, 1 for a prefix, 2 for a word.
function match(words, term) {
	let best = 0;
	for (const word of words) {
		if (word === term) return 2;
		if (word.startsWith(term)) best = 1;
	}
	return best;
}

// scoreTerm returns the score of a section for one term; 0 if the section does not contain it.
function scoreTerm(section, term) {
	const text = match(section.textWords, term);
	const count = text === 2 ? section.textWords.filter((word) => word === term).length : 0;
	const title = match(section.titleWords, term) * (section.isFirst ? 10 : 2);
	return title + match(section.headingWords, term) * 5 + match(section.aboveWords, term) * 2 + text + Math.min(count, 8) / 8;
}

// score returns the score of a section; 0 if one of the terms is missing.
function score(section, terms) {
	let sum = 0;
	for (const term of terms) {
		const added = scoreTerm(section, term);
		if (added === 0) return 0;
		sum += added;
	}
	const phrase = terms.join(" ");
	if (section.headingWords.join(" ") === phrase || (section.isFirst && section.titleWords.join(" ") === phrase)) sum += 20;
	if (section.textWords.join(" ").includes(phrase)) sum += terms.length;
	return sum / terms.length;
}

// search returns the sections that contain all words of a query, the best first.
function search(query) {
	const terms = termsOf(query);
	if (terms.length === 0) return [];
	return sections.map((section) => ({ section, score: score(section, terms) }))
		.filter((found) => found.score > 0)
		.sort((a, b) => b.score - a.score)
		.map((found) => found.section);
}

// excerpt returns the text around the first term that it contains.
function excerpt(text, terms) {
	const words = [...text.matchAll(/[\p{L}\p{N}]+/gu)];
	const first = words.find((word) => terms.some((term) => word[0].toLowerCase().startsWith(term)));
	const at = Math.max(0, (first?.index ?? 0) - 60);
	const start = at === 0 ? 0 : text.indexOf(" ", at) + 1;
	return (start > 0 ? "… " : "") + text.slice(start, start + 200) + (text.length > start + 200 ? " …" : "");
}

// marked returns nodes of a text in which the words that begin with a term are marked.
function marked(text, terms) {
	return text.split(/([\p{L}\p{N}]+)/u).map((piece, i) => {
		if (i % 2 === 0 || !terms.some((term) => piece.toLowerCase().startsWith(term))) return piece;
		const mark = document.createElement("mark");
		mark.textContent = piece;
		return mark;
	});
}

function element(name, className, ...children) {
	const created = document.createElement(name);
	if (className) created.className = className;
	created.append(...children);
	return created;
}

function resultItem(section, terms) {
	const link = element("a", "", ...marked(section.name, terms));
	link.href = section.url;
	return element("li", "", link, element("span", "where", section.group), element("p", "", ...marked(excerpt(section.text, terms), terms)));
}

function statusOf(query, count) {
	if (wordsOf(query).length === 0) return "Type one or more words.";
	if (count === 0) return `No results for “${query}”. Try fewer or shorter words.`;
	const results = count === 1 ? "1 result" : `${count} results`;
	return `${results} for “${query}”` + (count > shownResults ? `. The best ${shownResults} are shown.` : "");
}

const field = document.getElementById("q");
const list = document.getElementById("results");
const status = document.getElementById("results-status");

function show() {
	const query = field.value.trim();
	const found = search(query), terms = termsOf(query);
	list.replaceChildren(...found.slice(0, shownResults).map((section) => resultItem(section, terms)));
	status.textContent = statusOf(query, found.length);
}

// The address keeps the query, so that "back" returns to the results. Files cannot change theirs.
function keepQuery() {
	if (location.protocol !== "file:") history.replaceState(null, "", "?q=" + encodeURIComponent(field.value));
}

// moveFocus moves the focus from the field to the results and between them.
function moveFocus(step) {
	const stops = [field, ...list.querySelectorAll("a")];
	const to = stops[stops.indexOf(document.activeElement) + step];
	if (to) to.focus();
}

document.addEventListener("keydown", (event) => {
	const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
	const isHere = document.activeElement === field || list.contains(document.activeElement);
	if (!step || !isHere) return;
	event.preventDefault();
	moveFocus(step);
});

field.value = new URLSearchParams(location.search).get("q") ?? "";
field.addEventListener("input", () => { show(); keepQuery(); });
show();
field.focus();
