package engine

// What services answered
//
// A node may ask another service, and what that answers is kept for later nodes under
// a name that the flow gives it. No client sets it, and it is of the type that the node
// declares. It is an answer to a question, though, and is good for as long as the
// question would be the same: if it was about the run's user it is forgotten with
// them, and if it was about an input when that is taken back or replaced. Else
// somebody could have the service asked about one person, and use the answer as
// another.

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ReplyType is the JSON type of a value in a reply: NumberReply, IntegerReply,
// StringReply or BooleanReply.
type ReplyType string

// The types of values in replies. An integer is one that every reader of JSON keeps
// exactly: between -(2^53-1) and 2^53-1 (RFC 7493 §2.2).
const (
	NumberReply  ReplyType = "number"
	IntegerReply ReplyType = "integer"
	StringReply  ReplyType = "string"
	BooleanReply ReplyType = "boolean"
)

// ServiceReply is what a node declares of the reply that it keeps.
type ServiceReply struct {
	Name  string
	Types map[string]ReplyType // of its values, by their names
	// OfUser says that the question is about the run's user, and Inputs about which
	// inputs it is.
	OfUser bool
	Inputs []string
}

// Replier is an Executor that keeps a reply. Its outcomes establish and forget the
// facts of it.
type Replier interface {
	// ServiceReply is nil if the node keeps none.
	ServiceReply() *ServiceReply
}

// The beginnings of the facts of replies.
const (
	replyPrefix     = "reply."
	userReplyPrefix = "user-reply."
)

// Fact is the fact that the run has the reply.
func (r *ServiceReply) Fact() Fact {
	if r.OfUser {
		return Fact(userReplyPrefix + r.Name)
	}
	return Fact(replyPrefix + r.Name)
}

// ReplyFacts are the facts of which one holds where the run has a reply of the name:
// of one that is about something else, and of one about the run's user.
func ReplyFacts(name string) []Fact {
	return []Fact{Fact(replyPrefix + name), Fact(userReplyPrefix + name)}
}

// reply returns the name of a reply whose fact this is, and whether it is one.
func (f Fact) reply() (string, bool) {
	if name, ok := strings.CutPrefix(string(f), userReplyPrefix); ok {
		return name, true
	}
	return strings.CutPrefix(string(f), replyPrefix)
}

func isReply(f Fact) bool     { _, is := f.reply(); return is }
func isUserReply(f Fact) bool { return strings.HasPrefix(string(f), userReplyPrefix) }

// collectReply notes the types of the reply that a node keeps. Of one name all are
// alike.
func (c *compiler) collectReply(i int, exec Executor, types map[string]map[string]ReplyType) {
	replier, ok := exec.(Replier)
	if !ok || replier.ServiceReply() == nil {
		return
	}
	r := replier.ServiceReply()
	if before, seen := types[r.Name]; seen && !maps.Equal(before, r.Types) {
		c.report(RuleInput, i, "with", "an earlier node keeps a reply %q that has other values; what has one name is alike: declare the same values, or give one of them another name", r.Name)
		return
	}
	types[r.Name] = r.Types
}

// bindReplies has every outcome that takes back an input forget the replies that are
// about it.
func (c *compiler) bindReplies() {
	about := map[string][]Fact{} // by input
	for i := range c.graph.nodes {
		replier, ok := c.graph.nodes[i].exec.(Replier)
		if !ok || replier.ServiceReply() == nil {
			continue
		}
		r := replier.ServiceReply()
		for _, input := range r.Inputs {
			about[input] = append(about[input], ReplyFacts(r.Name)...)
		}
	}
	if len(about) == 0 {
		return
	}
	for i := range c.graph.nodes {
		edges := c.graph.nodes[i].edges
		for j := range edges {
			for _, input := range edges[j].Withdraws {
				edges[j].Forgets = append(slices.Clip(edges[j].Forgets), about[input]...)
			}
		}
	}
}

// keepReplies keeps what a decision brought, and drops what does not hold any more.
func (r *run) keepReplies(d *Decision) error {
	replies := maps.Clone(r.state.Replies)
	if replies == nil && len(d.Replies) > 0 {
		replies = map[string]map[string]any{}
	}
	maps.Copy(replies, d.Replies)
	maps.DeleteFunc(replies, func(name string, _ map[string]any) bool { return !r.facts.HasAny(ReplyFacts(name)) })
	r.state.Replies = replies
	for f := range r.facts {
		if name, is := f.reply(); is && replies[name] == nil {
			return fmt.Errorf("it promises the reply %q, and there is none", name)
		}
	}
	return nil
}
