// The looks: whose service this is, and the application's colors, from GET /flow/meta.
// Colors are changed as far as it takes to read what is written in them.
import { byId, el, initial } from "./dom.js";

const dark = matchMedia("(prefers-color-scheme: dark)");

let current = {}; // the theme

dark.addEventListener("change", paint);

// Shows what the user signs in to, and below it whose service this is: the brand, which is the
// organization's or the service's. application is that of a sign-in; its logo is that of its theme, or else
// its own. theme may have colors {primary, background}, the same under dark, radius (a CSS length),
// logoUrl, faviconUrl, backgroundUrl, font (CSS font families) and fontUrl, where they are valid.
export function dress(brand = {}, application = {}, theme = {}) {
	const own = picture(theme.logoUrl ?? application.logoUrl);
	const theirs = picture(brand.logoUrl);
	const named = !application.unverified && application.name;
	const instead = () => (named ? initial(named, "tile") : image(new URL("icon.svg", import.meta.url).href, () => ""));
	byId("logo").replaceChildren(own || (!named && theirs) ? image(own || theirs, instead) : instead());
	byId("brand").replaceChildren(theirs && (own || named) ? image(theirs, () => "") : "", el("span", {}, brand.name));
	style("--radius", CSS.supports("border-radius", theme.radius) ? theme.radius : "");
	style("--font", theme.font && CSS.supports("font-family", theme.font) ? theme.font : "");
	loadFont(picture(theme.fontUrl));
	const background = picture(theme.backgroundUrl);
	style("--picture", background && `url("${new URL(background, location.href)}")`);
	document.body.classList.toggle("pictured", background !== "");
	const favicon = document.querySelector("link[rel=icon]");
	favicon.dataset.own ??= favicon.href;
	favicon.href = picture(theme.faviconUrl) || favicon.dataset.own;
	favicon.type = theme.faviconUrl ? "" : "image/svg+xml";
	current = theme;
	paint();
}

// A picture, and what takes its place if it cannot be loaded.
function image(src, instead) {
	const node = el("img", { src, alt: "", height: 56 });
	node.addEventListener("error", () => node.replaceWith(instead()), { once: true });
	return node;
}

// The address of a picture, "" if it is none that may be shown.
export const picture = (url) => (/^(https?:|data:image\/|\/)/.test(url) ? url : "");

// Loads a font file under the name Brand, which theme.font can list. A page without it is readable.
function loadFont(url) {
	if (url) new FontFace("Brand", `url("${new URL(url, location.href)}")`).load().then((font) => document.fonts.add(font), () => {});
}

const style = (name, value) => document.documentElement.style.setProperty(name, value);

function paint() {
	const { colors, dark: night } = current;
	for (const name of ["--page", "--accent", "--on-accent", "--link", "--foot", "--tile", "--on-tile"]) style(name, "");
	const card = rgb(getComputedStyle(document.documentElement).getPropertyValue("--card"));
	// A light page behind a dark card would blind: dark has its own or the usual.
	const page = rgb((dark.matches ? night?.colors : colors)?.background);
	const primary = rgb((dark.matches && night?.colors?.primary) || colors?.primary);
	if (page) {
		style("--page", css(page));
		style("--foot", css(best(page)));
	}
	if (primary && card) {
		style("--accent", css(primary));
		style("--on-accent", css(best(primary)));
		style("--tile", css(primary));
		style("--on-tile", css(best(primary)));
		style("--link", css(readable(primary, card)));
	}
}

// A CSS color's red, green and blue from 0 to 1; undefined if it is none, or lets something through.
function rgb(text) {
	const mixed = `color-mix(in srgb, ${text}, ${text})`;
	if (!CSS.supports("color", mixed)) return undefined;
	const probe = byId("brand");
	probe.style.color = mixed;
	const numbers = getComputedStyle(probe).color.match(/[\d.]+(e-\d+)?/g);
	probe.style.color = "";
	return numbers.length === 3 ? numbers.map(Number) : undefined;
}

const css = (color) => `rgb(${color.map((v) => Math.round(v * 255)).join(" ")})`;

// Relative luminance and contrast: WCAG 2.2.
function luminance(color) {
	const [r, g, b] = color.map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
	return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
}

function contrast(a, b) {
	const ratio = luminance(a) / luminance(b);
	return Math.max(ratio, 1 / ratio);
}

// White or black: where the one cannot be read the other can.
const best = (ground) => Array(3).fill(contrast([1, 1, 1], ground) >= 4.5 ? 1 : 0);

// The color, moved towards white or black until it can be read on the ground.
function readable(color, ground) {
	let share = 0;
	const moved = () => color.map((v, i) => v + (best(ground)[i] - v) * share);
	while (share < 1 && contrast(moved(), ground) < 4.5) share += 0.05;
	return moved();
}
