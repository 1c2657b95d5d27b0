package e2e_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// media are the preferences of a user that a page can react to, as media features.
type media map[string]string

// prefer emulates the preferences; all others are those of the browser.
func (p *tab) prefer(wanted media) {
	p.t.Helper()
	var features []*emulation.MediaFeature
	for name, value := range wanted {
		features = append(features, &emulation.MediaFeature{Name: name, Value: value})
	}
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
}

// resize sets the size of the window in CSS pixels. A window of 1280 by 1024 px at a zoom of 400 % has 320 by 256.
func (p *tab) resize(width, height int64) {
	p.t.Helper()
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1})
}

// accessChecks are checks of a page that axe does not make. Each evaluates an expression that returns
// the faults, in a window of the size and with the preferences. The style is a defect that it must find.
var accessChecks = []struct {
	name          string
	criterion     string // of WCAG 2.2
	width, height int64
	media         media
	faults        string
	defect        string
}{
	{"names and states", "1.3.1, 3.3.1, 4.1.2", 1280, 900, nil, `access.states()`, `h1 { order: 1 }`},
	{"target size", "2.5.8", 1280, 900, nil, `access.small()`, smallTargets},
	{"focus is visible", "2.4.7", 1280, 900, nil, `access.unmarked()`, unmarkedFocus},
	{"focus is not covered", "2.4.11", 1280, 900, nil, `access.covered()`, coveredFocus},
	{"text spacing", "1.4.12", 1280, 900, nil, `access.spaced()`, `h1 { height: 1em; line-height: 1; overflow: hidden }`},
	{"target size on a phone", "2.5.8", 390, 800, nil, `access.small()`, smallTargets},
	{"zoom of 200 %", "1.4.4, 1.4.10", 640, 512, nil, `access.clipped()`, `h1 { min-width: 41rem }`},
	{"zoom of 400 %", "1.4.10", 320, 256, nil, `access.clipped()`, `h1 { min-width: 21rem }`},
	{"focus is not covered at 400 %", "2.4.11", 320, 256, nil, `access.covered()`, coveredFocus},
	{"reduced motion", "2.3.3", 1280, 900, still("light"), `access.moving()`, `h1 { transition: color 1s !important }`},
	{"contrast in light", "1.4.3, 1.4.11", 1280, 900, still("light"), `access.contrast()`, clearFields},
	{"contrast in dark", "1.4.3, 1.4.11", 1280, 900, still("dark"), `access.contrast()`, clearFields},
	{"focus in forced colors", "2.4.7", 1280, 900, media{"forced-colors": "active"}, `access.unmarked()`, unmarkedFocus},
	{"selection in forced colors", "1.4.1", 1280, 900, media{"forced-colors": "active"}, `access.unselected()`, `nav a { forced-color-adjust: auto !important; color: LinkText !important; border: 0 !important; background: none !important; font-weight: 400 !important; box-shadow: none !important; text-decoration: none !important } nav a svg { stroke: gray !important }`},
}

// still is the preference for colors, and for no motion.
func still(scheme string) media {
	return media{"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
}

const (
	clearFields   = `input, select { border-color: transparent !important; background: transparent !important }`
	smallTargets  = `* { gap: 0 !important } a, button { display: block !important; width: 9px !important; height: 9px !important; min-height: 0 !important; margin: 0 !important; padding: 0 !important; overflow: hidden; line-height: 9px !important }`
	unmarkedFocus = `* { outline: none !important; border-color: gray !important; background: none !important; box-shadow: none !important; text-decoration: none !important }`
	coveredFocus  = `header { position: fixed; inset: 0; z-index: 99 }`
)

// eachCheck calls run in the window of each check. The window changes only between checks that differ in it,
// because each change draws the page again.
func (p *tab) eachCheck(run func(i int)) {
	p.t.Helper()
	p.resize(1280, 900)
	p.prefer(nil)
	for i, check := range accessChecks {
		last := accessChecks[max(i-1, 0)]
		if check.width != last.width {
			p.resize(check.width, check.height)
		}
		if !maps.Equal(check.media, last.media) {
			p.prefer(check.media)
		}
		if i == 0 || check.width != last.width || !maps.Equal(check.media, last.media) {
			eval[any](p, `access.drawn().then(() => null)`)
		}
		run(i)
	}
	p.prefer(nil)
}

// checkAccess reports the faults of the page that the checks find.
func (p *tab) checkAccess(where string) {
	p.t.Helper()
	eval[any](p, accessScript+"; null")
	p.eachCheck(func(i int) {
		check := accessChecks[i]
		for _, fault := range eval[[]string](p, check.faults) {
			p.t.Errorf("%s, %s (WCAG %s): %s", where, check.name, check.criterion, fault)
		}
	})
}

// findsDefects fails the test if a check does not find the defect that is added to the page.
func (p *tab) findsDefects() {
	p.t.Helper()
	p.eachCheck(func(i int) {
		check := accessChecks[i]
		faults := eval[int](p, fmt.Sprintf(`(async () => {
			const sheet = new CSSStyleSheet();
			sheet.replaceSync(%q);
			document.adoptedStyleSheets.push(sheet);
			await access.drawn();
			const { length } = await %s;
			document.adoptedStyleSheets.splice(document.adoptedStyleSheets.indexOf(sheet), 1);
			return length;
		})()`, check.defect, check.faults))
		if faults == 0 {
			p.t.Errorf("%s: the check does not find %s", check.name, check.defect)
		}
	})
}

// Every page of the console passes the checks, and gets the focus when it is shown. So do the hosted pages,
// the demonstration and the description of the API.
func TestPagesAreUsable(t *testing.T) {
	t.Parallel()
	p := serve(t)
	c := openConsole(t, p, "")
	c.heading("Overview")
	c.do(chromedp.KeyEvent(kb.Tab)) // from now on the focus is shown as for a keyboard
	c.goTo("/nowhere")
	for _, path := range append(slices.Clone(consolePages), detailPages(t, p)...) {
		c.goTo(path)
		c.until(`document.title.startsWith(document.querySelector("h1").textContent + " ")`)
		c.checkAccess(path)
	}
	c.goTo("/users")
	c.findsDefects()
	c.closesMenu()
	c.expectQuiet()
	checkHostedPages(t, p)
}

// closesMenu opens the menu of narrow windows with the keyboard, and closes it with Escape.
func (c *consoleTab) closesMenu() {
	c.t.Helper()
	c.resize(390, 800)
	eval[any](c.tab, `document.querySelector(".menu").focus(); null`)
	c.do(chromedp.KeyEvent(kb.Enter))
	c.until(`document.querySelector(".menu[aria-expanded=true]")`)
	c.do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab))
	c.until(`document.activeElement.closest("nav")`)
	c.do(chromedp.KeyEvent(kb.Escape))
	c.until(`document.querySelector(".menu[aria-expanded=false]") === document.activeElement`)
	c.resize(1280, 900)
}

// detailPages returns a page of a resource of each kind with a page of its own.
func detailPages(t *testing.T, p *postern) (pages []string) {
	t.Helper()
	for _, path := range markupPages(t, p) {
		if strings.HasPrefix(path, "/flows/") { // passkey-sign-in: a phone shows the whole graph of a longer flow with smaller nodes
			path = "/flows/01900000-0000-7000-8000-000000000061"
		}
		if strings.Count(path, "/") == 2 && !strings.HasPrefix(path, "/applications") {
			pages = append(pages, path)
		}
	}
	return pages
}

// checkHostedPages checks the pages that users see.
func checkHostedPages(t *testing.T, p *postern) {
	t.Helper()
	g := openGate(t, p)
	g.signUp("ines")
	g.do(chromedp.KeyEvent(kb.Tab))
	for _, path := range []string{"/", "/gate/account", "/gate/signup?applicationId=" + tryID, "/gate/signin?lang=de&applicationId=" + tryID, "/gate/signin?applicationId=" + consoleID,
		"/gate/error?error=access_denied", "/gate/signout", "/gate/signedout", "/gate/lock", "/gate/nothing", "/try/", "/docs"} {
		g.present(path == "/gate/account")
		g.open(p.base + path)
		g.until(`document.readyState === "complete" && document.querySelector("h1") && !document.querySelector(".waiting, [aria-busy]")`)
		g.checkAccess(path)
	}
}

// heard waits until a live region has the text, and fails the test if more than one has it.
func (a *administrator) heard(text string) {
	a.t.Helper()
	const regions = `[...document.querySelectorAll("[role=status], [role=alert], [aria-live]")].filter((r) => r.textContent.trim() === %q).length`
	a.until(fmt.Sprintf(regions, text))
	if n := eval[int](a.tab, fmt.Sprintf(regions, text)); n != 1 {
		a.t.Errorf("%q is announced %d times", text, n)
	}
}

// focusAt waits until the focused element matches the selector and its text begins with the text.
func (a *administrator) focusAt(selector, text string) {
	a.t.Helper()
	a.until(fmt.Sprintf(`document.activeElement.matches(%q) && document.activeElement.textContent.startsWith(%q)`, selector, text))
}

// tabTo presses the Tab key until the focused element matches the selector.
func (a *administrator) tabTo(selector string) {
	a.t.Helper()
	for range mostStops {
		if a.evalBool(fmt.Sprintf(`document.activeElement.matches(%q)`, selector)) {
			return
		}
		if a.evalBool(`document.activeElement.isContentEditable`) { // Tab indents
			a.key(kb.Escape)
		}
		a.key(kb.Tab)
	}
	a.t.Fatalf("the Tab key does not reach %s\n%s", selector, a.describe())
}

// The keyboard alone adds, connects and selects nodes, and removes edges, and each change is announced once.
func TestConsoleGraphByKeyboard(t *testing.T) {
	t.Parallel()
	needChecker(t)
	a := asAdministrator(t, serve(t), "admin", "/flows/new", true)
	a.sees("No findings: the flow is safe.")
	a.choose("Kind", "consent")
	a.fill("Id", "agree")
	a.press("Add node")
	a.heard("The node agree was added.")
	a.until(`document.querySelector(".react-flow__node[data-id=agree]")`)
	a.tabTo(".react-flow__node[data-id=agree]")
	a.key(kb.Enter)
	a.choose("granted →", "done")
	a.heard("granted of agree leads to done.")
	const edge = `.react-flow__edge[aria-label^="agree —granted→ done"]`
	a.until(`document.querySelector('` + edge + `')`)
	a.tabTo(edge)
	a.key(kb.Enter)
	a.until(`document.querySelector(".react-flow__edge.selected")`)
	a.key(kb.Delete)
	a.heard("The edge from agree to done was removed.")
	a.until(`!document.querySelector('` + edge + `')`)
	a.press("Undo")
	a.heard("Undone.")
	a.until(`document.querySelector('` + edge + `')`)
	a.press("Redo")
	a.heard("Redone.")
	a.press("Redo")
	a.heard("There is nothing to redo.")
	a.expectQuiet()
}

// A dialog holds the focus and returns it. If what had the focus is gone, the focus is at the part of
// the page around it.
func TestConsoleKeepsTheFocus(t *testing.T) {
	t.Parallel()
	p := serve(t)
	user := createUser(t, p, object{"username": "nils", "email": "nils@example.org"})
	a := asAdministrator(t, p, "admin", "/users/"+user, true)
	a.heading("nils")
	a.choose("Application", "Try it")
	a.press("Invite")
	a.heard("The invitation was sent to nils@example.org.")
	a.press("Withdraw the invitation")
	a.focusAt("[role=alertdialog] button", "Cancel")
	a.resize(320, 256)
	for range 5 {
		a.key(kb.Tab)
		if !a.evalBool(`((e) => e.closest("[role=alertdialog]") && e.getBoundingClientRect().bottom <= innerHeight)(document.activeElement)`) {
			t.Error("the focus leaves the dialog, or the window")
		}
	}
	a.resize(1280, 900)
	a.key(kb.Escape)
	a.focusAt("button", "Withdraw the invitation")
	a.press("Withdraw the invitation")
	a.confirm("Withdraw the invitation")
	a.heard("The invitation was withdrawn.")
	a.focusAt("h2", "Invitation")

	a.fill("Username", "niels")
	a.press("Save")
	a.heard("Saved.")
	a.focusAt("button[type=submit]", "Save")
	a.press("Groups")
	a.press("Create")
	a.heading("Create group")
	a.find("Add: Members", "niels")
	a.press("Remove: niels")
	a.focusAt("legend", "Members")
	a.fill("Name", "Crew")
	a.press("Create")
	a.heading("Crew")
	a.focusAt("main", "Groups") // the page above it
	a.press("Delete")
	a.confirm("Delete")
	a.heading("Groups")
	a.focusAt("main", "Groups")
	a.tabTo("a.skip")
	a.key(kb.Enter)
	a.focusAt("main", "Groups")
	a.expectQuiet()
}

// accessScript has the checks that run in a page. Each returns a list of faults.
const accessScript = `window.access ??= (() => {
	const brief = (e) => e.outerHTML.replace(/\s+/g, " ").slice(0, 160);
	const each = (selector, isFault) => [...document.querySelectorAll(selector)].filter((e) => shown(e) && isFault(e)).map(brief);
	const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
	const shown = (e) => e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length > 0;
	const isUnseen = (e) => { const r = e.getBoundingClientRect(); return r.width <= 1 || r.height <= 1 || r.right < 0; };
	const stops = () => [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex], [contenteditable=true]")]
		.filter((e) => e.tabIndex >= 0 && !e.disabled && shown(e) && !e.closest("[inert]"));
	const seen = (e) => (isUnseen(e) ? e.closest("label") ?? e : e);
	// One of each looks like all others: of the elements with the same name, classes and parent, the first.
	const kinds = (list) => [...new Map(list.map((e) => [[e.tagName, e.className.baseVal ?? e.className, e.type, e.parentElement.tagName, e.parentElement.className].join(), e]).reverse()).values()];

	const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
	const known = new Map();
	const rgba = (color) => {
		if (!known.has(color)) {
			pen.clearRect(0, 0, 1, 1);
			pen.fillStyle = color;
			pen.fillRect(0, 0, 1, 1);
			known.set(color, [...pen.getImageData(0, 0, 1, 1).data]);
		}
		return known.get(color);
	};
	const over = ([r, g, b, a], below) => [r, g, b].map((v, i) => v * a / 255 + below[i] * (1 - a / 255));
	const ground = (e) => (e ? over(rgba(getComputedStyle(e).backgroundColor), ground(e.parentElement)) : over(rgba("Canvas"), [255, 255, 255]));
	const light = (color) => color.slice(0, 3).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
	const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
	const ink = (e, pseudo) => { const { color, opacity } = getComputedStyle(e, pseudo); return over(over(rgba(color), ground(e)).concat(255 * opacity), ground(e.parentElement)); };

	const look = (e) => [e, e.closest("label"), e.parentElement, e.parentElement?.parentElement, e.parentElement?.parentElement?.parentElement, ...[...e.querySelectorAll(e.closest("svg") ? "*" : ":not(svg *)")].slice(0, 9), ...(e.closest("label")?.querySelectorAll("*") ?? [])]
		.filter(Boolean).map((n) => { const s = getComputedStyle(n); return [s.outlineStyle === "none" || s.outlineWidth === "0px" ? "" : s.outline, s.borderTopWidth === "0px" && s.borderBottomWidth === "0px" ? "" : s.border, s.boxShadow, s.backgroundColor, s.textDecorationLine, s.stroke, s.strokeWidth, s.fontWeight].join(); }).join("|");

	// The elements that clip or scroll what is in them.
	const frames = () => new Map([...document.querySelectorAll("body *")].flatMap((e) => {
		const s = getComputedStyle(e), hides = (value) => /hidden|clip/.test(value);
		return s.overflow !== "visible" || s.clipPath !== "none" ? [[e, { x: hides(s.overflowX), y: hides(s.overflowY), isExempt: /auto|scroll/.test(s.overflowX) || s.clipPath !== "none" || isUnseen(e) || s.textOverflow === "ellipsis" && e.title, box: e.getBoundingClientRect() }]] : [];
	}));
	const cut = (e, clipping) => {
		const range = document.createRange();
		if (e.closest("svg, .graph, .cm-editor, select")) return "";
		for (const text of e.childNodes) {
			if (text.nodeType !== 3 || !text.data.trim()) continue;
			range.selectNodeContents(text);
			const r = range.getBoundingClientRect();
			if (r.width < 2) continue;
			for (let a = e; a; a = a.parentElement) {
				const frame = clipping.get(a);
				if (frame?.isExempt) return "";
				if (frame?.x && (r.right > frame.box.right + 1 || r.left < frame.box.left - 1) || frame?.y && (r.bottom > frame.box.bottom + 3 || r.top < frame.box.top - 3)) return "is clipped: ";
			}
			if (r.right > innerWidth + 1 || r.left < -1 && !isUnseen(e)) return "is outside of the window: ";
			if (e.matches("button, .button") && r.bottom > e.getBoundingClientRect().bottom + 1) return "is higher than its button: ";
		}
		return "";
	};
	const clipped = () => [
		...(document.documentElement.scrollWidth > innerWidth ? ["the page is " + (document.documentElement.scrollWidth - innerWidth) + " px wider than the window"] : []),
		...((clipping) => [...document.querySelectorAll("body *")].filter(shown).flatMap((e) => { const how = cut(e, clipping); return how ? [how + brief(e)] : []; }))(frames()),
		...each("*", (e) => /auto|scroll/.test(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth + 1 && !/^(HTML|BODY|TEXTAREA|SELECT|INPUT|PRE|TABLE)$/.test(e.tagName) && !e.matches(".cm-scroller, .scroll") && !e.querySelector("table, pre")).map((text) => "scrolls sideways: " + text),
	];

	return {
		drawn,
		clipped,
		// 24 px in both directions, or so far from other targets that a circle of 24 px around it touches none.
		small() {
			const all = stops().map(seen).filter((e, i, list) => !isUnseen(e) && list.indexOf(e) === i && !e.closest(".react-flow__edge")).map((e) => ({ e, r: e.getBoundingClientRect() }));
			const isSmall = ({ r }) => r.width < 23.9 || r.height < 23.9;
			const isInText = ({ e }) => getComputedStyle(e).display === "inline" && [...e.parentElement.childNodes].some((n) => n !== e && n.textContent.trim());
			return all.filter((one) => isSmall(one) && !isInText(one) && all.some((other) => {
				if (other === one || other.e.contains(one.e) || one.e.contains(other.e)) return false;
				const [x, y] = [one.r.x + one.r.width / 2, one.r.y + one.r.height / 2];
				const [dx, dy] = [Math.max(other.r.left - x, 0, x - other.r.right), Math.max(other.r.top - y, 0, y - other.r.bottom)];
				const apart = Math.hypot(x - other.r.x - other.r.width / 2, y - other.r.y - other.r.height / 2);
				return Math.hypot(dx, dy) < 12 || isSmall(other) && apart < 24;
			})).map(({ e, r }) => Math.round(r.width) + " × " + Math.round(r.height) + " px: " + brief(e));
		},
		async unmarked() {
			const faults = [];
			for (const e of kinds(stops())) {
				document.activeElement.blur();
				const before = look(e);
				e.focus({ preventScroll: true });
				if (document.activeElement === e && look(e) === before) await drawn(); // a script marks it
				if (document.activeElement === e && look(e) === before) faults.push(brief(e));
			}
			return faults;
		},
		unselected() {
			document.activeElement.blur();
			const states = ["aria-selected", "aria-pressed", "aria-current", "aria-checked"];
			const isOn = (e) => states.some((name) => !["false", null].includes(e.getAttribute(name)));
			return each(states.map((name) => "[" + name + "]").join(), (e) => {
				return isOn(e) && [...document.querySelectorAll(e.tagName)].some((other) => !isOn(other) && shown(other) && other.role === e.role && other.parentElement.tagName === e.parentElement.tagName && other.closest("nav, [role=tablist]") === e.closest("nav, [role=tablist]") && look(other) === look(e));
			});
		},
		spaced() {
			const sheet = new CSSStyleSheet();
			sheet.replaceSync("* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important; } p { margin-bottom: 2em !important; }");
			document.adoptedStyleSheets.push(sheet);
			const faults = clipped();
			document.adoptedStyleSheets.pop();
			return faults;
		},
		covered() {
			return kinds(stops()).concat(stops().slice(-12)).filter((stop) => {
				document.activeElement.blur();
				stop.focus();
				const e = seen(stop), r = e.getBoundingClientRect();
				if (document.activeElement !== stop || e.closest("svg")) return false;
				const [left, right, top, bottom] = [Math.max(r.left, 0), Math.min(r.right, innerWidth), Math.max(r.top, 0), Math.min(r.bottom, innerHeight)];
				return right <= left || bottom <= top || ![0.1, 0.5, 0.9].some((x) => [0.1, 0.5, 0.9].some((y) => {
					const hit = document.elementFromPoint(left + (right - left) * x, top + (bottom - top) * y);
					return hit && (e.contains(hit) || hit.contains(e) && getComputedStyle(hit).position !== "sticky");
				}));
			}).map(brief);
		},
		moving() {
			const seconds = (list) => Math.max(...list.split(",").map(parseFloat));
			return [
				...document.getAnimations().filter((a) => a.effect.getComputedTiming().activeDuration > 10).map((a) => "moves: " + (a.animationName ?? a.transitionProperty) + " of " + brief(a.effect.target)),
				...each("*", (e) => ["", "::before", "::after"].some((pseudo) => { const s = getComputedStyle(e, pseudo); return s.animationName !== "none" && seconds(s.animationDuration) > 0.01 || seconds(s.transitionDuration) > 0.01 || s.scrollBehavior === "smooth"; })).map((text) => "can move: " + text),
			];
		},
		contrast() {
			document.activeElement.blur();
			const faults = [];
			const need = (least, got, what, e) => got < least - 0.01 && faults.push(what + " has a contrast of " + got.toFixed(2) + ", want " + least + ": " + brief(e));
			for (const e of [...document.querySelectorAll("input:not([type=checkbox], [type=radio]), select, textarea, .box, .switch")].filter((e) => shown(e) && !isUnseen(e))) {
				const { borderBottomColor, borderBottomWidth } = getComputedStyle(e), around = ground(e.parentElement);
				if (e.tagName !== "SELECT" || rgba(borderBottomColor)[3]) need(3, Math.max(borderBottomWidth === "0px" ? 1 : ratio(over(rgba(borderBottomColor), around), around), ratio(ground(e), around)), "a field", e);
				if (e.placeholder) need(4.5, ratio(ink(e, "::placeholder"), ground(e)), "a placeholder", e);
			}
			for (const e of document.querySelectorAll("button:disabled")) if (shown(e)) need(4.5, ratio(ink(e), ground(e)), "a disabled button", e);
			const rules = (list) => [...list].flatMap((rule) => (rule.selectorText ? [rule] : rule.media && !matchMedia(rule.media.mediaText).matches ? [] : rules(rule.cssRules ?? [])));
			const hovered = [...document.styleSheets].flatMap((sheet) => rules(sheet.cssRules)).filter((rule) => /:hover|\[data-hovered\]/.test(rule.selectorText)).map((rule) => [rule, rule.selectorText]);
			for (const [rule, selector] of hovered) rule.selectorText = selector.replaceAll(":hover", "[data-hovered]");
			for (const e of kinds(hovered.flatMap(([, selector]) => [...document.querySelectorAll(selector.replace(/:hover|\[data-hovered\]/g, ""))])).filter((e) => shown(e) && !e.disabled)) {
				e.setAttribute("data-hovered", "");
				for (const part of [e, ...e.querySelectorAll("*")]) if ([...part.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) need(4.5, ratio(ink(part), ground(part)), "text under the pointer", part);
				e.removeAttribute("data-hovered");
			}
			for (const [rule, selector] of hovered) rule.selectorText = selector;
			return faults;
		},
		states() {
			const faults = (what, selector, isFault) => each(selector, isFault).map((text) => what + ": " + text);
			const refers = (e, name) => (e.getAttribute(name) ?? "").split(" ").filter(Boolean);
			const text = (ids) => ids.map((id) => document.getElementById(id)?.textContent ?? "").join("");
			return [
				...(/^(en|de|fr)$/.test(document.documentElement.lang) && document.title.trim() ? [] : ["the page has the language " + document.documentElement.lang + " and the title " + document.title]),
				...faults("a table without a name", "table", (e) => !e.caption && !e.ariaLabel && !e.closest("[aria-labelledby], [aria-label]")),
				...faults("a table without headers", "table", (e) => !e.querySelector("th[scope], [role=columnheader]")),
				...faults("a name without letters", "button, a[href], summary", (e) => !e.ariaLabel && !e.getAttribute("aria-labelledby") && !/[\p{L}\p{N}]/u.test(e.textContent) && !e.querySelector("img[alt]")),
				...faults("a reference to nothing", "[aria-describedby], [aria-labelledby], [aria-controls]", (e) => ["aria-describedby", "aria-labelledby"].some((name) => refers(e, name).some((id) => !document.getElementById(id)))),
				...faults("required only in the label", "input, select, textarea", (e) => [...(e.labels ?? [])].some((label) => /\((required|erforderlich|obligatoire)\)/.test(label.textContent)) && !e.required && e.ariaRequired !== "true"),
				...faults("an error without its text", "[aria-invalid=true]", (e) => !text([...refers(e, "aria-describedby"), ...refers(e, "aria-errormessage")]).trim()),
				...faults("a description that is not tied to its field", "[slot=description]", (e) => e.textContent && e.closest(".field") && !document.querySelector("[aria-describedby~='" + CSS.escape(e.id) + "']")),
				...faults("announced twice", "[role=status], [role=alert], [aria-live]", (e) => e.parentElement.closest("[role=status], [role=alert], [aria-live]")),
				...faults("in another order than it is read", "*", (e) => e.tabIndex > 0 || getComputedStyle(e).order !== "0" || /reverse/.test(getComputedStyle(e).flexDirection)),
			];
		},
	};
})()`
