package draw

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

// frame is the area of the nodes of a sub-flow in a picture.
type frame struct {
	name                     string
	left, top, right, bottom int
}

// frames returns a frame for each sub-flow whose nodes are adjacent, outer frames first, and the
// nodes that need a frame of their own because other nodes stand between those of their
// sub-flow.
func (s *svgWriter) frames() (whole []frame, alone []int) {
	for i, b := range s.picture.nodes {
		if b.subflow == "" {
			continue
		}
		f := s.frameOf(i)
		if s.encloses(f, b.group) {
			whole = append(whole, f)
			continue
		}
		for j, other := range s.picture.nodes {
			if other.group == b.group {
				alone = append(alone, j)
			}
		}
	}
	return whole, alone
}

// frameOf returns the smallest frame around the nodes of the sub-flow that a node uses.
func (s *svgWriter) frameOf(i int) frame {
	group := s.picture.nodes[i].group
	f := frame{name: s.picture.nodes[i].subflow, left: s.cells[i].x, right: s.cells[i].x, top: s.cells[i].y, bottom: s.cells[i].y}
	deepest := 0
	for j, b := range s.picture.nodes {
		if !b.ofGroup(group) {
			continue
		}
		at := s.cells[j]
		f.left, f.right = min(f.left, at.x-at.left), max(f.right, at.x+at.right)
		f.top, f.bottom = min(f.top, at.y), max(f.bottom, at.y+at.height)
		deepest = max(deepest, depthOf(b.group)-depthOf(group))
	}
	by := frameGap * (deepest + 1)
	f.left, f.right, f.top, f.bottom = f.left-by, f.right+by, f.top-by, f.bottom+by
	return f
}

// frameGap is the distance between a frame and its content.
const frameGap = 5

func depthOf(group string) (n int) {
	for _, c := range group {
		if c == '.' {
			n++
		}
	}
	return n
}

// encloses reports whether a frame contains only nodes of the group.
func (s *svgWriter) encloses(f frame, group string) bool {
	for j, at := range s.cells[:len(s.picture.nodes)] {
		apart := at.x+at.right < f.left || at.x-at.left > f.right || at.y+at.height < f.top || at.y > f.bottom
		if !apart && !s.picture.nodes[j].ofGroup(group) {
			return false
		}
	}
	return true
}

// drawFrames draws the frames below everything else.
func (s *svgWriter) drawFrames() {
	whole, alone := s.frames()
	for _, f := range whole {
		s.printf("<rect %s x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"9\"><title>%s</title></rect>\n",
			frameStyle, f.left, f.top, f.right-f.left, f.bottom-f.top, svgText(f.name))
	}
	for _, i := range alone {
		at := s.cells[i]
		s.printf("<rect %s x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"9\"/>\n",
			frameStyle, at.x-at.left-frameGap, at.y-frameGap, 2*(at.left+frameGap), at.height+2*frameGap)
	}
}
