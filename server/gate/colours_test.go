package gate

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The pages' own colors can be distinguished in both themes: WCAG 2.2 requires a contrast of 4.5
// for text (1.4.3) and of 3 at the edge of a control (1.4.11).
func TestColoursCanBeDistinguished(t *testing.T) {
	css := webFiles(t)["gate.css"]
	light, rest, _ := strings.Cut(css, "@media (prefers-color-scheme: dark)")
	dark, _, _ := strings.Cut(rest, "\n}\n")
	for scheme, text := range map[string]string{"light": light, "dark": dark} {
		colours := map[string]string{}
		for _, match := range regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{3,6});`).FindAllStringSubmatch(text, -1) {
			colours[match[1]] = match[2]
		}
		for _, pair := range []struct {
			on, ground string
			least      float64
		}{
			{"ink", "card", 7}, {"soft", "card", 4.5}, {"link", "card", 4.5}, {"fault", "card", 4.5}, {"fault", "fault-tint", 4.5},
			{"ink", "tint", 4.5}, {"link", "tint", 4.5}, {"on-accent", "accent", 4.5}, {"card", "fault", 4.5}, {"foot", "page", 4.5}, {"field", "card", 3},
		} {
			if got := contrast(t, colours[pair.on], colours[pair.ground]); got < pair.least {
				t.Errorf("%s: %s on %s has a contrast of %.2f, want %.1f", scheme, pair.on, pair.ground, got, pair.least)
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
	if len(hex) == 3 {
		hex = strings.Join([]string{hex[:1], hex[:1], hex[1:2], hex[1:2], hex[2:], hex[2:]}, "")
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		v := float64(n) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}
