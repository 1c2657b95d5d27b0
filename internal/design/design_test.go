package design

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

var schemes = map[string]Scheme{"light": Light, "dark": Dark, "light with more contrast": LightContrast, "dark with more contrast": DarkContrast}

// The colors that stand on each other can be distinguished: WCAG 2.2 requires a contrast of 4.5 for text
// (1.4.3) and of 3 for the edge of a field and for icons (1.4.11); users who prefer more contrast get 7
// (1.4.6) and 4.5.
func TestContrast(t *testing.T) {
	grounds := []string{"paper", "surface", "sunken", "raised"}
	tints := []string{"green-soft", "red-soft", "amber-soft", "blue-soft", "violet-soft"}
	text := map[string][]string{
		"ink": append(tints, grounds...), "ink-2": append(tints, grounds...), "ink-3": grounds,
		"green": append(grounds, "green-soft"), "red": append(grounds, "red-soft"), "amber": append(grounds, "amber-soft"),
		"blue": append(grounds, "blue-soft"), "violet": append(grounds, "violet-soft"),
		"green-strong": append(grounds, "green-soft"), "red-strong": append(grounds, "red-soft"),
		"green-ink": {"green", "green-strong"}, "red-ink": {"red", "red-strong"}, "paper": {"ink"},
	}
	edges := map[string][]string{"field": grounds, "focus": append(grounds, tints...)}
	for name, scheme := range schemes {
		t.Run(name, func(t *testing.T) {
			more := 1.0
			if scheme >= LightContrast {
				more = 1.5
			}
			requireContrast(t, scheme, text, math.Min(4.5*more, 7))
			requireContrast(t, scheme, edges, 3*more)
		})
	}
}

func requireContrast(t *testing.T, scheme Scheme, pairs map[string][]string, least float64) {
	t.Helper()
	for on, grounds := range pairs {
		for _, ground := range grounds {
			if got := contrast(t, Token(on, scheme), Token(ground, scheme)); got < least {
				t.Errorf("--%s on --%s has a contrast of %.2f, want %.1f", on, ground, got, least)
			}
		}
	}
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a)+0.05, luminance(t, b)+0.05
	return max(x/y, y/x)
}

func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 32)
	if err != nil || len(hex) != 7 {
		t.Fatalf("%q is not an opaque color: expected #rrggbb", hex)
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v := float64(n>>(16-8*i)&0xff) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}

func TestTokensOfEachScheme(t *testing.T) {
	for _, c := range []struct {
		name   string
		scheme Scheme
		want   string
	}{
		{"paper", Light, "#faf9f6"}, {"paper", Dark, "#101412"}, {"paper", LightContrast, "#ffffff"}, {"paper", DarkContrast, "#000000"},
		{"green-soft", LightContrast, "#e5f1ec"}, {"text-3", Dark, ".8125rem"}, {"shadow-1", Light, "0 1px 2px #141e190d"},
	} {
		if got := Token(c.name, c.scheme); got != c.want {
			t.Errorf("--%s in scheme %d is %q, want %q", c.name, c.scheme, got, c.want)
		}
	}
	for name, scheme := range schemes {
		for token, value := range values()[scheme] {
			if strings.Contains(value, "light-dark") {
				t.Errorf("%s: --%s has no literal value: %s", name, token, value)
			}
		}
	}
	if !panics(func() { Token("gren", Light) }) || !panics(func() { Icon("no such icon") }) {
		t.Error("a token or an icon that does not exist was returned")
	}
}

func panics(call func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	call()
	return false
}

// Browsers without light-dark() get the same values by media queries.
func TestTokensForOldBrowsers(t *testing.T) {
	css := Compatible()
	if strings.Contains(css, "light-dark(") || strings.Count(css, "{") != strings.Count(css, "}") {
		t.Fatalf("an old browser cannot read this:\n%s", css)
	}
	at := 0
	for _, want := range []string{
		"--paper: #faf9f6;", "--text-3: .8125rem;",
		"@media (prefers-color-scheme: dark) {", "--paper: #101412;",
		"@media (prefers-contrast: more) {", "--paper: #ffffff;",
		"@media (prefers-contrast: more) and (prefers-color-scheme: dark) {", "--paper: #000000;",
		"@media (prefers-reduced-motion: reduce) {", "@media (forced-colors: active) {", "--paper: Canvas;",
	} {
		next := strings.Index(css[at:], want)
		if next < 0 {
			t.Fatalf("%q is missing or out of order in\n%s", want, css)
		}
		at += next
	}
	for token := range values()[Light] {
		if !strings.Contains(css, "--"+token+": ") {
			t.Errorf("--%s is missing", token)
		}
	}
}

func TestMarkAndIcons(t *testing.T) {
	if !strings.Contains(Mark(), `fill="currentColor"`) {
		t.Errorf("the mark does not take the color of the text around it: %s", Mark())
	}
	if icon := Favicon(); strings.Contains(icon, "currentColor") || !strings.Contains(icon, Token("green", Light)) || !strings.Contains(icon, Token("green", Dark)) {
		t.Errorf("the favicon has not the green of both schemes: %s", icon)
	}
	for _, name := range Icons() {
		if icon := Icon(name); !strings.HasSuffix(icon, "/></svg>") || !strings.Contains(icon, `aria-hidden="true"`) {
			t.Errorf("%s: %s", name, icon)
		}
	}
}

// The icons are those of the pinned version of Lucide.
func TestIconsAreThoseOfLucide(t *testing.T) {
	text, err := os.ReadFile("../../server/console/web/node_modules/lucide-static/icon-nodes.json")
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("CI") == "" {
		t.Skip("lucide-static is not installed: run `make npm`")
	}
	if err != nil {
		t.Fatal(err)
	}
	var published, ours map[string]any
	if err := errors.Join(json.Unmarshal(text, &published), json.Unmarshal(icons, &ours)); err != nil {
		t.Fatal(err)
	}
	for name, shapes := range ours {
		want, _ := json.Marshal(published[name])
		if got, _ := json.Marshal(shapes); string(got) != string(want) {
			t.Errorf("%s is not that of lucide-static: run `npm run icons` in server/console/web", name)
		}
	}
}
