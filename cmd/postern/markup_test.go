package main

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows/draw"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/logtest"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// markupCorpus are texts that run a script, load something, or add a line or a field, where a place
// does not escape them. e2e shows them in Chromium.
func markupCorpus(t testing.TB) (list []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/markup.json")
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil || len(list) < 50 {
		t.Fatalf("%d texts, %v", len(list), err)
	}
	return list
}

var htmlTag = regexp.MustCompile(`<[^>]*>?`)

// shape is what a browser parses of a page: its tags without the values of value, content and text.
// It is the same for every text that the page escapes.
func shape(page string) (tags []string) {
	for _, tag := range htmlTag.FindAllString(page, -1) {
		tags = append(tags, regexp.MustCompile(`="[^"]*"`).ReplaceAllString(tag, `=""`))
	}
	return tags
}

// markupSurface sends a text to a place that anonymous callers or clients choose.
type markupSurface struct {
	name string
	send func(text string) *httptest.ResponseRecorder
}

func (p *party) markupSurfaces() (list []markupSurface) {
	handler := p.testApp.http
	get := func(target string, header http.Header) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, target, nil)
		r.Header = header
		r.Header.Set("Accept", "text/html")
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, r)
		return rec
	}
	for _, mode := range []string{"query", "form_post"} {
		for name := range p.request("prompt", "none", "response_mode", mode) {
			list = append(list, markupSurface{name + " of an authorization request by " + mode, func(text string) *httptest.ResponseRecorder {
				q := p.request("prompt", "none", "response_mode", mode)
				q.Set(name, text)
				return get("/oauth2/authorize?"+q.Encode(), http.Header{})
			}})
		}
		for _, name := range []string{"login_hint", "ui_locales", "claims", "resource", "acr_values", "max_age", "id_token_hint", "code_challenge", "code_challenge_method", "request", "request_uri", "unknown"} {
			list = append(list, markupSurface{name + " of an authorization request by " + mode, func(text string) *httptest.ResponseRecorder {
				return get("/oauth2/authorize?"+p.request("prompt", "none", "response_mode", mode, name, text).Encode(), http.Header{})
			}})
		}
	}
	for _, name := range []string{"post_logout_redirect_uri", "state", "client_id", "id_token_hint", "ui_locales"} {
		list = append(list, markupSurface{name + " of a sign-out", func(text string) *httptest.ResponseRecorder {
			return get("/oauth2/logout?"+url.Values{name: {text}}.Encode(), http.Header{})
		}})
	}
	for _, path := range []string{"/", "/gate/", "/console/", "/oauth2/", "/schemas/", "/docs/"} {
		list = append(list, markupSurface{"a path below " + path, func(text string) *httptest.ResponseRecorder {
			return get(path+url.PathEscape(text), http.Header{})
		}})
	}
	for _, name := range []string{"User-Agent", "Accept-Language", "Traceparent", "Origin", "Referer", "X-Forwarded-For", "Cookie", "Postern-Session"} {
		list = append(list, markupSurface{"the field " + name, func(text string) *httptest.ResponseRecorder {
			return get("/nowhere", http.Header{name: {text}})
		}})
	}
	return append(list, markupSurface{"the authId of a callback", func(text string) *httptest.ResponseRecorder {
		return get("/oauth2/auth/callback?authId="+url.QueryEscape(text), http.Header{})
	}}, markupSurface{"the query of the API's page", func(text string) *httptest.ResponseRecorder {
		return get("/docs?"+url.QueryEscape(text), http.Header{})
	}})
}

// TestMarkupInReplies sends each text of the corpus to each place that anonymous callers choose. An
// HTML reply has the tags that it has for a harmless text, no address of a reply runs a script, and
// no header field or line of the log is added.
func TestMarkupInReplies(t *testing.T) {
	sequential(t)
	w := createUsers(t)
	var log logtest.Buffer
	w.log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w.http = w.handler()
	p := w.configuredClient(t, `"redirectUris":["`+rpRedirect+`"]`)
	corpus, pages := markupCorpus(t), 0
	surfaces := p.markupSurfaces()
	for _, s := range surfaces {
		harmless := map[string][]string{}
		for _, text := range []string{"harmless", "", "https://rp.example.com/x", "1"} {
			rec := s.send(text)
			harmless[strings.Join(shape(rec.Body.String()), "")] = nil
		}
		for _, text := range corpus {
			rec := s.send(text)
			kind, body := rec.Header().Get("Content-Type"), rec.Body.String()
			if strings.HasPrefix(kind, "text/html") {
				pages++
				if _, same := harmless[strings.Join(shape(body), "")]; !same {
					t.Errorf("%s: %q changes the page to %s", s.name, text, body)
				}
			} else if kind != "" && !strings.HasPrefix(kind, "application/json") && !strings.HasPrefix(kind, "application/schema+json") && !strings.HasPrefix(kind, "text/javascript") && !strings.HasPrefix(kind, "text/css") {
				t.Errorf("%s: %q has the type %q", s.name, text, kind)
			}
			to, err := url.Parse(rec.Header().Get("Location"))
			if err != nil || !slices.Contains([]string{"", "http", "https"}, to.Scheme) {
				t.Errorf("%s: %q leads to %s, %v", s.name, text, to, err)
			}
			for name, values := range rec.Header() {
				if strings.ContainsAny(strings.Join(values, ""), "\r\n") || name == "Set-Cookie" && strings.Contains(strings.Join(values, ""), "owned") {
					t.Errorf("%s: %q sets %s: %q", s.name, text, name, values)
				}
			}
		}
	}
	line := regexp.MustCompile(`^time=\S+ level=[A-Z]+(\+\d)? msg=`)
	for text := range strings.Lines(log.String()) {
		if !line.MatchString(text) || strings.HasPrefix(text, "level=") {
			t.Fatalf("the log has the line %q", text)
		}
	}
	if pages < 500 {
		t.Errorf("only %d replies were pages", pages)
	}
	t.Logf("%d texts at %d places, %d replies were pages", len(corpus), len(surfaces), pages)
}

// A drawing of a flow has the same lines for every text in the flow, and no address but those of
// its own nodes.
func TestMarkupInDrawings(t *testing.T) {
	kinds := nodes.Kinds(nodes.Deps{})
	drawings := func(text string) (list []string) {
		quoted := datatest.Marshal(t, text)
		q := string(quoted)
		flow := `{"handle":"x","name":` + q + `,"flowType":"AUTHENTICATION","nodes":[
			{"id":"who","use":"prompt","with":{"title":` + q + `,"inputs":[{"identifier":"username","type":"TEXT_INPUT","label":` + q + `,"required":true}],"actions":[{"ref":"continue","label":` + q + `}]},"next":"key"},
			{"id":"key","use":"passkey-authenticate","next":{"success":"done","failure":"who"}},{"id":"done","use":"authorization-code"}]}`
		_, g, problems := engine.Check([]byte(flow), false, kinds)
		if g == nil {
			t.Fatalf("%q: %v", text, problems)
		}
		return []string{draw.Mermaid(g, draw.Options{}), draw.DOT(g, draw.Options{})}
	}
	harmless := drawings("harmless")
	for _, text := range markupCorpus(t) {
		if strings.ContainsAny(text, "\r\n\x00\x01\u202e\u2028\ufeff") {
			continue // flows have no such texts
		}
		for i, drawing := range drawings(text) {
			// In both languages a label is a string in quotes; Graphviz escapes it.
			if withoutLabels(drawing) != withoutLabels(harmless[i]) {
				t.Errorf("%q changes the drawing to\n%s", text, drawing)
			}
		}
		if mermaid := drawings(text)[0]; strings.Contains(mermaid, "<script") || strings.Contains(mermaid, "<img") || strings.Contains(mermaid, "<svg") {
			t.Errorf("%q is markup in the drawing\n%s", text, mermaid)
		}
	}
}

// withoutLabels is a drawing without its strings and its title.
func withoutLabels(drawing string) string {
	drawing = regexp.MustCompile(`(?m)^title: .*$`).ReplaceAllString(drawing, "title:")
	return regexp.MustCompile(`"(?:[^"\\]|\\.)*"`).ReplaceAllString(drawing, `""`)
}

// The audit log and the export of an account contain each text of the corpus as JSON, on one line
// for each event.
func TestMarkupInAuditEvents(t *testing.T) {
	w := createUsers(t)
	admin := w.admin()
	for _, text := range markupCorpus(t) {
		body := datatest.Marshal(t, map[string]any{"name": text, "description": text})
		r := httptest.NewRequest(http.MethodPost, "/groups", strings.NewReader(string(body)))
		r.Header = http.Header{"Authorization": {"Bearer " + admin}, "User-Agent": {text}, "Content-Type": {"application/json"}}
		rec := w.reply(r)
		if rec.Code >= 500 {
			t.Errorf("%q: %d %s", text, rec.Code, rec.Body)
		}
	}
	for _, path := range []string{"/audit-events?limit=100", "/groups?limit=100"} {
		rec := w.call("GET", path, admin, "")
		kind := rec.Header().Get("Content-Type")
		if !strings.HasPrefix(kind, "application/json") || !json.Valid(rec.Body.Bytes()) || strings.Count(strings.TrimSpace(rec.Body.String()), "\n") > 0 || rec.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s has the type %s: %.300s", path, kind, rec.Body)
		}
	}
	events, err := w.store.Events(t.Context(), schemas.EventQuery{Limit: 100})
	if err != nil || len(events) < 20 {
		t.Errorf("%d events, %v", len(events), err)
	}
	for _, e := range events {
		line, err := json.Marshal(e)
		if err != nil || strings.ContainsAny(string(line), "\n\r") {
			t.Errorf("%s, %v", line, err)
		}
	}
}
