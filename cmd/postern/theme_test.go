package main

import (
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
)

// A theme is checked when it is written. One that was stored before stays, can be kept, and is not served with what
// is unsafe in it.
func TestThemesAreChecked(t *testing.T) {
	w := newTestApp(t)
	token := w.admin()
	const fine = `{"colors":{"primary":"#1c6b52"},"logoUrl":"https://pictures.example/logo.png","dark":{"colors":{"background":"#111"}}}`
	id := w.made(token, "/applications", `{"name":"Shop","customizations":{"theme":`+fine+`}}`)
	for theme, path := range map[string]string{
		`{"colors":{"primary":"red;}body{display:none"}}`: "customizations.theme.colors.primary",
		`{"dark":{"colors":{"background":"red}"}}}`:       "customizations.theme.dark.colors.background",
		`{"logoUrl":"javascript:alert(1)"}`:               "customizations.theme.logoUrl",
		`{"backgroundUrl":"data:text/html;base64,PHA+"}`:  "customizations.theme.backgroundUrl",
		`{"radius":"4px;x"}`:                              "customizations.theme.radius",
		`{"font":"x; color: red"}`:                        "customizations.theme.font",
		`{"mine":[{"heroUrl":"javascript:alert(1)"}]}`:    "customizations.theme.mine[0].heroUrl",
		`"red"`: "customizations.theme",
	} {
		for _, request := range []string{"PATCH /applications/" + id, "POST /applications"} {
			method, to, _ := strings.Cut(request, " ")
			rec := w.call(method, to, token, `{"name":"Shop `+path+`","customizations":{"theme":`+theme+`}}`)
			if rec.Code != 400 || !strings.Contains(rec.Body.String(), `"path":"`+path+`"`) {
				t.Errorf("%s %s: %d %s", request, theme, rec.Code, rec.Body)
			}
		}
	}
	stored, err := w.store.Application(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	was := stored.UpdatedAt
	stored.UpdatedAt = was.Add(time.Second)
	stored.Customizations = map[string]any{"theme": map[string]any{"colors": map[string]any{"primary": "red;}body{x", "background": "#fff"}, "logoUrl": "javascript:alert(1)"}}
	err = w.store.Update(t.Context(), func(tx *store.Tx) error { return store.Applications().Replace(tx, stored, was) })
	if err != nil {
		t.Fatal(err)
	}
	if rec := w.call("PATCH", "/applications/"+id, token, `{"description":"It can still be changed."}`); rec.Code != 200 {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	rec := w.exchange("GET", "/flow/meta?type=APP&id="+id, "")
	if text := rec.Body.String(); !strings.Contains(text, `"theme":{"colors":{"background":"#fff"}}`) {
		t.Errorf("the pages get %s", text)
	}
	if rec := w.call("PATCH", "/applications/"+id, token, `{"customizations":{"theme":`+fine+`}}`); rec.Code != 200 {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
}
