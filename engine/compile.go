package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// The rules a flow is checked by. A finding names its rule, and the id is
// stable: editors, CI and waivers refer to it.
const (
	RuleShape           = "shape"           // the definition or a node's `with` does not fit its schema
	RuleKind            = "kind"            // `use` names no kind
	RuleID              = "id"              // a node id is missing, reserved or used twice
	RuleTarget          = "target"          // `next` names no node
	RuleOutcome         = "outcome"         // an outcome is not wired, or there is none of that name
	RuleReach           = "reach"           // no path leads to the node
	RuleEnd             = "end"             // no path leads from the node to an end
	RuleCycle           = "circle"          // a step that does not end, or takes long
	RuleInput           = "input"           // one input identifier has two types
	RuleSecret          = "secret"          // a node would read a password or a code that it does not verify
	RuleNeeds           = "needs"           // a node needs what is not certain there
	RuleTakeover        = "takeover"        // a credential could be bound to somebody else's account
	RuleUnauthenticated = "unauthenticated" // somebody could get in without authenticating
	RuleGuarantee       = "guarantee"       // a run could break what the flow guarantees
	RuleFindable        = "findable"        // a run could create a user whom nobody finds again
	RuleSession         = "session"         // an earlier sign-in could get in that proved less than every other path does
	RuleSubflow         = "subflow"         // a sub-flow cannot be put where a node names it
	RuleWaive           = "waive"           // a waiver that waives nothing, or must not
)

// Compile checks a definition whose shape schemas.FlowSchema has accepted, and
// makes it a graph. The sub-flows it uses are its Parts. It reports everything at once: every finding names its
// rule, its node and the path in the definition, for a Document to locate. The
// graph is nil if any finding is more than a warning.
//
// A node that cannot be understood is taken to establish all that its kind may,
// and every input, so that one mistake is one finding and not a cascade of them,
// and hides no other either.
func Compile(flow *schemas.Flow, kinds Kinds) (*Graph, []schemas.Problem) {
	return newCompiler(flow, kinds).result()
}

// result compiles, and returns the graph if there is one.
func (c *compiler) result() (*Graph, []schemas.Problem) {
	c.compile()
	if c.refused > 0 {
		return nil, c.problems
	}
	c.graph.warnings = c.problems
	return c.graph, c.problems
}

// compiler is the state of one Compile.
type compiler struct {
	flow      *schemas.Flow
	kinds     Kinds
	graph     *Graph
	index     map[string]int // node id → its (first) index
	misshapen []bool         // nodes of the definition that are known not to be understood
	problems  []schemas.Problem
	refused   int // findings that are more than warnings, told or not

	// What sub-flows have been put in their places: see inline.go.
	nodes           []schemas.Node // those of the graph
	nodeOrigins     []nodeOrigin   // and where they come from
	inner           []*scope       // of nodes that use a sub-flow
	total           int            // nodes of all flows in use
	text            int            // bytes of their configurations
	subflows        schemas.Subflows
	above           []string // handles of the sub-flows that led to this one, and its own
	cycle           []string // of handles
	checkedSubflows map[string]*compiler

	externalProof string // the class that is certain of every sign-in that rests on no session: see session.go

	// What walks through the product of graph and facts have found: see product.go.
	stateGraphs map[string]*stateGraph
	visited     int             // states, by all of them
	givenFor    map[Fact][]Fact // nil: not read yet
	claimed     []Fact
}

// maxFindings is how many findings are worded. An author mends a hundred before
// wanting the next, and wording each of many thousand would cost a server more
// than a flow is worth.
const maxFindings = 100

func newCompiler(flow *schemas.Flow, kinds Kinds) *compiler {
	return &compiler{
		flow: flow, kinds: kinds, graph: &Graph{flow: flow}, total: len(flow.Nodes), text: textOf(flow),
		index: map[string]int{}, misshapen: make([]bool, len(flow.Nodes)), checkedSubflows: map[string]*compiler{},
	}
}

// compile finds everything that is wrong and, if nothing is, makes the graph.
func (c *compiler) compile() {
	if len(c.flow.Nodes) == 0 {
		c.report(RuleShape, -1, "nodes", "a flow needs at least one node; the first one is its entry")
		return
	}
	if c.flow.FlowType == schemas.Subflow {
		c.above = append(slices.Clone(c.above), c.flow.Handle)
	}
	c.expand()
	c.checkDeclared()
	c.makeExecutors()
	c.connectNodes()
	c.checkReach()
	c.checkCycles()
	c.checkWaits()
	c.settleSessions()
	c.prove()
	c.checkGuarantees()
	c.checkFindable()
	if c.refused > maxFindings {
		last := &c.problems[len(c.problems)-1]
		last.Message += fmt.Sprintf(" (and %d more findings)", c.refused-maxFindings)
	}
}

// isReportFull reports whether a further finding would not be told, and counts it if so.
// Who words findings at some cost asks first.
func (c *compiler) isReportFull() bool {
	if c.refused < maxFindings {
		return false
	}
	c.refused++
	return true
}

// report adds a finding about a member of node i (-1: of the flow).
func (c *compiler) report(rule string, i int, member, format string, args ...any) {
	if c.isReportFull() {
		return
	}
	if i >= 0 {
		member = c.nodePath(i, member)
	}
	c.add(i, schemas.Problem{Rule: rule, Path: member, Message: fmt.Sprintf(format, args...)})
}

// add adds a finding about node i (-1: about the flow), for which there is room
// unless it is a warning.
func (c *compiler) add(i int, p schemas.Problem) {
	if !p.Warning {
		c.refused++
	}
	if i >= 0 {
		p.Node = c.nodes[i].ID
		if s := c.nodeOrigins[i].scope; s.use >= 0 {
			p.Message = fmt.Sprintf("in the sub-flow %q, at %q: %s", s.flow.Handle, c.nodes[i].ID, p.Message)
		}
	}
	c.problems = append(c.problems, p)
}

// nodePath returns the path of a member of the definition's node i.
func nodePath(i int, member string) string {
	return schemas.JoinPath(fmt.Sprintf("nodes[%d]", i), member)
}

// makeExecutors makes the executor of every node, twice: the types of the
// inputs that the flow collects are only known after the first time.
func (c *compiler) makeExecutors() {
	usable := c.checkWith()
	inputs, replies := map[string]schemas.InputType{}, map[string]map[string]ReplyType{}
	maps.Copy(inputs, c.flow.Requires.Inputs)
	partial := false
	for i, ok := range usable {
		if ok {
			exec, problems := c.newExecutor(i, nil, nil, true)
			c.collect(i, exec, inputs)
			c.collectReply(i, exec, replies)
			ok = len(problems) == 0
		}
		partial = partial || !ok
	}
	for i, ok := range usable {
		if !ok {
			continue
		}
		exec, problems := c.newExecutor(i, inputs, replies, partial)
		for _, p := range problems {
			c.report(orRule(p.Rule, RuleShape), i, schemas.JoinPath("with", p.Path), "%s", p.Message)
		}
		if len(problems) == 0 {
			c.finishNode(i, exec)
		}
	}
	c.bindReplies()
	c.graph.inputs = inputs
}

// kindOf returns the kind node i uses, or reports that there is none.
func (c *compiler) kindOf(i int) *Kind {
	use := c.nodes[i].Use
	if kind := c.kinds[use]; kind != nil {
		return kind
	}
	if c.isReportFull() {
		return nil
	}
	known := sortedKeys(c.kinds)
	hint := "the kinds are " + strings.Join(known, ", ")
	if near := schemas.Suggest(use, known); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	c.report(RuleKind, i, "use", "there is no kind of node %q; %s", use, hint)
	return nil
}

// checkWith checks every `with` against its kind's schema and tells which nodes
// an executor can be made of.
func (c *compiler) checkWith() []bool {
	usable := make([]bool, len(c.nodes))
	for i, n := range c.nodes {
		kind := c.graph.nodes[i].kind
		if kind == nil {
			continue
		}
		usable[i] = !c.isMisshapen(i)
		if kind.Inlines != nil && c.inner[i] == nil {
			usable[i], c.graph.nodes[i].kind = false, nil // what it stands for may establish anything
		}
		if c.isMisshapen(i) {
			continue
		}
		if kind.With == nil {
			if len(n.With) > 0 && string(withOf(&n)) != "{}" {
				c.report(RuleShape, i, "with", "%s takes no configuration; remove `with`", kind.Name)
				usable[i] = false
			}
			continue
		}
		for _, p := range kind.With.Check(withOf(&n)) {
			c.report(RuleShape, i, schemas.JoinPath("with", p.Path), "%s", p.Message)
			usable[i] = false
		}
	}
	return usable
}

// withOf returns the node's configuration, {} if it has none.
func withOf(n *schemas.Node) json.RawMessage {
	if len(n.With) == 0 {
		return json.RawMessage("{}")
	}
	return n.With
}

func (c *compiler) newExecutor(i int, inputs map[string]schemas.InputType, replies map[string]map[string]ReplyType, partial bool) (Executor, []schemas.Problem) {
	n := c.nodes[i]
	n.Next = c.targetsOf(i)
	config := &Config{
		FlowType: c.flow.FlowType, Guarantees: c.flow.Guarantees, Node: &n, With: withOf(&n),
		Inputs: inputs, Replies: replies, Partial: partial,
	}
	if inner := c.inner[i]; inner != nil {
		config.Subflow = inner.flow
	}
	return c.graph.nodes[i].kind.New(config)
}

// collect notes the types of the inputs a node collects.
func (c *compiler) collect(i int, exec Executor, inputs map[string]schemas.InputType) {
	collector, ok := exec.(Collector)
	if !ok {
		return
	}
	for identifier, t := range collector.Collects() {
		if before, seen := inputs[identifier]; seen && before != t {
			c.report(RuleInput, i, "with", "the input %q is %s here and %s at an earlier node; one identifier has one type: rename one of them", identifier, t, before)
		}
		inputs[identifier] = t
	}
}

// finishNode notes what the executor says of itself.
func (c *compiler) finishNode(i int, exec Executor) {
	n := &c.graph.nodes[i]
	n.exec = exec
	n.needs = n.kind.Needs
	if needer, ok := exec.(Needer); ok {
		n.needs = append(slices.Clone(n.needs), needer.Needs()...)
	}
	outcomes := n.kind.Outcomes
	if shaper, ok := exec.(OutcomeConfigurer); ok {
		outcomes = shaper.Outcomes()
	}
	for _, o := range outcomes {
		n.edges = append(n.edges, edge{Outcome: o, target: endNode})
	}
}

func orRule(rule, otherwise string) string {
	if rule != "" {
		return rule
	}
	return otherwise
}
