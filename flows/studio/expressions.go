package studio

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/postern-id/postern/nodes"
)

// isExpression reports whether the value at a place is an expression in CEL.
func isExpression(o *outline) bool {
	return o.at("nodes", "[]", "with", "cases", "[]", "when") || o.at("nodes", "[]", "with", "body", "*")
}

// expressionNames returns the names that an expression can read. It reduces what is written of the
// expression to what is written of the last name in it.
func (s *Studio) expressionNames(o *outline) (options []Completion) {
	o.word = o.word[strings.LastIndexFunc(o.word, func(r rune) bool { return !isNameRune(r) })+1:]
	for _, v := range nodes.ExpressionNames() {
		options = append(options, Completion{v.Name, v.Name, v.Type, ""})
	}
	for _, name := range s.attributes {
		options = append(options, Completion{"user.attributes." + name, "user.attributes." + name, "attribute", ""})
	}
	for _, name := range inputsOf(o.nodes) {
		options = append(options, Completion{"inputs." + name, "inputs." + name, "input", ""})
	}
	return append(options, repliesOf(o.nodes)...)
}

// isNameRune reports whether a character can be part of a name with members, such as user.id.
func isNameRune(r rune) bool {
	return r == '.' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// inputsOf lists the identifiers of the inputs that the forms of nodes collect.
func inputsOf(list []outlineNode) (names []string) {
	for _, n := range list {
		if n.document == nil || n.document.At("with.inputs") == nil {
			continue
		}
		items, _ := n.document.At("with.inputs").Items()
		for _, item := range items {
			if name := item.TextAt("identifier"); name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// repliesOf lists the values of the replies that nodes store.
func repliesOf(list []outlineNode) (options []Completion) {
	for _, n := range list {
		if n.use != "http-request" || n.document == nil || n.document.At("with") == nil {
			continue
		}
		var with struct {
			As    string
			Reply map[string]struct{ Type string }
		}
		if json.Unmarshal(n.document.At("with").JSON(), &with) != nil || with.As == "" {
			continue
		}
		for name, v := range with.Reply {
			full := "replies." + with.As + "." + name
			options = append(options, Completion{full, full, v.Type, ""})
		}
	}
	slices.SortFunc(options, func(a, b Completion) int { return strings.Compare(a.Label, b.Label) })
	return options
}
