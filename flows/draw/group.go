package draw

// frameColour is the color of the frames of sub-flows.
const frameColour = "#6e7781"

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
