package mcp_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the transcripts")

// A transcript contains the messages on the wire: after "> " the body of a request, a message of
// one line, and after it "< ", the status and the body of the reply. Lines that start with # are
// comments. Generated values are replaced by their names; the clock is fixed.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcripts/*.txt")
	must(t, err)
	called := map[string]bool{}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			must(t, err)
			got := newFixture(t).transcript(string(want), called)
			if *update {
				must(t, os.WriteFile(file, []byte(got), 0o644))
			} else if got != string(want) {
				t.Errorf("the transcript is now (go test ./mcp -run Transcripts -update writes it):\n%s", got)
			}
		})
	}
	// What these answer is long, and its tests are elsewhere.
	called["service_integrate_react_sdk"], called["service_get_application_templates"] = true, true
	called["service_revoke_tokens"], called["service_revoke_tokens fails"] = true, true
	for _, tool := range newFixture(t).list() {
		for _, ending := range []string{"", " fails"} {
			if !called[tool.Name+ending] && !(ending != "" && len(tool.InputSchema.Properties) == 0) {
				t.Errorf("no transcript shows %s%s", tool.Name, ending)
			}
		}
	}
}

// transcript sends the requests of a transcript, and writes it with the replies.
func (w *fixture) transcript(text string, called map[string]bool) string {
	w.t.Helper()
	var out strings.Builder
	for line := range strings.Lines(text) {
		request, isRequest := strings.CutPrefix(line, "> ")
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			out.WriteString(line)
		}
		if !isRequest {
			continue
		}
		reply, body := w.post(strings.TrimSpace(request))
		var m struct {
			Params struct{ Name string }
			Result struct{ IsError bool }
		}
		must(w.t, json.Unmarshal([]byte(request), &m))
		must(w.t, json.Unmarshal(body, &m))
		if called[m.Params.Name] = called[m.Params.Name] || !m.Result.IsError; m.Result.IsError {
			called[m.Params.Name+" fails"] = true
		}
		var pretty bytes.Buffer
		must(w.t, json.Indent(&pretty, body, "", "  "))
		fmt.Fprintf(&out, "%s< %d\n%s\n", line, reply.StatusCode, normalised(pretty.String()))
	}
	return out.String()
}

// normalised replaces generated values.
func normalised(text string) string {
	for _, made := range []struct{ pattern, as string }{
		{`(clientSecret\\*": ?\\*")[A-Za-z0-9_-]{20,}`, "${1}<secret>"},
		{`(clientId\\*": ?\\*")[A-Z2-7]{26}`, "${1}<client id>"},
		{`01[0-9a-f]{6}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`, "<id>"},
	} {
		text = regexp.MustCompile(made.pattern).ReplaceAllStringFunc(text, func(found string) string {
			if strings.HasPrefix(found, "01900000-0000-7000-8000-") {
				return found // what every world has
			}
			return regexp.MustCompile(made.pattern).ReplaceAllString(found, made.as)
		})
	}
	return text
}
