package e2e_test

import (
	"flag"
	"html"
	"image"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/design"
)

var screenshots = flag.Bool("screenshots", false, "rewrite the pictures in docs/screenshots")

// The terminal pictures in docs/flows.md show what the built program prints for the files
// in it. Without the flag, the test checks the text: every character of the output is in
// the page.
func TestTerminalScreenshots(t *testing.T) {
	path := binary(t)
	tab, dir := openBareTab(t), walkThrough(t)
	for _, shot := range []struct{ name, command string }{
		{"flow-check", "flow check --color always flows changed"},
		{"flow-explain", "flow explain unauthenticated"},
		{"flow-test", "flow test --coverage flows"},
		{"flow-diff", "flow diff flows/door.yaml better/door.yaml"},
	} {
		cmd := exec.Command(path, strings.Fields(shot.command)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if exit := cmd.ProcessState.ExitCode(); exit != 0 && exit != 1 {
			t.Fatalf("postern %s: %v\n%s", shot.command, err, out)
		}
		typed := "postern " + strings.Replace(shot.command, " --color always", "", 1)
		page := filepath.Join(dir, "terminal.html")
		datatest.WriteFile(t, page, terminalPage(typed, string(out)))
		tab.open("file://" + page)
		want := "$ " + typed + "\n" + escapes.ReplaceAllString(string(out), "")
		if got := eval[string](tab, "document.getElementById('terminal').textContent"); got != want {
			t.Errorf("%s is pictured as\n%s\nwant\n%s", shot.name, got, want)
		}
		if *screenshots {
			picture, err := chromedp.Run(tab.ctx, chromedp.ScreenshotScale(chromedp.ID("terminal"), 1.5))
			if err != nil {
				t.Fatal(err)
			}
			savePicture(t, shot.name, picture, image.Rectangle{})
		}
	}
}

// walkThrough writes the files of docs/flows.md into a folder.
func walkThrough(t *testing.T) (dir string) {
	t.Helper()
	text := datatest.ReadFile(t, "../docs/flows.md")
	dir = t.TempDir()
	for _, file := range regexp.MustCompile("(?s)```yaml file=(\\S+)\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		datatest.WriteFile(t, filepath.Join(dir, file[1]), file[2])
	}
	return dir
}

// escapes are the SGR escape sequences (ECMA-48 §8.3.117).
var escapes = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// terminalPage is a page that looks like a terminal with a command and its output.
func terminalPage(typed, output string) string {
	var b strings.Builder
	b.WriteString(`<!doctype html><meta charset="utf-8"><style>` + design.Stylesheet() + `
:root { color-scheme: dark }
body { margin: 0 }
#terminal { margin: 0; padding: 14px 18px; width: 108ch; white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 8;
  font: 13px/1.45 "DejaVu Sans Mono", "Liberation Mono", monospace; background: var(--sunken); color: var(--ink) }
.typed { font-weight: bold } .s1 { font-weight: bold } .s2 { color: var(--ink-3) } .s31 { color: var(--red) } .s32 { color: var(--green) }
.s33 { color: var(--amber) } .s36 { color: var(--blue) }
</style><pre id="terminal">$ <span class="typed">` + html.EscapeString(typed) + "</span>\n")
	at := 0
	for _, found := range escapes.FindAllStringSubmatchIndex(output, -1) {
		b.WriteString(html.EscapeString(output[at:found[0]]))
		at = found[1]
		if codes := output[found[2]:found[3]]; codes == "0" || codes == "" {
			b.WriteString("</span>")
		} else {
			b.WriteString(`<span class="s` + strings.ReplaceAll(codes, ";", " s") + `">`)
		}
	}
	return b.String() + html.EscapeString(output[at:]) + "</pre>"
}
