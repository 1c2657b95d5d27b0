package draw

// frameColour is that of the frames of sub-flows.
const frameColour = "#6e7781"

// frameStyle is how they look in SVG, on white and on black.
const frameStyle = `fill="#8b949e" fill-opacity=".12" stroke="` + frameColour + `" stroke-dasharray="2 3"`

// sort is what a box is: its kind, and the sub-flow it stands for.
func (n box) sort() string {
	if n.subflow != "" {
		return n.kind + " " + n.subflow
	}
	return n.kind
}

// eachGrouped goes through the boxes in their order: open is called before the one
// that stands for a sub-flow, and closed after the last of its nodes. The depth is how
// many levels what is written stands below the picture, itself the first.
func (p picture) eachGrouped(open, each func(i, depth int), closed func(depth int)) {
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

// frame is where the nodes of a sub-flow stand in a picture.
type frame struct {
	name                     string
	left, top, right, bottom int
}

// frames returns a frame for each sub-flow whose nodes stand together, the outer
// before the inner, and which nodes are to be framed alone because others stand among
// those of their sub-flow.
func (s *sheet) frames() (whole []frame, alone []int) {
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

// frameOf is the smallest frame around the nodes of the sub-flow that a node stands
// for.
func (s *sheet) frameOf(i int) frame {
	group := s.picture.nodes[i].group
	f := frame{name: s.picture.nodes[i].subflow, left: s.spots[i].x, right: s.spots[i].x, top: s.spots[i].y, bottom: s.spots[i].y}
	deepest := 0
	for j, b := range s.picture.nodes {
		if !b.ofGroup(group) {
			continue
		}
		at := s.spots[j]
		f.left, f.right = min(f.left, at.x-at.left), max(f.right, at.x+at.right)
		f.top, f.bottom = min(f.top, at.y), max(f.bottom, at.y+at.height)
		deepest = max(deepest, depthOf(b.group)-depthOf(group))
	}
	by := frameGap * (deepest + 1)
	f.left, f.right, f.top, f.bottom = f.left-by, f.right+by, f.top-by, f.bottom+by
	return f
}

// frameGap is how far a frame stands from what it is around.
const frameGap = 5

func depthOf(group string) (n int) {
	for _, c := range group {
		if c == '.' {
			n++
		}
	}
	return n
}

// encloses reports whether a frame is around no node but those of the group.
func (s *sheet) encloses(f frame, group string) bool {
	for j, at := range s.spots[:len(s.picture.nodes)] {
		apart := at.x+at.right < f.left || at.x-at.left > f.right || at.y+at.height < f.top || at.y > f.bottom
		if !apart && !s.picture.nodes[j].ofGroup(group) {
			return false
		}
	}
	return true
}

// drawFrames draws them, below everything else.
func (s *sheet) drawFrames() {
	whole, alone := s.frames()
	for _, f := range whole {
		s.printf("<rect %s x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"9\"><title>%s</title></rect>\n",
			frameStyle, f.left, f.top, f.right-f.left, f.bottom-f.top, svgText(f.name))
	}
	for _, i := range alone {
		at := s.spots[i]
		s.printf("<rect %s x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"9\"/>\n",
			frameStyle, at.x-at.left-frameGap, at.y-frameGap, 2*(at.left+frameGap), at.height+2*frameGap)
	}
}
