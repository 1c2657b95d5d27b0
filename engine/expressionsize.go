package engine

import (
	"fmt"
	"unicode/utf8"

	"github.com/postern-id/postern/schemas"
)

// The size of expressions
//
// Compiling an expression takes longer than anything else in the check of a flow, and a request can
// contain a megabyte of them. So their total size is limited, including those of sub-flows, which are
// compiled again wherever they are used. Each expression also counts what it costs regardless of its
// length, and each regular expression what its classes can be expanded to.

const (
	maxExpressionsSize = 48 << 10
	minExpressionSize  = 64
	regexSize          = 256
)

// Expression is an expression or a regular expression in a configuration.
type Expression struct {
	Path string // relative to `with`
	Text string
	// Regexes is the number of regular expressions in it.
	Regexes int
}

// size returns what the expression counts.
func (e *Expression) size() int {
	return max(utf8.RuneCountInString(e.Text), minExpressionSize) + e.Regexes*regexSize
}

// withinExpressionSize returns the nodes whose expressions, together with those of the nodes before,
// are within the limit. It reports the first expression above it.
func (c *compiler) withinExpressionSize() []bool {
	within := make([]bool, len(c.nodes))
	total, first, member := 0, -1, ""
	for i := range c.nodes {
		kind := c.graph.nodes[i].kind
		if kind != nil && kind.Expressions != nil && !c.isMisshapen(i) {
			for _, e := range kind.Expressions(withOf(&c.nodes[i])) {
				if total += e.size(); total > maxExpressionsSize && first < 0 {
					first, member = i, e.Path
				}
			}
		}
		within[i] = total <= maxExpressionsSize
	}
	if first >= 0 {
		c.reportExpressionSize(first, member, total)
	}
	return within
}

// reportExpressionSize reports the expression with which the flow exceeds the limit. A stored flow was
// accepted by a version without the limit, and still runs.
func (c *compiler) reportExpressionSize(i int, member string, total int) {
	message := fmt.Sprintf("the expressions of the flow and its sub-flows have the size %d, expected at most %d: each counts its characters, at least %d, and %d for each regular expression; "+
		"use fewer or shorter ones, or move what they compute into attributes, groups or roles of users, or into a service", total, maxExpressionsSize, minExpressionSize, regexSize)
	if !c.dropFinding() {
		c.addFinding(i, schemas.Problem{Rule: RuleShape, Path: c.nodePath(i, schemas.JoinPath("with", member)), Message: message, Warning: c.stored})
	}
}
