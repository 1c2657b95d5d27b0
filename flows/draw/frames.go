package draw

import (
	"fmt"
	"strings"
)

// frameColour is the color of the frames of sub-flows.
func frameColour() string { return color("field") }

// depth returns the number of frames around a box. A group is a path of node IDs.
func (n box) depth() int {
	if n.group == "" {
		return 0
	}
	return 1 + strings.Count(n.group, ".")
}

// writeNodes writes the boxes in order. It opens a frame before a box that uses a sub-flow, and
// closes it after the last box of that sub-flow.
func (p picture) writeNodes(b *strings.Builder, open func(i int, indent string) string, each func(i int) string, closed string) {
	depth := 0
	line := func(depth int, text string) { fmt.Fprintf(b, "%*s%s\n", 2*depth, "", text) }
	closeTo := func(outer int) {
		for ; depth > outer; depth-- {
			line(depth, closed)
		}
	}
	for i, n := range p.nodes {
		if n.subflow != "" {
			closeTo(n.depth() - 1)
			depth++
			line(depth, open(i, strings.Repeat("  ", depth)))
		}
		closeTo(n.depth())
		line(depth+1, each(i))
	}
	closeTo(0)
}
