package draw

import (
	"image"
	"strings"
)

// frameColour is the color of the frames of sub-flows.
const frameColour = "#6e7781"

// frameStyle is their style in SVG, on a light and on a dark background.
const frameStyle = `fill="#8b949e" fill-opacity=".12" stroke="` + frameColour + `" stroke-dasharray="2 3"`

// kindLabel returns the kind of a box, and the sub-flow that it uses.
func (n box) kindLabel() string {
	if n.subflow != "" {
		return n.kind + " " + n.subflow
	}
	return n.kind
}

// walkGroups visits the boxes in order. It calls open before a box that uses a sub-flow, and
// closed after the last box of that sub-flow. The depth is the nesting level in the picture,
// from 1.
func (p picture) walkGroups(open, each func(i, depth int), closed func(depth int)) {
	var groups []string
	leave := func(b box) {
		for len(groups) > 0 && !b.ofGroup(groups[len(groups)-1]) {
			closed(len(groups))
			groups = groups[:len(groups)-1]
		}
	}
	for i, b := range p.nodes {
		leave(b)
		if b.subflow != "" {
			open(i, len(groups)+1)
			groups = append(groups, b.group)
		}
		each(i, len(groups)+1)
	}
	leave(box{})
}

// area is the rectangle of a cell.
func (c cell) area() image.Rectangle {
	return image.Rect(c.x-c.left, c.y, c.x+c.right, c.y+c.height)
}

// drawFrames draws the frames of sub-flows below everything else, outer frames first. If other
// nodes stand between those of a sub-flow, each of its nodes has a frame of its own.
func (s *svgWriter) drawFrames() {
	for i, b := range s.picture.nodes {
		if b.subflow == "" {
			continue
		}
		if frame := s.frameOf(i); s.encloses(frame, b.group) {
			s.frame(b.subflow, frame)
			continue
		}
		for j, other := range s.picture.nodes {
			if other.group == b.group {
				s.frame(b.subflow, s.cells[j].area().Inset(-frameGap))
			}
		}
	}
}

// frameGap is the distance between a frame and its content.
const frameGap = 5

// frameOf returns the smallest frame around the nodes of the sub-flow that a node uses.
func (s *svgWriter) frameOf(i int) image.Rectangle {
	group := s.picture.nodes[i].group
	var frame image.Rectangle
	deepest := 1
	for j, b := range s.picture.nodes {
		if b.ofGroup(group) {
			frame = frame.Union(s.cells[j].area())
			deepest = max(deepest, 1+strings.Count(b.group, ".")-strings.Count(group, "."))
		}
	}
	return frame.Inset(-frameGap * deepest)
}

// encloses reports whether a frame contains only nodes of the group.
func (s *svgWriter) encloses(frame image.Rectangle, group string) bool {
	for j, b := range s.picture.nodes {
		if !b.ofGroup(group) && s.cells[j].area().Overlaps(frame) {
			return false
		}
	}
	return true
}

func (s *svgWriter) frame(name string, at image.Rectangle) {
	s.printf("<rect %s x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"9\"><title>%s</title></rect>\n",
		frameStyle, at.Min.X, at.Min.Y, at.Dx(), at.Dy(), svgText(name))
}
