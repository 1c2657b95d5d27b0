package nodes

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// The outcomes of nodes that try something.
const (
	successOutcome = "success"
	failureOutcome = "failure"
)

// node is what the executors of most kinds have in common: what they read, what they declare, and
// the form of their question. Executors embed it; their other exported members are the configuration.
type node struct {
	deps     Deps
	outcomes []engine.Outcome
	needs    []engine.Need
	collects map[string]schemas.InputType
	reveals  string
	form     form
	// unlimited says that a waiver lifts the limit of the credentials that the node adds.
	unlimited bool
}

// setUp sets a node up with the outcomes of its kind.
func (n *node) setUp(d Deps, outcomes []engine.Outcome, unlimited bool) {
	n.deps, n.outcomes, n.unlimited = d, outcomes, unlimited
}

// Outcomes implements engine.OutcomeConfigurer.
func (n node) Outcomes() []engine.Outcome { return n.outcomes }

// Needs implements engine.Needer.
func (n node) Needs() []engine.Need { return n.needs }

// Collects implements engine.Collector.
func (n node) Collects() map[string]schemas.InputType { return n.collects }

// Reveals implements engine.AccountRevealer.
func (n node) Reveals() string { return n.reveals }

// has reports whether the node has an outcome.
func (n node) has(outcome string) bool {
	return slices.ContainsFunc(n.outcomes, func(o engine.Outcome) bool { return o.Name() == outcome })
}

// executor is the executor of a kind with a configuration. It is decoded from the configuration and
// set up, with the outcomes of the kind except those that only describe a choice of the author. Then
// prepare completes it, and returns further problems of the configuration.
type executor[T any] interface {
	*T
	engine.Executor
	setUp(d Deps, outcomes []engine.Outcome, unlimited bool)
	prepare(c *engine.Config) []schemas.Problem
}

// declared is a kind with its documentation.
type declared struct {
	*engine.Kind
	row row
}

// errorCodes are the codes of the errors that the nodes of a kind report in a step, besides those of
// engine.CommonCodes.
type errorCodes []string

// row is the row of a kind in docs/kinds.md.
type row struct{ outcomes, establishes string }

// configured declares a kind. The type of its executor describes the configuration of nodes: the schema made of
// it accepts a configuration before it is decoded.
func configured[T any, E executor[T]](d Deps, k engine.Kind, codes errorCodes, page row) declared {
	k.With, k.Codes = schemaOf[T](k.Name), codes
	k.New = func(c *engine.Config) (engine.Executor, []schemas.Problem) {
		x := E(new(T))
		if err := json.Unmarshal(c.With, x); err != nil { // the schema and T disagree
			return nil, []schemas.Problem{{Message: err.Error()}}
		}
		x.setUp(d, outcomesOf(&k), slices.Contains(c.Waived, engine.RuleChain))
		return x, x.prepare(c)
	}
	return declared{&k, page}
}

// readLoosely reads as much of a configuration as fits, before the schema has accepted it.
func readLoosely[T any](with json.RawMessage) *T {
	x := new(T)
	_ = json.Unmarshal(with, x) // the schema reports what does not fit
	return x
}

// outcomesOf returns the outcomes of a kind for one node, which can change them.
func outcomesOf(k *engine.Kind) []engine.Outcome {
	outcomes := slices.DeleteFunc(slices.Clone(k.Outcomes), func(o engine.Outcome) bool { return o.Name() == skip || o.Name()[0] == '<' })
	for i := range outcomes {
		outcomes[i].Establishes = slices.Clip(outcomes[i].Establishes)
	}
	return outcomes
}

// must returns a value that is made of constants, or of values of the program, and so cannot fail.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// problem returns a finding about a part of the configuration.
func problem(path, format string, args ...any) schemas.Problem {
	return schemas.Problem{Path: path, Message: fmt.Sprintf(format, args...)}
}

// checkInput reports a reference to an input that no prompt collects or that is secret. The engine
// passes a secret only to the node that verifies or sets it.
func checkInput(c *engine.Config, path, identifier string) []schemas.Problem {
	flow := c.Collected()
	t, collected := flow.Inputs[identifier]
	switch {
	case !collected && flow.Partial:
		return nil
	case !collected && len(flow.Inputs) == 0:
		return []schemas.Problem{problem(path, "no prompt of this flow collects an input %q; the flow has no inputs at all: add a prompt before this node", identifier)}
	case !collected:
		names := slices.Sorted(maps.Keys(flow.Inputs))
		return []schemas.Problem{problem(path, "no prompt of this flow collects an input %q; it collects %s", identifier, strings.Join(names, ", "))}
	case t.Secret():
		secret := problem(path, "the input %q is a secret (%s): only a node that verifies or sets it, such as password-authenticate, "+
			"password-set or totp, may read it; use another input here", identifier, t)
		secret.Rule = engine.RuleSecret
		return []schemas.Problem{secret}
	}
	return nil
}

// withoutUnwired returns the outcomes without those of the names that the node does not wire.
func withoutUnwired(c *engine.Config, outcomes []engine.Outcome, names ...string) []engine.Outcome {
	return slices.DeleteFunc(outcomes, func(o engine.Outcome) bool {
		return slices.Contains(names, o.Name()) && c.Node.Next.By[o.Name()] == ""
	})
}

// claimFacts returns the facts that an input merely identified the user.
func claimFacts(c *engine.Config) (facts []engine.Fact) {
	for _, identifier := range slices.Sorted(maps.Keys(c.Collected().Inputs)) {
		facts = append(facts, engine.ClaimFact(identifier))
	}
	return facts
}
