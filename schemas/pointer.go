package schemas

import (
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// valueLocation is a location in the checked value. Its path is not formatted in advance: there can
// be far more faults than are reported.
type valueLocation struct {
	location string // a JSON pointer, as the validator writes it
	value    *element
	key      *member // its member, if it is the value of one
	name     string  // the member's name; that of the nearest one around an item
}

// follow follows a JSON pointer of the validator as far as it exists.
func (e *element) follow(location string) valueLocation {
	at := valueLocation{location: location, value: e}
	for step := range e.way(location) {
		if at.value, at.key = at.value.child(step); at.key != nil {
			at.name = step.name
		}
	}
	return at
}

// pathTo returns the path that follow takes.
func (e *element) pathTo(location string) valuePath { return slices.Collect(e.way(location)) }

// way yields the steps of a JSON pointer that exist.
func (e *element) way(location string) iter.Seq[segment] {
	return func(yield func(segment) bool) {
		for step := range pointer(location) {
			next := segment{name: step}
			if e.member(step) == nil {
				i, err := strconv.Atoi(step)
				if err != nil || i < 0 || i >= len(e.items) {
					return
				}
				next = segment{index: i, item: true}
			}
			if !yield(next) {
				return
			}
			e, _ = e.child(next)
		}
	}
}

// pointer yields the steps of a JSON pointer (RFC 6901) in its URI fragment
// form, §6.
func pointer(location string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for rest, more := strings.TrimPrefix(location, "/"), location != ""; more; {
			var step string
			if step, rest, more = strings.Cut(rest, "/"); !yield(unescapeStep(step)) {
				return
			}
		}
	}
}

func unescapeStep(step string) string {
	if plain, err := url.PathUnescape(step); err == nil {
		step = plain
	}
	if strings.IndexByte(step, '~') < 0 {
		return step
	}
	return strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
}
