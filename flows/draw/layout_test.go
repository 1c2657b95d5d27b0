package draw

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

type rectangle struct{ left, top, right, bottom int }

func around(at point, width, height int) rectangle {
	return rectangle{at.x - width/2, at.y - height/2, at.x + width/2, at.y + height/2}
}

func (r rectangle) overlaps(other rectangle) bool {
	return r.left < other.right && other.left < r.right && r.top < other.bottom && other.top < r.bottom
}

// curvePoints returns points of the curve that writeEdge draws.
func curvePoints(e edge) (points []point) {
	const parts = 40
	for i, to := range e.points[1:] {
		from := e.points[i]
		for k := range parts + 1 {
			t := float64(k) / parts
			mix := func(a, b, c, d int) int {
				return int((1-t)*(1-t)*(1-t)*float64(a) + 3*t*(1-t)*(1-t)*float64(b) + 3*t*t*(1-t)*float64(c) + t*t*t*float64(d))
			}
			bend := (to.y - from.y) / 2
			points = append(points, point{mix(from.x, from.x, to.x, to.x), mix(from.y, from.y+bend, to.y-bend, to.y)})
		}
	}
	return points
}

// No edge crosses a box, and no label covers another one or a box.
func checkLayout(t *testing.T, p picture) {
	t.Helper()
	l := layOut(p)
	var labels []rectangle
	for _, e := range l.edges {
		for i, at := range l.at[:len(p.nodes)] {
			box := around(at, boxWidth-2, boxHeight-2)
			for _, on := range curvePoints(e) {
				if around(on, 1, 1).overlaps(box) {
					t.Fatalf("%s: the edge from %d to %d crosses the box %d", p.title, e.from, e.to, i)
				}
			}
		}
		if e.label != "" {
			labels = append(labels, around(e.labelAt, labelWidth(e.label), 15))
		}
	}
	for i, at := range l.at[:len(p.nodes)] {
		labels = append(labels, around(at, boxWidth, boxHeight))
		if at.x < 0 || at.x > l.width || at.y > l.height {
			t.Fatalf("%s: the box %d is outside of the drawing", p.title, i)
		}
	}
	for i, one := range labels {
		for _, other := range labels[i+1:] {
			if one.overlaps(other) {
				t.Fatalf("%s: %v covers %v", p.title, one, other)
			}
		}
	}
}

func TestLayout(t *testing.T) {
	count := 0
	for _, name := range datatest.Glob(t, "../*.yaml", "../recipes/*.yaml") {
		if strings.HasSuffix(name, "_test.yaml") {
			continue
		}
		text := datatest.ReadFile(t, name)
		f, _, problems := schemas.ParseFlow(text, true)
		if f == nil {
			t.Fatal(name, problems)
		}
		checkLayout(t, sketchOf(f))
		count++
	}
	if count < 15 {
		t.Errorf("only %d flows", count)
	}
	for seed := range uint64(500) {
		checkLayout(t, randomPicture(rand.New(rand.NewPCG(seed, 0))))
	}
}

// randomPicture has nodes with up to three outcomes. Most lead forward.
func randomPicture(r *rand.Rand) picture {
	p := picture{title: "random"}
	n := 2 + r.IntN(25)
	for i := range n {
		p.nodes = append(p.nodes, box{id: fmt.Sprint("node", i)})
		for k := range 1 + r.IntN(3) {
			to := min(i+1+r.IntN(4), n) - 1
			if r.IntN(4) == 0 {
				to = r.IntN(n+1) - 1 // -1 is the end
			}
			p.links = append(p.links, link{from: i, to: to, outcome: []string{"success", "failure", "an-outcome-with-a-long-name"}[k]})
		}
	}
	return p
}
