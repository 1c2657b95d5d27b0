package schemas

import (
	"fmt"
	"regexp/syntax"
)

// weight is the cost of applying a schema to a value. Each number is capped far above its limit.
type weight struct {
	work     int // once
	repeated int // the part that recurs for each item or member
	depth    int // of schemas within it
}

const tooMuchMessage = 1 << 30

func (a *weight) add(b weight) {
	a.work = min(a.work+b.work, tooMuchMessage)
	a.repeated = min(a.repeated+b.repeated, tooMuchMessage)
	a.depth = max(a.depth, b.depth)
}

// also returns the weight of a schema that applies to the same value as its parent: the validator
// records the visited members again.
func (a weight) also() weight {
	const bookkeeping = 10
	a.add(weight{work: bookkeeping})
	return a
}

// each is the weight of a schema that is applied to every item or member.
func (a weight) each() weight {
	a.repeated = a.work
	return a
}

// size returns the weight of a value in the schema with which others are compared: its parts, and
// the cost of showing it in a message.
func size(e *element) int {
	const shown = 16 // bytes
	n := 1 + len(e.text)/shown
	for _, item := range e.items {
		n += size(item)
	}
	for _, m := range e.members() {
		n += 1 + len(m.name)/shown + size(m.value)
	}
	return n
}

// pattern returns the weight of a regular expression: the instructions of its program, each of
// which can run at each character of a text.
func (w *definition) pattern(e *element, text string) weight {
	if err := CheckPatternText(text); err != nil { // before the parser, which it may keep busy
		w.note(e.place, err.Error())
		return weight{}
	}
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		w.note(e.place, "this is not an RE2 regular expression, which has no look-around or back references: "+truncate(err.Error(), maxCauseLength))
		return weight{}
	}
	program, err := syntax.Compile(re.Simplify())
	if err != nil {
		w.note(e.place, "this regular expression cannot be compiled")
		return weight{}
	}
	if n := len(program.Inst); n > maxRepeated {
		w.note(e.place, fmt.Sprintf("this regular expression is too complex: its program has %d instructions, expected at most %d; repeat less", n, maxRepeated))
	}
	return weight{work: len(program.Inst)}
}
