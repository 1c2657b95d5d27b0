package schemas

import (
	"reflect"
	"testing"
)

func TestTheme(t *testing.T) {
	const pixel = "data:image/png;base64,iVBORw0KGgo="
	for _, test := range []struct {
		names  []string
		values []any
		fits   bool
	}{
		{[]string{"colors.primary", "colors.background", "dark.colors.primary", "dark.colors.background"},
			[]any{"#1c6b52", "#FFF", "rebeccapurple", "rgb(1 2 3 / 50%)", "oklch(0.6 0.1 200)"}, true},
		{[]string{"colors.primary", "dark.colors.background"},
			[]any{"", "red;}body{display:none", "red}", "red\n", "url(x)", "var(--x)", "#12", 7.0, true, []any{"red"}, map[string]any{"a": "red"}}, false},
		{[]string{"radius"}, []any{"", "0", "4px", "1.5rem", ".5em", "50%"}, true},
		{[]string{"radius"}, []any{"4px;", "4px\n", "calc(1px)", "px}", 4.0}, false},
		{[]string{"font"}, []any{"Georgia, 'Times New Roman', serif", "Noto Sans \u00dc", `"Brand"`}, true},
		{[]string{"font"}, []any{"x; color: red", "x}", "url(x)", "a\nb", "<b>"}, false},
		{[]string{"fontUrl", "logoUrl", "faviconUrl", "backgroundUrl", "heroUrl", "link.href"},
			[]any{"", "https://pictures.example/logo.png?v=1", "http://127.0.0.1/x", "/gate/files/x.png", pixel}, true},
		{[]string{"fontUrl", "logoUrl", "faviconUrl", "backgroundUrl", "heroUrl", "link.href", "note"},
			[]any{"javascript:alert(1)", " JavaScript:alert(1)", "vbscript:x", "blob:https://x.example/1", "data:text/html;base64,PHA+", "data:image/svg+xml,<svg onload=alert(1)>",
				`https://x.example/");background:url("//evil`, "https://x.example/a b"}, false},
		{[]string{"logoUrl", "heroUrl"}, []any{"//evil.example/x.png", "logo.png"}, false},
		{[]string{"note", "texts.title"}, []any{"Sign in to the shop", "4px", "https://x.example/i.png", 1.0, true, nil}, true},
		{[]string{"note", "texts.title"}, []any{"red;}body{", "url(https://evil.example/track)", "expression(alert(1))", "</style><script>", "\\75rl(x)", "@import 'x'"}, false},
	} {
		for _, name := range test.names {
			for _, value := range test.values {
				if _, problems := cleanThemeValue("theme", name, value, nil); (len(problems) == 0) != test.fits {
					t.Errorf("%s: %q has the problems %v, want some: %v", name, value, problems, !test.fits)
				}
			}
		}
	}
}

// A theme from before the check loses what is unsafe, and nothing else.
func TestSafeTheme(t *testing.T) {
	stored := map[string]any{
		"colors": map[string]any{"primary": "red;}body{", "background": "#fff"}, "dark": true, "radius": 4.0, "font": []any{"x"},
		"logoUrl": "javascript:alert(1)", "faviconUrl": "https://x.example/i.png", "hero": map[string]any{"text": "Hello", "url": "javascript:x", "list": []any{"a", "b;c", map[string]any{"d}": "e"}}},
	}
	want := map[string]any{
		"colors": map[string]any{"background": "#fff"}, "dark": true, "font": []any{},
		"faviconUrl": "https://x.example/i.png", "hero": map[string]any{"text": "Hello", "list": []any{"a", map[string]any{}}},
	}
	safe := SafeTheme(stored)
	if !reflect.DeepEqual(safe, want) {
		t.Errorf("got %v, want %v", safe, want)
	}
	if problems := CheckTheme("customizations.theme", stored); len(problems) != 7 {
		t.Errorf("%v", problems)
	}
	if problems := CheckTheme("customizations.theme", map[string]any{"dark": map[string]any{}}); len(problems) != 0 {
		t.Errorf("%v", problems)
	}
}
