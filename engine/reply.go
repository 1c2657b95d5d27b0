package engine

// Replies of services
//
// A node may call another service, and the flow stores the reply under a name for later nodes.
// No client can set it, and its values have the types that the node declares. A reply answers a
// question, and is valid only while the question would be the same: a reply about the run's user
// is forgotten with the user, and a reply about an input when that input is withdrawn or
// replaced. Otherwise a client could have the service asked about one person and use the answer
// for another.

import (
	"maps"
	"slices"
)

// ReplyType is the JSON type of a value in a reply: NumberReply, IntegerReply, StringReply or
// BooleanReply.
type ReplyType string

// The types of values in replies. Integers are limited to the range that every JSON parser
// represents exactly: -(2^53-1) to 2^53-1 (RFC 7493 §2.2).
const (
	NumberReply  ReplyType = "number"
	IntegerReply ReplyType = "integer"
	StringReply  ReplyType = "string"
	BooleanReply ReplyType = "boolean"
)

// ServiceReply is a node's declaration of the reply that it stores.
type ServiceReply struct {
	Name  string
	Types map[string]ReplyType // of its values, by name
	// OfUser means that the question is about the run's user. Inputs are the inputs that the
	// question is about.
	OfUser bool
	Inputs []string
}

// Replier is an Executor that stores a reply. Its outcomes establish and forget the facts of the
// reply.
type Replier interface {
	// ServiceReply is nil if the node stores none.
	ServiceReply() *ServiceReply
}

// Fact is the fact that the run has the reply.
func (r *ServiceReply) Fact() Fact {
	if r.OfUser {
		return userReplySort.fact(r.Name)
	}
	return replySort.fact(r.Name)
}

// ReplyFacts returns the two facts of replies with a name: about the run's user, and about
// anything else. One of them holds if the run has such a reply.
func ReplyFacts(name string) []Fact {
	return []Fact{replySort.fact(name), userReplySort.fact(name)}
}

// replyOf returns the reply that an executor stores, nil if it stores none.
func replyOf(exec Executor) *ServiceReply {
	if replier, ok := exec.(Replier); ok {
		return replier.ServiceReply()
	}
	return nil
}

// addReplyTypes records the types of the reply that a node stores. All replies with one name
// have the same types.
func (c *compiler) addReplyTypes(i int, exec Executor, types map[string]map[string]ReplyType) {
	r := replyOf(exec)
	if r == nil {
		return
	}
	if before, seen := types[r.Name]; seen && !maps.Equal(before, r.Types) {
		c.report(RuleInput, i, "with", "an earlier node stores a reply %q with other values; declare the same values, or rename one of them", r.Name)
		return
	}
	types[r.Name] = r.Types
}

// bindReplies lets every outcome that withdraws an input forget the replies about that input.
func (c *compiler) bindReplies() {
	about := map[string][]Fact{} // by input
	for i := range c.graph.nodes {
		if r := replyOf(c.graph.nodes[i].exec); r != nil {
			for _, input := range r.Inputs {
				about[input] = append(about[input], ReplyFacts(r.Name)...)
			}
		}
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

// updateReplies stores the replies of a decision and drops those whose fact no longer holds.
func (r *run) updateReplies(d *Decision) {
	r.state.Replies = merged(maps.Clone(r.state.Replies), d.Replies)
	maps.DeleteFunc(r.state.Replies, func(name string, _ map[string]any) bool { return !r.facts.HasAny(ReplyFacts(name)) })
}
