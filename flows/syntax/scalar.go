package syntax

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// scalar sets the style, the value and the end of a scalar.
func (t *Tree) scalar(n *yaml.Node, out *Node, indent int) {
	out.Value = n.Value
	out.Text = n.Tag == "!!str" || n.Tag == "!!timestamp"
	var first byte
	if out.Start < len(t.Text) {
		first = t.Text[out.Start]
	}
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0 && first == '"':
		out.Style, out.End = Double, t.endOfDouble(out.Start+1)
		t.opaque = append(t.opaque, out.Span)
	case n.Style&yaml.SingleQuotedStyle != 0 && first == '\'':
		out.Style, out.End = Single, t.endOfSingle(out.Start+1)
		t.opaque = append(t.opaque, out.Span)
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		out.Style, out.End = Block, t.endOfBlock(out.Start, indent)
		t.opaque = append(t.opaque, Span{t.endOfLine(out.Start), out.End})
	default:
		out.End = t.endOfPlain(out.Start, n.Value)
	}
}

func (t *Tree) endOfDouble(at int) int {
	for ; at < len(t.Text); at++ {
		switch t.Text[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	return len(t.Text)
}

func (t *Tree) endOfSingle(at int) int {
	for ; at < len(t.Text); at++ {
		if t.Text[at] != '\'' {
			continue
		}
		if at+1 < len(t.Text) && t.Text[at+1] == '\'' {
			at++
			continue
		}
		return at + 1
	}
	return len(t.Text)
}

// endOfPlain follows a value in the text: a line break in it is a space of the value, and more of them
// are line breaks.
func (t *Tree) endOfPlain(at int, value string) int {
	for j := 0; j < len(value) && at < len(t.Text); {
		if isSpace(value[j]) && isSpace(t.Text[at]) {
			for j < len(value) && isSpace(value[j]) {
				j++
			}
			for at < len(t.Text) && isSpace(t.Text[at]) {
				at++
			}
			continue
		}
		if t.Text[at] != value[j] {
			break
		}
		at, j = at+1, j+1
	}
	return at
}

func (t *Tree) endOfLine(at int) int {
	if i := bytes.IndexByte(t.Text[min(at, len(t.Text)):], '\n'); i >= 0 {
		return at + i
	}
	return len(t.Text)
}

// blockHeader is the first line of a block scalar (YAML 1.2.2 §8.1.1).
var blockHeader = regexp.MustCompile(`^[|>]([-+]?)([1-9]?)([-+]?)`)

// endOfBlock returns the end of the last line of a block scalar that begins at an offset, in a member at
// the column indent. Blank lines at its end belong to it only if it keeps them.
func (t *Tree) endOfBlock(at, indent int) int {
	header := blockHeader.FindSubmatch(t.Text[at:])
	end := t.endOfLine(at)
	keeps, content := false, -1
	if header != nil {
		keeps = string(header[1])+string(header[3]) == "+"
		if n, err := strconv.Atoi(string(header[2])); err == nil {
			content = max(indent, 0) + n
		}
	}
	for next := end + 1; next < len(t.Text); {
		stop := t.endOfLine(next)
		line := strings.TrimRight(string(t.Text[next:stop]), "\r")
		depth := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case depth == len(line):
			if keeps {
				end = stop
			}
		case content < 0 && depth <= indent, content >= 0 && depth < content:
			return end
		default:
			if content < 0 {
				content = depth
			}
			end = stop
		}
		next = stop + 1
	}
	return end
}

// findComments collects the comments. Text in quotes and block scalars contain none.
func (t *Tree) findComments() {
	slices.SortFunc(t.opaque, func(a, b Span) int { return a.Start - b.Start })
	next := 0
	for at := 0; at < len(t.Text); at++ {
		for next < len(t.opaque) && t.opaque[next].End <= at {
			next++
		}
		if next < len(t.opaque) && t.opaque[next].Start <= at {
			at = t.opaque[next].End - 1
			continue
		}
		if t.Text[at] != '#' || at > 0 && !isSpace(t.Text[at-1]) {
			continue
		}
		end := t.endOfLine(at)
		before := t.Text[t.lines[t.Line(at)]:at]
		comment := Comment{Span{at, at + len(bytes.TrimRight(t.Text[at:end], " \t\r"))}, len(bytes.TrimSpace(before)) == 0}
		t.Comments = append(t.Comments, comment)
		at = end
	}
}
