package schemas

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// maxProblems is how many problems of one text are reported. A request of a few kilobytes can have
// tens of thousands: formatting each costs memory, and makes the reply longer than the request.
const maxProblems = 50

// findings collects the problems of a value: the first maxProblems, and the number of the others.
type findings struct {
	at   valuePath // of the current value
	kept []Problem
	more int
}

// acceptsMore reports whether one more problem can be reported. If not, it counts the problem, and
// the caller must not format it, because formatting is expensive.
func (f *findings) acceptsMore() bool {
	if len(f.kept) < maxProblems {
		return true
	}
	f.more++
	return false
}

// addKept adds a problem. The caller has checked acceptsMore.
func (f *findings) addKept(p Problem) { f.kept = append(f.kept, p) }

// note adds a problem of the current value. It joins the parts of the message only if the problem
// is reported.
func (f *findings) note(at place, message ...string) {
	if f.acceptsMore() {
		f.addKept(at.problem(f.at.String(), strings.Join(message, "")))
	}
}

// noteName is note for a problem with the name of a member.
func (f *findings) noteName(m member, message ...string) {
	if f.acceptsMore() {
		f.addKept(m.problem(f.at.String(), strings.Join(message, "")).OnName())
	}
}

// noteUnknown notes an unknown member of the current object.
func (f *findings) noteUnknown(m member, known []string) {
	if !f.acceptsMore() {
		return
	}
	p := m.problem(f.at.member(m.name).String(), unknown("member", m.name, known)).OnName()
	if near := Suggest(m.name, known); near != "" {
		p.meant = f.at.member(near).String()
	}
	f.addKept(p)
}

// children yields the items of a list, as members without names, or the members of an object.
func (f *findings) children(e *element) iter.Seq[member] {
	return func(yield func(member) bool) {
		for i, item := range e.items {
			f.at = f.at.item(i)
			if !yield(member{value: item}) {
				return
			}
			f.at = f.at.up()
		}
		for _, m := range e.members() {
			f.at = f.at.member(m.name)
			if !yield(m) {
				return
			}
			f.at = f.at.up()
		}
	}
}

// enterMember begins a member. JSON allows members with an empty name, but the schema validator
// cannot refer to them.
func (f *findings) enterMember(m member) {
	if m.name == "" {
		f.note(m.place, "a member has no name; give it one")
	}
	f.at = f.at.member(m.name)
}

// leaveMember adds the member that was read to its object.
func (f *findings) leaveMember(object *element, m member) {
	if !object.add(m) {
		first := object.member(m.name)
		f.noteName(m, quote(m.name), " is given twice, first on line ", strconv.Itoa(int(first.line)), "; remove one")
	}
	f.at = f.at.up()
}

// isEmpty reports whether there are no problems.
func (f *findings) isEmpty() bool { return len(f.kept) == 0 }

// listed returns the reported problems; the last has the number of the others.
func (f *findings) listed() []Problem {
	if f.more == 0 {
		return f.kept
	}
	reported := slices.Clone(f.kept)
	reported[len(reported)-1].Message += fmt.Sprintf(" (and %d more problems)", f.more)
	return reported
}

// inPlace returns the listed problems, sorted by position.
func (f *findings) inPlace() []Problem {
	sortByPlace(f.kept)
	return f.listed()
}

// sortByPlace sorts problems by position. In YAML, an object begins where its first member does: its
// missing members come first, as in JSON.
func sortByPlace(problems []Problem) {
	missing := func(p Problem) int {
		if p.missing {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(missing(a), missing(b)), strings.Compare(a.Path, b.Path))
	})
}
