package e2e_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/postern-id/postern/internal/datatest"
)

var sheets = flag.String("sheets", "", "a folder in which TestContactSheets writes pictures of every page")

// consolePages are the pages of the console, below /console.
var consolePages = []string{"", "/applications", "/applications/" + tryID, "/applications/new", "/applications/new/template", "/users", "/users/new", "/user-types", "/user-types/new", "/organization-units",
	"/groups", "/roles", "/resource-servers", "/identity-providers", "/flows", "/flows/new", "/audit", "/signing-keys", "/configuration", "/nowhere"}

// The parts of a contact sheet: the widths of the windows and their height in CSS pixels, and the scale.
var sheetWidths = []int64{390, 768, 1280, 1920}

const (
	sheetHeight = 900
	sheetScale  = 0.4
)

// TestContactSheets writes a picture of each page in each state, which shows it in windows of four
// widths, in light and dark. Look at them after a change of the looks: go test ./e2e -run ContactSheets -sheets DIR
func TestContactSheets(t *testing.T) {
	if *sheets == "" {
		return // for developers only: it checks nothing
	}
	t.Parallel()
	fresh, long := serve(t), serve(t)
	longPages := fillWithLongNames(t, long)
	const reply = `return new Response(JSON.stringify({ code: "example", message: { defaultValue: "Example" }, description: { defaultValue: "An example of an error." } }), { status: %d, headers: %s });`
	for _, state := range []struct {
		name   string
		server *postern
		reply  string // a script instead of the API
		tongue string
		more   []string // pages
	}{
		{"fresh", fresh, "", "en", nil},
		{"loading", fresh, `return new Promise(() => {});`, "en", nil},
		{"error", fresh, fmt.Sprintf(reply, 500, `{ "Content-Type": "application/json" }`), "en", nil},
		{"forbidden", fresh, fmt.Sprintf(reply, 403, `{ "Content-Type": "application/json", "WWW-Authenticate": 'Bearer error="insufficient_scope", scope="system:example:read"' }`), "en", nil},
		{"long", long, "", "de", longPages},
	} {
		t.Run(state.name, func(t *testing.T) {
			t.Parallel()
			c := &consoleTab{openTab(t), state.server}
			c.beforeScripts(fmt.Sprintf(`Object.defineProperty(navigator, "languages", { get: () => [%q] })`, state.tongue))
			c.signIn("admin", "/nowhere")
			c.until(`document.getElementById("page-title")`) // the sign-in page has a heading, too
			if state.reply != "" {
				c.intercept("/", state.reply)
			}
			for _, path := range append(consolePages, state.more...) {
				eval[any](c.tab, fmt.Sprintf(`history.pushState(null, "", "/console%s"); dispatchEvent(new PopStateEvent("popstate")); null`, path))
				c.writeSheet(state.name, "console"+path)
			}
			if state.reply != "" {
				return
			}
			for _, path := range []string{"/", "/gate/signin", "/gate/account", "/gate/error", "/try/", "/docs"} {
				c.open(state.server.base + path)
				c.writeSheet(state.name, "hosted"+path)
			}
		})
	}
}

// fillWithLongNames creates a resource of each kind with a name of 60 characters, and returns the pages of some.
func fillWithLongNames(t *testing.T, p *postern) []string {
	t.Helper()
	words := "Donaudampfschifffahrtsgesellschaftskapitaen of the North and East"[:60]
	solid := strings.Repeat("verylongname", 5)
	user := createUser(t, p, object{"username": solid, "email": solid + "@example.org"})
	for path, body := range map[string]object{
		"/groups": {"name": words, "description": words + " " + words}, "/roles": {"name": solid, "permissions": []string{"system:users:read", "system:applications:read", "system:groups:write"}},
		"/organization-units": {"name": solid, "handle": solid}, "/resource-servers": {"name": words, "handle": solid, "identifier": "https://" + solid + ".example"},
	} {
		p.idOf(t, path, body)
	}
	return []string{"/users/" + user}
}

// writeSheet shows the page in windows of each width, above in light and below in dark, and writes the picture.
func (c *consoleTab) writeSheet(state, name string) {
	c.t.Helper()
	time.Sleep(time.Second) // requests end, and charts are drawn
	if state == "error" {
		time.Sleep(4 * time.Second) // the console tries again before it reports an error
	}
	total := int64(0)
	for _, width := range sheetWidths {
		total += int64(float64(width)*sheetScale) + pictureMargin
	}
	const row = int(sheetHeight*sheetScale) + pictureMargin
	sheet := image.NewRGBA(image.Rect(0, 0, int(total), 2*row))
	draw.Draw(sheet, sheet.Bounds(), image.NewUniform(color.Gray{Y: 128}), image.Point{}, draw.Src)
	for i, light := range []bool{true, false} {
		c.luminance(light)
		x := 0
		for _, width := range sheetWidths {
			call(c.tab, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: sheetHeight, DeviceScaleFactor: 1})
			picture := c.scaled(width)
			draw.Draw(sheet, picture.Bounds().Add(image.Pt(x, i*row)), picture, image.Point{}, draw.Src)
			x += picture.Bounds().Dx() + pictureMargin
		}
	}
	var file bytes.Buffer
	if err := png.Encode(&file, sheet); err != nil {
		c.t.Fatal(err)
	}
	target := filepath.Join(*sheets, strings.ReplaceAll(strings.Trim(name, "/"), "/", "-")+"."+state+".png")
	datatest.WriteFile(c.t, target, file.Bytes())
}

// scaled returns a small picture of the window.
func (c *consoleTab) scaled(width int64) image.Image {
	c.t.Helper()
	clip := &page.Viewport{Width: float64(width), Height: sheetHeight, Scale: sheetScale}
	taken, err := chromedp.Run(c.ctx, func(ctx context.Context, t *chromedp.Target) (page.CaptureScreenshotResult, error) {
		time.Sleep(100 * time.Millisecond) // the window is drawn in its new size
		return cdp.Call(ctx, t, page.CaptureScreenshot, page.CaptureScreenshotParams{Clip: clip})
	})
	if err != nil {
		c.t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(taken.Data))
	if err != nil {
		c.t.Fatal(err)
	}
	return picture
}
