package flows_test

import (
	"regexp"
	"slices"
	"strings"
)

// triState is the value of a condition as far as the oracle knows.
type triState int

const (
	unknown triState = iota
	isTrue
	isFalse
)

func (t triState) not() triState {
	return map[triState]triState{isTrue: isFalse, isFalse: isTrue}[t]
}

// condition is an expression that the oracle parses itself: its operators and what it says about
// the run. The rest may be true or false.
type condition struct {
	text string
	at   situation
}

// value returns the value, and whether the expression reads a missing value.
func (c *condition) value() (triState, bool) {
	text := strings.TrimSpace(c.text)
	for len(text) > 1 && text[0] == '(' && closing(text) == len(text)-1 {
		text = strings.TrimSpace(text[1 : len(text)-1])
	}
	if parts := split(text, "?"); len(parts) == 2 {
		return c.choose(parts[0], split(parts[1], ":"))
	}
	if parts := split(text, "||"); len(parts) > 1 {
		v, broken := c.all(parts, true)
		return v.not(), broken
	}
	if parts := split(text, "&&"); len(parts) > 1 {
		return c.all(parts, false)
	}
	if rest, ok := strings.CutPrefix(text, "!"); ok {
		v, broken := (&condition{rest, c.at}).value()
		return v.not(), broken
	}
	if m := guards.FindStringSubmatch(text); m != nil && c.at.who != noUser && c.at.who != deletedUser {
		return map[bool]triState{true: isTrue, false: isFalse}[c.at.has(m[1])], false
	}
	known := map[string]bool{"user.isAuthenticated": c.at.proved, "user.isNew": c.at.who == fresh, "true": true, "false": false}
	if v, ok := known[text]; ok {
		return map[bool]triState{true: isTrue, false: isFalse}[v], false
	}
	reads := strings.Contains(text, "user.") && (c.at.who == noUser || c.at.who == deletedUser)
	for _, read := range readsAttribute.FindAllStringSubmatch(text, -1) {
		reads = reads || !c.at.has(read[1])
	}
	return unknown, reads || c.at.misleads(text)
}

// The attributes that conditions test and read.
var (
	guards         = regexp.MustCompile(`^has\(user\.attributes\.([a-z_]+)\)$`)
	readsAttribute = regexp.MustCompile(`user\.attributes\.([a-z_]+)`)
)

// has reports whether the user has the attribute, in a situation that knows.
func (m situation) has(attribute string) bool {
	return slices.Contains(strings.Split(m.attributes, ";"), attribute)
}

// setAttribute returns the situation in which the user has the attribute, or lacks it: "-email".
func (m situation) setAttribute(attribute string, has bool) situation {
	list := slices.DeleteFunc(strings.Split(m.attributes, ";"), func(one string) bool {
		return one == "" || strings.TrimPrefix(one, "-") == attribute
	})
	if !has {
		attribute = "-" + attribute
	}
	list = append(list, attribute)
	slices.Sort(list)
	m.attributes = strings.Join(list, ";")
	return m
}

// worlds returns the situations in which the user has or lacks each attribute that the texts mention:
// an account may lack any that no node has seen.
func (m situation) worlds(texts ...string) []situation {
	list := []situation{m}
	if m.who == noUser || m.who == deletedUser {
		return list
	}
	for _, read := range readsAttribute.FindAllStringSubmatch(strings.Join(texts, " "), -1) {
		var more []situation
		for _, one := range list {
			if one.has(read[1]) || one.has("-"+read[1]) {
				more = append(more, one)
				continue
			}
			more = append(more, one.setAttribute(read[1], true), one.setAttribute(read[1], false))
		}
		list = more
	}
	return list
}

// choose returns the value of test ? arms[0] : arms[1].
func (c *condition) choose(test string, arms []string) (triState, bool) {
	chosen, broken := (&condition{test, c.at}).value()
	if chosen == isTrue {
		arms = arms[:1]
	} else if chosen == isFalse {
		arms = arms[1:]
	}
	value := unknown
	for _, arm := range arms {
		v, b := (&condition{arm, c.at}).value()
		value, broken = v, broken || b
	}
	if len(arms) > 1 {
		value = unknown
	}
	return value, broken
}

// all returns the conjunction of parts, or of the negated parts if negate is set: an "or" is its
// negation. Reading a missing value does no harm where another part decides.
func (c *condition) all(parts []string, negate bool) (triState, bool) {
	result, broken := isTrue, false
	for _, part := range parts {
		v, b := (&condition{part, c.at}).value()
		if negate {
			v = v.not()
		}
		broken = broken || b
		if v == isFalse {
			return isFalse, false
		}
		if v == unknown {
			result = unknown
		}
	}
	return result, broken
}

// split cuts the text at an operator outside of brackets and quotes.
func split(text, operator string) []string {
	var parts []string
	depth, from, quote := 0, 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; {
		case quote != 0:
			if ch == quote {
				quote = 0
			}
		case ch == '"' || ch == '\'':
			quote = ch
		case strings.IndexByte("([{", ch) >= 0:
			depth++
		case strings.IndexByte(")]}", ch) >= 0:
			depth--
		case depth == 0 && strings.HasPrefix(text[i:], operator):
			parts = append(parts, text[from:i])
			from = i + len(operator)
			i = from - 1
		}
	}
	return append(parts, text[from:])
}

// closing returns the position of the bracket that closes the first one.
func closing(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}
