package schemas

import (
	"iter"
	"net/url"
	"strconv"
	"strings"
)

// valueLocation is a place in the checked value. Its path is not formatted in advance: there can be
// far more faults than are reported.
type valueLocation struct {
	location string // a JSON pointer, as the validator writes it
	value    *element
	key      *member // the member whose value it is, if it is one
	name     string  // the member's name; that of the nearest one around an item
}

// follow walks a JSON pointer as the validator writes it, as far as it leads.
func (e *element) follow(location string) valueLocation {
	at := valueLocation{location: location, value: e}
	for step := range pointer(location) {
		m, item := at.value.step(step)
		switch {
		case m != nil:
			at.value, at.key, at.name = m.value, m, step
		case item != nil:
			at.value, at.key = item, nil
		default:
			return at
		}
	}
	return at
}

// pathTo is the way that follow takes.
func (e *element) pathTo(location string) valuePath {
	var way valuePath
	for step := range pointer(location) {
		m, item := e.step(step)
		switch {
		case m != nil:
			e, way = m.value, way.member(step)
		case item != nil:
			i, _ := strconv.Atoi(step) // else there were no item
			e, way = item, way.item(i)
		default:
			return way
		}
	}
	return way
}

// step returns the member of that name, or the item of that number.
func (e *element) step(step string) (*member, *element) {
	if m := e.member(step); m != nil {
		return m, nil
	}
	i, err := strconv.Atoi(step)
	if err != nil || i < 0 || i >= len(e.items) {
		return nil, nil
	}
	return nil, e.items[i]
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
