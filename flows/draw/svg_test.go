package draw_test

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows/draw"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/design"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// checkSVG reports whether a drawing is XML without scripts and shows the nodes, each at a place of its own.
func checkSVG(t *testing.T, svg string, ids ...string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err, svg)
		}
		if e, ok := token.(xml.StartElement); ok && (e.Name.Local == "script" || e.Name.Local == "a") {
			t.Errorf("the drawing has an element %s", e.Name.Local)
		}
	}
	places := map[string]bool{}
	for _, m := range regexp.MustCompile(`<rect (x="-?\d+" y="-?\d+") width="168"`).FindAllStringSubmatch(svg, -1) {
		places[m[1]] = true
	}
	if len(places) != len(ids) {
		t.Errorf("%d boxes have %d places", len(ids), len(places))
	}
	for _, id := range ids {
		if !strings.Contains(svg, `data-node="`+id+`"`) {
			t.Errorf("the node %s is missing in %s", id, svg)
		}
	}
}

func TestSVG(t *testing.T) {
	text := datatest.ReadFile(t, "../sign_in.yaml")
	flow, g, problems := engine.Check(text, true, nodes.Kinds(nodes.Deps{}))
	if g == nil {
		t.Fatal(problems)
	}
	svg := draw.SVG(g, draw.Options{})
	checkSVG(t, svg, "session", "key", "who", "find", "check", "enough", "again", "second", "recovery", "mail", "replace", "lost", "consent", "done")
	if svg != draw.SVG(g, draw.Options{}) {
		t.Error("the drawing differs from time to time")
	}
	if !strings.Contains(svg, "✓ authenticated") || !strings.Contains(svg, design.Token("green-soft", design.Light)) {
		t.Error("the drawing does not show where the user is authenticated")
	}
	checkSVG(t, draw.Sketch(flow), "session", "key", "who", "find", "check", "enough", "again", "second", "recovery", "mail", "replace", "lost", "consent", "done")
}

// A sketch shows a flow with errors. Names are text only.
func TestSketch(t *testing.T) {
	checkSVG(t, draw.Sketch(&schemas.Flow{Name: "<script>", Nodes: []schemas.Node{
		{ID: "a", Use: "x", Next: schemas.Next{To: "nowhere"}},
		{ID: "b", Use: "<b>", Next: schemas.Next{By: map[string]string{"y": "b", "z": "a"}}},
		{ID: "a", Use: "x", Next: schemas.Next{To: "end"}},
	}}), "a", "b", "nowhere")
	checkSVG(t, draw.Sketch(&schemas.Flow{}))
}
