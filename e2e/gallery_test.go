package e2e_test

import (
	"flag"
	"math"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

var updateGallery = flag.Bool("update-gallery", false, "write testdata/gallery.json, the looks of the components of the console")

// looks are what a component looks like in a scheme: the box and the style of each element of it that is
// marked, has a class, or is a control. The font is bundled, and replaces the fixed-width font of the system
// here, so boxes are the same on every machine.
type looks map[string][]look

type look struct {
	Element string
	Box     [4]float64 // left and top in the component, width, height
	Style   string
}

// tolerance is how far an edge of a box may be from where it was, in pixels: browsers round differently.
const tolerance = 2.0

const readLooks = `document.fonts.ready.then(() => Object.fromEntries([...document.querySelectorAll("[data-part]")].map((part) => {
	const at = part.getBoundingClientRect();
	const round = (n) => Math.round(n * 2) / 2;
	return [part.dataset.part, [part, ...part.querySelectorAll("h2, p, button, a, input, textarea, select, label, legend, dt, dd, td, th, li, svg, [class]")].filter((e) => e.checkVisibility() && !e.closest("svg > *")).map((e) => {
		const r = e.getBoundingClientRect(), s = getComputedStyle(e);
		const name = e.tagName.toLowerCase() + (typeof e.className === "string" && e.className ? "." + e.className.split(/\s+/).filter((c) => !/^react-aria-\d/.test(c)).join(".") : "");
		return { Element: name, Box: [r.left - at.left, r.top - at.top, r.width, r.height].map(round), Style: [s.color, s.backgroundColor, s.borderBottomWidth === "0px" ? "" : s.borderBottomColor, s.borderTopLeftRadius, s.fontSize, s.fontWeight].join("|") };
	})];
})))`

// openGallery builds the page with every component, serves it, and opens it.
func openGallery(t *testing.T) *consoleTab {
	t.Helper()
	const web = "../server/console/web"
	modules(t, web, "vite")
	folder := t.TempDir()
	build := exec.CommandContext(t.Context(), "node", "node_modules/vite/bin/vite.js", "build", "--mode", "gallery", "--outDir", folder)
	build.Dir = web
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	t.Cleanup(server.Close)
	c := &consoleTab{tab: openTab(t)}
	c.resize(1280, 900)
	c.open(server.URL + "/gallery.html")
	c.until(`document.querySelectorAll("[data-part]").length > 20`)
	eval[any](c.tab, `document.documentElement.style.setProperty("--mono", "var(--font)"); null`)
	return c
}

// Every component of the console, in every state, passes axe and looks as it did, in light and dark and with
// more contrast. After a wanted change: go test ./e2e -run TestComponents -update-gallery
func TestComponents(t *testing.T) {
	t.Parallel()
	c := openGallery(t)
	const file = "testdata/gallery.json"
	got := map[string]looks{}
	for name, preferences := range map[string]media{
		"light": still("light"), "dark": still("dark"),
		"light, more contrast": {"prefers-color-scheme": "light", "prefers-contrast": "more", "prefers-reduced-motion": "reduce"},
		"dark, more contrast":  {"prefers-color-scheme": "dark", "prefers-contrast": "more", "prefers-reduced-motion": "reduce"},
	} {
		c.prefer(preferences)
		eval[any](c.tab, `new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))`)
		c.isAccessible("the components in " + name)
		got[name] = eval[looks](c.tab, readLooks)
	}
	c.prefer(nil)
	c.checkAccess("the components")
	if *updateGallery {
		datatest.WriteFile(t, file, datatest.Marshal(t, got))
		return
	}
	var want map[string]looks
	datatest.Unmarshal(t, datatest.ReadFile(t, file), &want)
	for scheme, parts := range want {
		for part, elements := range parts {
			compareLooks(t, scheme+": "+part, elements, got[scheme][part])
		}
		for part := range got[scheme] {
			if _, ok := parts[part]; !ok {
				t.Errorf("%s: %s is new: run the test with -update-gallery", scheme, part)
			}
		}
	}
	if problems := c.console.String(); problems != "" {
		t.Errorf("the browser complains: %s", problems)
	}
}

func compareLooks(t *testing.T, where string, want, got []look) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s has %d elements, want %d", where, len(got), len(want))
		return
	}
	for i, w := range want {
		g := got[i]
		moved := 0.0
		for edge := range w.Box {
			moved = max(moved, math.Abs(w.Box[edge]-g.Box[edge]))
		}
		if g.Element != w.Element || g.Style != w.Style || moved > tolerance {
			t.Errorf("%s: element %d is\n%v, want\n%v", where, i, g, w)
		}
	}
}
