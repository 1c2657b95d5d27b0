package flows_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A reply is valid while its question is the same. The oracle stores with it the user that the
// question was about, and the values of the inputs in it.

var (
	readsInput = regexp.MustCompile(`inputs\.([A-Za-z_]+)`)
	readsUser  = regexp.MustCompile(`user\.(id|type|ouId|attributes|groups|roles|permissions|knows|has)`)
	readsReply = regexp.MustCompile(`replies\.([A-Za-z_]+)`)
)

// request calls a service, which may return any reply.
func (o *oracle) request(m situation, c config) {
	for _, text := range c.Body {
		_, broken := (&condition{text: text, at: m}).value()
		o.broken(broken)
	}
	o.broken(slices.ContainsFunc(c.reveals(), func(input string) bool { return m.value(input) == noUser }))
	if c.Mode != "query" {
		o.leave(m, "queued")
		return
	}
	if c.As == "" {
		o.leave(m, "failure")
		o.leave(m, "success")
		return
	}
	o.leave(m.answered(c.As, ""), "failure")
	o.leave(m.answered(c.As, m.asked(c)), "success")
}

// This returns the inputs in a body.
func (c config) reveals() (inputs []string) {
	for _, text := range c.Body {
		for _, found := range readsInput.FindAllStringSubmatch(text, -1) {
			inputs = append(inputs, found[1])
		}
	}
	return inputs
}

// asked identifies a question: "who=victim,email=ghost".
func (m situation) asked(c config) string {
	about := map[string]person{}
	for _, text := range c.Body {
		if readsUser.MatchString(text) {
			about["who"] = m.who
		}
		for _, found := range readsReply.FindAllStringSubmatch(text, -1) {
			for one := range strings.SplitSeq(m.replies, ";") {
				if question, ok := strings.CutPrefix(one, found[1]+":"); ok {
					maps.Copy(about, subjects(question))
				}
			}
		}
	}
	for _, input := range c.reveals() {
		about[input] = m.value(input)
	}
	words := []string{"asked"}
	for _, name := range slices.Sorted(maps.Keys(about)) {
		words = append(words, name+"="+string(about[name]))
	}
	return strings.Join(words, ",")
}

// answered returns the moment with the reply to a question, "" for none.
func (m situation) answered(name, question string) situation {
	kept := slices.DeleteFunc(strings.Split(m.replies, ";"), func(one string) bool {
		return one == "" || strings.HasPrefix(one, name+":")
	})
	if question != "" {
		kept = append(kept, name+":"+question)
	}
	slices.Sort(kept)
	m.replies = strings.Join(kept, ";")
	return m
}

// misleads reports whether a text reads a reply that is missing, or that concerns another user
// or input by then.
func (m situation) misleads(text string) bool {
	return slices.ContainsFunc(readsReply.FindAllStringSubmatch(text, -1), func(found []string) bool {
		for one := range strings.SplitSeq(m.replies, ";") {
			if question, ok := strings.CutPrefix(one, found[1]+":"); ok {
				return !m.isAbout(question)
			}
		}
		return true
	})
}

func (m situation) isAbout(question string) bool {
	for name, then := range subjects(question) {
		now := m.value(name)
		if name == "who" {
			now = m.who
		}
		if now != then {
			return false
		}
	}
	return true
}

// subjects returns what a question is about.
func subjects(question string) map[string]person {
	about := map[string]person{}
	for word := range strings.SplitSeq(question, ",") {
		if name, value, ok := strings.Cut(word, "="); ok {
			about[name] = person(value)
		}
	}
	return about
}
