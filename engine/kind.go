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

// Kind is a type of node: the value of `use` in a flow. Kinds are values; the map of all kinds
// is passed to Compile, and there is no registration.
type Kind struct {
	// Name is the value of `use:`.
	Name string
	// Doc describes in one or two sentences what a node of the kind does.
	Doc string
	// With is the JSON Schema (draft 2020-12) of the node's configuration. It must forbid
	// additional properties. Nil means that the kind takes no configuration.
	With *schemas.Schema
	// Needs must hold on every path to a node of the kind.
	Needs []Need
	// Outcomes are in the order of their documentation.
	Outcomes []Outcome
	// Terminal kinds end the run. They have no outcomes and no next node.
	Terminal bool
	// Denies means that a terminal kind ends the run as failed. Then nothing need be certain there.
	Denies bool
	// Asks means that a run cannot pass a node of the kind twice without a question to the
	// client in between. Every cycle must contain such a node.
	Asks bool
	// Open means that any client can leave a node of the kind by each outcome that does not
	// authenticate: none depends on a condition of the flow's author.
	Open bool
	// Acts means that a node of the kind changes the account or informs another service, without an outcome that
	// establishes so.
	Acts bool
	// Inlines, if not nil, means that a node of the kind is replaced by the nodes of a sub-flow.
	// It returns the handle in the configuration, "" if there is none. Such a node establishes
	// nothing by its own outcomes.
	Inlines func(with json.RawMessage) (handle string)
	// Expressions, if not nil, returns the expressions in a configuration, which With may reject. Their
	// total size in a flow is limited.
	Expressions func(with json.RawMessage) []Expression
	// Codes are the codes of the errors that a node of the kind reports in a step, in addition to
	// CommonCodes.
	Codes []string
	// New creates the executor of one node. It is called at compile time with a configuration
	// that With has accepted, and returns further problems with paths relative to `with`.
	New func(*Config) (Executor, []schemas.Problem)
}

// Describe returns the documentation of a kind for authors: what it does, what it needs, and its
// outcomes with the facts that each establishes.
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
		fmt.Fprintf(&b, "\n%s: %s.", o.name, strings.TrimSuffix(o.Doc, "."))
		if len(o.Establishes) > 0 {
			fmt.Fprintf(&b, " Establishes %s.", joinFacts(o.Establishes, " and "))
		}
		for _, given := range slices.Sorted(maps.Keys(o.EstablishesGiven)) {
			fmt.Fprintf(&b, " Given %s: %s.", given.Describe(), joinFacts(o.EstablishesGiven[given], " and "))
		}
		if o.Optional {
			b.WriteString(" If `next` does not name it, the node asks again.")
		}
	}
	if k.Terminal {
		b.WriteString("\nEnds the run.")
	}
	return b.String()
}

// Kinds maps names to kinds.
type Kinds map[string]*Kind

// Need is a fact that must be certain before a node runs.
type Need struct {
	// AnyOf holds if one of these facts holds.
	AnyOf []Fact
	// Given limits the need to runs for which this fact is certain; "" means all.
	Given Fact
	// Rule is the rule of the finding; "" means "needs".
	Rule string
	// Advisory makes the finding a warning: the node may run without the facts.
	Advisory bool
	// Why describes what would go wrong, and Fix the remedy.
	Why, Fix string
	// Path is the part of the node that causes the need ("with.from"), if any, and Within the character of
	// it: see schemas.Problem.
	Path   string
	Within int
}

// Outcome is a result of a node and the facts that are certain afterwards. On makes one.
type Outcome struct {
	name   string
	effect Effect
	Doc    string
	// Optional outcomes need no target. Without one, the node is entered again, reports what
	// went wrong, and asks again.
	Optional bool
	// Establishes contains facts that hold afterwards.
	Establishes []Fact
	// EstablishesGiven contains facts that hold afterwards if their key held before and still
	// does.
	EstablishesGiven map[Fact][]Fact
	// NewSubject means that the run changes to another user (or to none): first, everything that
	// was certain about the previous user is forgotten.
	NewSubject bool
	// Forgets contains facts that do not hold afterwards.
	Forgets []Fact
	// Withdraws names inputs whose values are removed or replaced. Their InputFact no longer
	// holds unless Establishes contains it. A user that was merely identified by one of them
	// (neither created nor authenticated in this run) is forgotten, by the analysis and by the
	// engine.
	Withdraws []string
}

// Config is the argument of Kind.New.
type Config struct {
	FlowType schemas.FlowType
	// Guarantees are the declared guarantees of the flow.
	Guarantees schemas.Guarantees
	// Node is the node as it appears in the graph. For a node of a sub-flow, Next contains the
	// targets of the flow that uses the sub-flow.
	Node *schemas.Node
	// With is the node's configuration; {} if the flow gives none.
	With json.RawMessage
	// Subflow is the sub-flow that the node uses, if any.
	Subflow *schemas.Flow
	// Waived contains the rules whose findings at the node are waived.
	Waived []string
	// Stored means that a server has stored the flow: limits that an earlier version did not have do not
	// apply.
	Stored bool
	// Collected returns what the nodes of the flow collect together. An executor that was created
	// without a call of it does not depend on other nodes.
	Collected func() Collected
}

// Collected is what the nodes of a flow collect together.
type Collected struct {
	// Inputs contains the type of every input that the flow collects.
	Inputs map[string]schemas.InputType
	// Replies contains, by name, the types of the values of every reply that the flow stores.
	Replies map[string]map[string]ReplyType
	// Partial means that some nodes of the flow are invalid, so Inputs and Replies may be
	// incomplete: a missing name is no mistake.
	Partial bool

	derived map[any]any // see Derive
}

// Derive returns the result of derive, which is called once for all nodes of the flow and the key.
func (c *Collected) Derive(key any, derive func() any) any {
	value, done := c.derived[key]
	if !done {
		value = derive()
		if c.derived != nil {
			c.derived[key] = value
		}
	}
	return value
}

// Executor is the behavior of a node. Execute is called without an answer when a run arrives at
// the node, and once for each answer to a question of the node.
//
// It may read anything and must write nothing: it returns changes as data in the Decision. It
// may be called for a step that is never committed, because another answer to the same question
// was faster, so it must have no external effects. It must be safe for concurrent use.
//
// A user's mistake, such as a wrong password, is a Decision: an outcome, or another question
// with a Notice. An error means that the step could not be decided: a *schemas.Error reaches the
// client unchanged and leaves the run unchanged. Any other error is internal.
type Executor interface {
	Execute(ctx context.Context, v *Visit) (*Decision, error)
}

// OutcomeConfigurer is an Executor whose outcomes depend on its configuration. They replace the
// outcomes of the Kind.
type OutcomeConfigurer interface {
	Outcomes() []Outcome
}

// Needer is an Executor whose configuration adds needs.
type Needer interface {
	Needs() []Need
}

// Collector is an Executor that collects inputs from the client. All nodes of a flow must use
// the same type for an identifier.
type Collector interface {
	Collects() map[string]schemas.InputType
}

// SecretUser is an Executor that verifies or sets a secret that a prompt of the same step may
// have collected. It returns the input of the secret. A Visit contains the value for that node
// only. Other nodes never see a secret that they did not ask for themselves.
type SecretUser interface {
	UsesSecret() string
}
