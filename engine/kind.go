package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Kind is a kind of node: what `use` names in a flow. Kinds are values; the map
// of all of them is given to Compile, and there is no registration.
type Kind struct {
	// Name is what a flow writes after `use:`.
	Name string
	// Doc says in a sentence or two what a node of the kind does.
	Doc string
	// With is the JSON Schema (draft 2020-12) of the node's configuration. It
	// must forbid additional properties. Nil: the kind takes none.
	With *schemas.Schema
	// Needs must hold on every path to a node of the kind.
	Needs []Need
	// Outcomes are the ways out, in the order of their documentation.
	Outcomes []Outcome
	// Terminal kinds end the run; they have no outcomes and nothing follows.
	Terminal bool
	// Asks says that a run cannot pass a node of the kind twice without a
	// question to the client in between. A circle must contain such a node.
	Asks bool
	// Inlines, if not nil, says that a node of the kind stands for the nodes of a
	// sub-flow, and returns the handle that a configuration names, "" if it names
	// none. What such a node establishes is none of its own outcomes.
	Inlines func(with json.RawMessage) (handle string)
	// New makes the executor of one node. It is called at compile time with a
	// configuration that With has accepted; what it finds wrong beyond that it
	// returns as problems with paths relative to `with`.
	New func(*Config) (Executor, []schemas.Problem)
}

// Describe tells an author what a kind does: its documentation, what it needs,
// and its outcomes with what each establishes.
func (k *Kind) Describe() string {
	var b strings.Builder
	b.WriteString(k.Doc)
	for _, need := range k.Needs {
		fmt.Fprintf(&b, "\nNeeds %s", factNames(need.AnyOf))
		if need.Why != "" {
			b.WriteString(": otherwise " + need.Why)
		}
		b.WriteString(".")
	}
	for _, o := range k.Outcomes {
		fmt.Fprintf(&b, "\n%s: %s.", o.Name, strings.TrimSuffix(o.Doc, "."))
		if len(o.Establishes) > 0 {
			fmt.Fprintf(&b, " Establishes %s.", establishes(o.Establishes))
		}
		for _, given := range slices.Sorted(maps.Keys(o.EstablishesGiven)) {
			fmt.Fprintf(&b, " Given %s: %s.", factNames([]Fact{given}), establishes(o.EstablishesGiven[given]))
		}
		if o.Optional {
			b.WriteString(" Left unwired, the node asks again.")
		}
	}
	if k.Terminal {
		b.WriteString("\nEnds the run.")
	}
	return b.String()
}

func establishes(facts []Fact) string {
	names := make([]string, len(facts))
	for i, f := range facts {
		names[i] = factNames([]Fact{f})
	}
	return strings.Join(names, " and ")
}

// Kinds maps the name of every kind to the kind.
type Kinds map[string]*Kind

// Need is a fact that must be certain before a node runs.
type Need struct {
	// AnyOf holds when one of these facts does.
	AnyOf []Fact
	// Rule is the id of the finding when it does not hold; "" means "needs".
	Rule string
	// Why says what would go wrong, and Fix how the author puts it right.
	Why, Fix string
	// Path says which part of the node asked for it ("with.from"), if any.
	Path string
}

// Outcome is a way to leave a node and what is certain afterwards.
type Outcome struct {
	Name string
	Doc  string
	// Optional outcomes need no wiring: unwired, the node is entered again,
	// tells the client what went wrong, and asks anew.
	Optional bool
	// Establishes are facts that hold afterwards.
	Establishes []Fact
	// EstablishesGiven are facts that hold afterwards if the one they stand under
	// held before, and still does.
	EstablishesGiven map[Fact][]Fact
	// NewSubject says that the run turns to another user (or to none): all that
	// was certain about the one before is forgotten first.
	NewSubject bool
	// Forgets are facts that do not hold afterwards.
	Forgets []Fact
	// Withdraws names inputs whose values are taken back or replaced. Their
	// InputFact no longer holds unless Establishes says so anew, and a user who
	// was merely named by one of them (neither created nor authenticated by this
	// run) is forgotten, by the analysis and by the engine.
	Withdraws []string
}

// Config is what a Kind makes an executor from.
type Config struct {
	FlowType schemas.FlowType
	// Guarantees are what the author wants proven of the flow.
	Guarantees schemas.Guarantees
	// Node is the node as it stands in the graph: of one in a sub-flow, Next says what
	// the outcomes lead to where the sub-flow is used.
	Node *schemas.Node
	// With is the node's configuration; {} when the flow gives none.
	With json.RawMessage
	// Subflow is the sub-flow of a node that uses one.
	Subflow *schemas.Flow
	// Inputs has the type of every input that prompts of the flow collect.
	Inputs map[string]schemas.InputType
	// Replies has the types of the values of every reply that nodes of the flow keep, by
	// its name.
	Replies map[string]map[string]ReplyType
	// Partial says that some nodes of the flow could not be understood, so that
	// Inputs and Replies may lack what they collect: what is not there is no mistake.
	Partial bool
}

// Executor is what a node does. Execute is called when a run arrives at the
// node, with no answer, and once for each answer to a question it asked.
//
// It reads as it likes and writes nothing: what shall change it returns as
// data in the Decision. It may be called for a step that is then not
// committed, because another answer to the same question was quicker; so it
// must not act on the world. It is called by many goroutines at once.
//
// A mistake of the person (a wrong password) is a Decision: an outcome, or
// another question with a Notice. An error means that the step could not be
// decided: a *schemas.Error reaches the client as it is and leaves the run
// where it was; any other error is internal.
type Executor interface {
	Execute(ctx context.Context, v *Visit) (*Decision, error)
}

// OutcomeConfigurer is an Executor whose outcomes depend on its configuration. They
// replace those of the Kind.
type OutcomeConfigurer interface {
	Outcomes() []Outcome
}

// Needer is an Executor whose configuration adds to what it needs.
type Needer interface {
	Needs() []Need
}

// Collector is an Executor that collects inputs from the client. What several
// nodes of a flow collect under one identifier must have one type.
type Collector interface {
	Collects() map[string]schemas.InputType
}

// SecretUser is an Executor that verifies or sets a secret which a prompt of the same
// step may have collected. It names the input of the secret. A Visit has the value for
// that node alone; no other node ever sees a secret that it did not ask for itself.
type SecretUser interface {
	UsesSecret() string
}
