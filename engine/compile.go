package engine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Compile checks a definition that schemas.FlowSchema has accepted, and builds its graph. The
// flow's Parts are the sub-flows that it uses. Compile returns all findings at once. Each has
// its rule, its node and the path in the definition; a Document adds the position. The graph is
// nil if any finding is an error.
//
// If a node is invalid, the analysis assumes that it establishes every fact that its kind can
// establish, and every input. Each mistake then causes one finding and hides no other.
func Compile(flow *schemas.Flow, kinds Kinds) (*Graph, []schemas.Problem) {
	return newCompiler(flow, kinds).result()
}

// CompileStored compiles a flow that a server has stored. It was checked then, so the findings of
// rules that are newer than stores in use are warnings.
func CompileStored(flow *schemas.Flow, kinds Kinds) (*Graph, []schemas.Problem) {
	c := newCompiler(flow, kinds)
	c.stored = true
	return c.result()
}

// result compiles the flow and returns the graph, or nil and the findings.
func (c *compiler) result() (*Graph, []schemas.Problem) {
	c.compile()
	if c.errorCount > 0 {
		c.linkConsequences()
		if c.forAuthor {
			c.markCauses()
		}
		return nil, c.problems
	}
	c.graph.warnings = c.problems
	return c.graph, c.problems
}

// compiler holds the state of one Compile.
type compiler struct {
	flow       *schemas.Flow
	kinds      Kinds
	graph      *Graph
	index      map[string]int // node ID → index of its first node
	misshapen  []bool         // nodes of the definition that are known to be invalid
	problems   []schemas.Problem
	errorCount int // number of errors, also of those that are not in problems

	// The expanded sub-flows: see inline.go.
	nodes           []schemas.Node // the nodes of the graph
	nodeOrigins     []nodeOrigin   // the origin of each node
	useScopes       []*scope       // for nodes that use a sub-flow
	nodeCount       int            // nodes of all flows in use
	configBytes     int            // bytes of their configurations
	subflows        schemas.Subflows
	enclosing       []string // handles of the enclosing sub-flows, including this one
	cycle           []string // handles
	checkedSubflows map[string]*compiler

	stored        bool        // see CompileStored
	violations    []violation // findings about runs: see consequence.go
	forAuthor     bool        // the findings are read by the author: see cause.go and effect.go
	unconnected   unconnected
	requiredClass string // the class that every path without a session proves: see session.go

	// The exact analysis: see stategraph.go.
	stateGraphs map[string]*stateGraph
	visited     int             // states in all state graphs
	givenFor    map[Fact][]Fact // nil: not computed yet
	claimed     []Fact
}

// maxFindings limits the findings that are worded. A hundred are enough to work on, and wording
// many thousands would cost a server more than the flow is worth.
const maxFindings = 100

func newCompiler(flow *schemas.Flow, kinds Kinds) *compiler {
	return &compiler{
		flow: flow, kinds: kinds, graph: &Graph{flow: flow}, nodeCount: len(flow.Nodes), configBytes: configSize(flow),
		index: map[string]int{}, misshapen: make([]bool, len(flow.Nodes)), checkedSubflows: map[string]*compiler{},
	}
}

// compile reports all findings and, if there are no errors, completes the graph.
func (c *compiler) compile() {
	if len(c.flow.Nodes) == 0 {
		c.report(RuleShape, -1, "nodes", "a flow needs at least one node; the first one is its entry")
		return
	}
	if c.flow.FlowType == schemas.Subflow {
		c.enclosing = append(slices.Clone(c.enclosing), c.flow.Handle)
	}
	c.expandSubflows()
	c.checkDeclared()
	c.makeExecutors()
	c.unconnected = c.saveUnconnected()
	c.connect()
	c.proveGraph()
	if c.errorCount > maxFindings {
		last := &c.problems[len(c.problems)-1]
		last.Message += fmt.Sprintf(" (and %d more findings)", c.errorCount-maxFindings)
	}
}

// connect connects the nodes and checks the shape of the graph.
func (c *compiler) connect() {
	c.connectNodes()
	c.checkReach()
	c.checkCycles()
	c.checkWaits()
}

// proveGraph proves the rules about runs.
func (c *compiler) proveGraph() {
	c.settleSessions()
	c.prove()
	c.checkGuarantees()
	c.checkFindable()
	c.checkEffects()
}

// dropFinding reports whether the limit of findings is reached, and counts the dropped finding.
// Callers with expensive findings call it first.
func (c *compiler) dropFinding() bool {
	if c.errorCount < maxFindings {
		return false
	}
	c.errorCount++
	return true
}

// report adds a finding about a member of node i, or of the flow if i is -1.
func (c *compiler) report(rule string, i int, member, format string, args ...any) {
	if c.dropFinding() {
		return
	}
	if i >= 0 {
		member = c.nodePath(i, member)
	}
	c.addFinding(i, schemas.Problem{Rule: rule, Path: member, Message: fmt.Sprintf(format, args...)})
}

// addFinding adds a finding about node i, or about the flow if i is -1. The caller has checked
// that the limit is not reached; warnings do not count.
func (c *compiler) addFinding(i int, p schemas.Problem) {
	if !p.Warning {
		c.errorCount++
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

// makeExecutors creates the executor of every node. What the nodes collect together is known only
// then, so the executors that depend on it are created again.
func (c *compiler) makeExecutors() {
	usable := c.checkWith()
	flow := Collected{Inputs: map[string]schemas.InputType{}, Replies: map[string]map[string]ReplyType{}, derived: map[any]any{}}
	unknown := Collected{Partial: true, derived: map[any]any{}}
	maps.Copy(flow.Inputs, c.flow.Requires.Inputs)
	made := make([]madeExecutor, len(c.nodes))
	for i, ok := range usable {
		if ok {
			made[i] = c.newExecutor(i, unknown)
			c.addInputTypes(i, made[i].exec, flow.Inputs)
			c.addReplyTypes(i, made[i].exec, flow.Replies)
			ok = !made[i].failed()
		}
		flow.Partial = flow.Partial || !ok
	}
	for i, ok := range usable {
		if !ok {
			continue
		}
		if made[i].dependent {
			made[i] = c.newExecutor(i, flow)
		}
		for _, p := range made[i].problems {
			c.addNodeProblem(i, p)
		}
		if !made[i].failed() {
			c.finishNode(i, made[i].exec)
		}
	}
	c.bindReplies()
	c.graph.inputs = flow.Inputs
}

// addNodeProblem adds a finding of the executor of node i. Its path is within with.
func (c *compiler) addNodeProblem(i int, p schemas.Problem) {
	if p.Warning {
		c.addFinding(i, schemas.Problem{Rule: cmp.Or(p.Rule, RuleShape), Path: c.nodePath(i, schemas.JoinPath("with", p.Path)), Message: p.Message, Within: p.Within, Warning: true})
		return
	}
	if !c.dropFinding() {
		c.addFinding(i, schemas.Problem{Rule: cmp.Or(p.Rule, RuleShape), Path: c.nodePath(i, schemas.JoinPath("with", p.Path)), Message: p.Message, Within: p.Within})
	}
}

// kindOf returns the kind of node i, or reports that it does not exist.
func (c *compiler) kindOf(i int) *Kind {
	use := c.nodes[i].Use
	if kind := c.kinds[use]; kind != nil {
		return kind
	}
	if c.dropFinding() {
		return nil
	}
	known := sortedKeys(c.kinds)
	c.report(RuleKind, i, "use", "there is no kind of node %q%s", use, cmp.Or(schemas.Hint(use, known), "; the kinds are "+strings.Join(known, ", ")))
	return nil
}

// checkWith checks every `with` against the schema of its kind and returns the nodes for which
// an executor can be created.
func (c *compiler) checkWith() []bool {
	usable := make([]bool, len(c.nodes))
	for i, n := range c.nodes {
		kind := c.graph.nodes[i].kind
		if kind == nil {
			continue
		}
		usable[i] = !c.isMisshapen(i)
		if kind.Inlines != nil && c.useScopes[i] == nil {
			usable[i], c.graph.nodes[i].kind = false, nil // the missing sub-flow may establish anything
		}
		if c.isMisshapen(i) {
			continue
		}
		for _, p := range kind.check(withOf(&n)) {
			c.report(RuleShape, i, schemas.JoinPath("with", p.Path), "%s", p.Message)
			usable[i] = false
		}
	}
	if within := c.withinExpressionSize(); !c.stored {
		for i := range usable {
			usable[i] = usable[i] && within[i]
		}
	}
	return usable
}

// check checks a configuration against the schema of the kind.
func (k *Kind) check(with json.RawMessage) []schemas.Problem {
	switch {
	case k.With != nil:
		return k.With.Check(with)
	case string(with) != "{}":
		return []schemas.Problem{{Message: k.Name + " takes no configuration; remove `with`"}}
	}
	return nil
}

// withOf returns the node's configuration, {} if it has none.
func withOf(n *schemas.Node) json.RawMessage {
	if len(n.With) == 0 {
		return json.RawMessage("{}")
	}
	return n.With
}

// madeExecutor is what Kind.New returned.
type madeExecutor struct {
	exec      Executor
	problems  []schemas.Problem
	dependent bool // on what the nodes of the flow collect together
}

// failed reports whether there is a problem that is not only a warning.
func (m madeExecutor) failed() bool {
	return slices.ContainsFunc(m.problems, func(p schemas.Problem) bool { return !p.Warning })
}

// newExecutor creates the executor of node i in a flow that collects this.
func (c *compiler) newExecutor(i int, flow Collected) (made madeExecutor) {
	n := c.nodes[i]
	n.Next = c.targetsOf(i)
	config := Config{FlowType: c.flow.FlowType, Guarantees: c.flow.Guarantees, Node: &n, With: withOf(&n), Waived: c.waivedRules(i), Stored: c.stored}
	if inner := c.useScopes[i]; inner != nil {
		config.Subflow = inner.flow
	}
	config.Collected = func() Collected {
		made.dependent = true
		return flow
	}
	c.graph.nodes[i].waived = config.Waived
	made.exec, made.problems = c.graph.nodes[i].kind.New(&config)
	return made
}

// addInputTypes records the types of the inputs that a node collects.
func (c *compiler) addInputTypes(i int, exec Executor, inputs map[string]schemas.InputType) {
	collector, ok := exec.(Collector)
	if !ok {
		return
	}
	for identifier, t := range collector.Collects() {
		if before, seen := inputs[identifier]; seen && before != t {
			c.report(RuleInput, i, "with", "the input %q is %s here and %s at an earlier node; use one type, or rename one of them", identifier, t, before)
		}
		inputs[identifier] = t
	}
}

// finishNode sets the needs and the outcomes that the executor declares.
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
