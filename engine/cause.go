package engine

// Causes
//
// One wrong target has findings at other nodes: the node that nothing leads to any more, the node that
// lacks a fact, the end that proves too little. Authors look for the mistake at the line of a finding, so
// the finding should be at the target that is wrong.
//
// A target is the cause of findings if another target in its place fixes them and breaks nothing else.
// This is decided by trial: the flow is checked again with other targets. The cause is the target that
// fixes the most findings. Of several it is the one that has the nearest other target in the flow, because
// authors write nodes in the order in which runs pass them, and then the first. Its first finding moves
// there and names the targets that fix it, and the other findings follow from it. The rest of the findings
// is searched for further causes. A finding that no single target fixes stays where it is.
//
// Few targets can be a cause. A run that breaks a rule ends with another target only if it takes
// the changed one, so the target is on the path of the finding. A node that cannot be reached needs a
// target that is a node like it, and a node without a path to an end needs a target of its own or of such a
// node. What an executor rejects because of its targets is fixed by one of these.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

const (
	// maxCauseStates limits the nodes and states of all trials of one check.
	maxCauseStates = 30_000
	// maxNamedTargets limits the targets that a finding names.
	maxNamedTargets = 3
	// maxDistance is the distance from which nodes are equally far.
	maxDistance = 3
	// failureRank is the rank of an outcome that establishes nothing: see outcomeRank.
	failureRank = 2
)

// unconnected is the state of a compiler before the nodes are connected.
type unconnected struct {
	nodes    []node
	problems int
	errors   int
}

func (c *compiler) saveUnconnected() unconnected {
	saved := unconnected{slices.Clone(c.graph.nodes), len(c.problems), c.errorCount}
	for i := range saved.nodes {
		saved.nodes[i].edges = slices.Clone(saved.nodes[i].edges)
	}
	return saved
}

// target is a target in the definition: of an outcome, or of all outcomes of the node if that is "".
type target struct {
	node    int // in the graph: one of the flow's own
	outcome string
	to      string
	path    string
}

// targets lists the targets of the flow's own nodes in the order of the flow.
func (c *compiler) targets() (list []target) {
	for i, n := range c.nodes {
		if c.nodeOrigins[i].scope.use >= 0 {
			continue
		}
		if n.Next.To != "" {
			list = append(list, target{i, "", n.Next.To, c.nodePath(i, "next")})
		}
		for _, outcome := range n.Next.Outcomes() {
			list = append(list, target{i, outcome, n.Next.By[outcome], c.nodePath(i, schemas.MemberPath("next", outcome))})
		}
	}
	return list
}

// trial is the search for the causes of the findings of a flow.
type trial struct {
	*compiler
	errors  []int          // the problems that are errors and may have another cause
	count   map[string]int // the errors by their text
	reached []bool
	ending  []bool
	left    int // states
}

// attempt is a target with another in its place.
type attempt struct {
	target
	instead  string
	distance int  // between the node and the other target, in the order of the flow
	rank     int  // of the outcome: see outcomeRank
	returns  bool // the outcome establishes something, and leads back
	may      []int
}

// repair is a target with the targets that fix findings in its place.
type repair struct {
	attempt
	instead []string
	fixes   []int // the problems
}

// compareAttempts orders attempts: the likely ones first.
func compareAttempts(a, b attempt) int {
	if a.distance == maxDistance && b.distance == maxDistance {
		return cmp.Or(compareBool(b.returns, a.returns), cmp.Compare(a.node, b.node), cmp.Compare(a.rank, b.rank))
	}
	return cmp.Or(compareBool(b.returns, a.returns), cmp.Compare(a.distance, b.distance), cmp.Compare(a.rank, b.rank), cmp.Compare(a.node, b.node))
}

// markCauses moves findings to the targets that cause them.
func (c *compiler) markCauses() {
	if c.errorCount > maxFindings || len(c.graph.nodes) == 0 {
		return
	}
	t := &trial{compiler: c, count: map[string]int{}, left: maxCauseStates, reached: c.reachableNodes(), ending: c.reachesEnd()}
	for i, p := range c.problems {
		if p.Warning {
			continue
		}
		if t.count[textOf(p)]++; !hasOwnCause(p) {
			t.errors = append(t.errors, i)
		}
	}
	repairs := t.repairs()
	for open := t.errors; len(open) > 0; {
		best := bestRepair(repairs, open)
		if best == nil {
			return
		}
		c.moveTo(*best)
		open = slices.DeleteFunc(slices.Clone(open), func(i int) bool { return slices.Contains(best.fixes, i) })
	}
}

// isDoubtful reports whether another mistake than a target is as likely. A node that nothing leads to may be one
// to remove, unless the target skips it, or leads back after no
// failure. A proof that is too weak may be meant, and waived.
func (t *trial) isDoubtful(a attempt, fixed []int) bool {
	from, to := t.place(a.to), t.place(a.instead)
	skips := from <= a.node && a.rank < failureRank || a.node < to && to < from
	return !slices.ContainsFunc(fixed, func(i int) bool {
		switch t.problems[i].Rule {
		case RuleReach:
			return skips
		case RuleChain, RuleSession:
			return false
		}
		return true
	})
}

// bestRepair returns the first of the repairs that fix the most of the open findings, nil if there is none.
// Its findings are those that are open.
func bestRepair(repairs []repair, open []int) (best *repair) {
	for _, r := range repairs {
		r.fixes = slices.DeleteFunc(slices.Clone(r.fixes), func(i int) bool { return !slices.Contains(open, i) })
		if len(r.fixes) > 0 && (best == nil || len(r.fixes) > len(best.fixes)) {
			best = &r
		}
	}
	return best
}

// repairs tries other targets in place of each that may be a cause. Those that may fix every finding are
// tried first, up to the first that does.
func (t *trial) repairs() (list []repair) {
	attempts := t.attempts()
	for _, complete := range []bool{true, false} {
		for _, a := range attempts {
			if complete != (len(a.may) == len(t.errors)) || t.left <= 0 {
				continue
			}
			fixed := t.fixedBy(a)
			switch {
			case t.isDoubtful(a, fixed):
			case len(fixed) == len(t.errors):
				return []repair{t.withAlternatives(a, attempts)}
			default:
				list = addRepair(list, a, fixed)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b repair) int { return compareAttempts(a.attempt, b.attempt) })
	return list
}

// withAlternatives returns the repair by an attempt that fixes everything, with further targets that do so
// too.
func (t *trial) withAlternatives(a attempt, attempts []attempt) repair {
	r := repair{a, []string{a.instead}, t.errors}
	for _, other := range attempts {
		if len(r.instead) > maxNamedTargets || t.left <= 0 {
			break
		}
		if other.path == a.path && other.instead != a.instead && len(t.fixedBy(other)) == len(t.errors) {
			r.instead = append(r.instead, other.instead)
		}
	}
	return r
}

// addRepair adds what an attempt fixes: of the attempts for one target those remain that fix the most.
func addRepair(list []repair, a attempt, fixed []int) []repair {
	i := slices.IndexFunc(list, func(r repair) bool { return r.path == a.path })
	switch {
	case i < 0:
		return append(list, repair{a, []string{a.instead}, fixed})
	case len(fixed) > len(list[i].fixes):
		list[i] = repair{a, []string{a.instead}, fixed}
	case slices.Equal(fixed, list[i].fixes):
		list[i].instead = append(list[i].instead, a.instead)
	}
	return list
}

// attempts lists what may fix findings, the likely ones first.
func (t *trial) attempts() (list []attempt) {
	var names []string
	for _, n := range t.flow.Nodes {
		names = append(names, n.ID)
	}
	names = append(names, t.graph.exits...)
	for _, one := range t.targets() {
		may := t.mayFix(one)
		if len(may) == 0 {
			continue
		}
		rank := t.outcomeRank(one)
		for _, name := range names {
			if name != one.to && t.mayConnect(one, name, may) {
				list = append(list, attempt{one, name, t.distance(one, name), rank, rank == failureRank-1 && t.place(one.to) <= one.node, may})
			}
		}
	}
	slices.SortStableFunc(list, compareAttempts)
	return list
}

// distance returns how many nodes are between a node and its target in the order of the flow. A node itself is
// the least likely target.
func (t *trial) distance(one target, name string) int {
	to := t.place(name)
	if to == one.node {
		return maxDistance + 1
	}
	return min(max(to-one.node, one.node-to), maxDistance)
}

// place returns the place of a target in the order of the flow. The end is the last.
func (t *trial) place(name string) int {
	if to, isNode := t.index[name]; isNode {
		return to
	}
	return len(t.graph.nodes)
}

// outcomeRank orders the outcomes of a node by how likely another node is the next one in the flow. The choices that
// an author has named are first, and failures are last.
func (t *trial) outcomeRank(one target) int {
	n := &t.graph.nodes[one.node]
	if n.kind == nil || one.outcome == "" {
		return 0
	}
	i := slices.IndexFunc(n.kind.Outcomes, func(o Outcome) bool { return o.name == one.outcome })
	switch {
	case i < 0:
		return 0
	case slices.ContainsFunc(n.edges, func(e edge) bool { return e.name == one.outcome && len(e.Establishes) > 0 }):
		return failureRank - 1
	}
	return failureRank
}

// mayFix returns the findings that another target in place of this one may fix.
func (t *trial) mayFix(one target) (list []int) {
	for _, i := range t.errors {
		p := t.problems[i]
		along := func(s schemas.TraceStep) bool { return s.Outcome != "" && s.Path == one.path }
		switch {
		case len(p.Trace) > 0:
			if slices.ContainsFunc(p.Trace, along) {
				list = append(list, i)
			}
		case i >= t.unconnected.problems:
			list = append(list, i)
		case t.dependsOnTargets(one.node) && strings.HasPrefix(p.Path, t.nodePath(one.node, "with")):
			list = append(list, i)
		}
	}
	return list
}

// hasOwnCause reports whether a finding is where its mistake is: a name that does not exist, or a step with too
// many requests.
func hasOwnCause(p schemas.Problem) bool {
	switch p.Rule {
	case RuleTarget, RuleOutcome, RuleID, RuleKind:
		return true
	}
	return p.Rule == RuleCycle && strings.HasSuffix(p.Path, ".use")
}

// dependsOnTargets reports whether the executor of node i is created again for other targets. Kinds with
// expressions do not depend on them, and take long.
func (c *compiler) dependsOnTargets(i int) bool {
	kind := c.graph.nodes[i].kind
	return kind != nil && kind.Expressions == nil && c.useScopes[i] == nil && !c.isMisshapen(i) && len(kind.check(withOf(&c.nodes[i]))) == 0
}

// mayConnect reports whether a target in place of one may fix any of the findings: those about connections
// need a target that cannot be reached, or a node without a path to an end.
func (t *trial) mayConnect(one target, name string, may []int) bool {
	others := func(i int) bool {
		p := t.problems[i]
		return len(p.Trace) > 0 || p.Rule != RuleReach && p.Rule != RuleEnd
	}
	to, isNode := t.index[name]
	return slices.ContainsFunc(may, others) || isNode && !t.reached[to] || !t.ending[one.node]
}

// fixedBy returns the findings that the flow does not have with the other target. There are none if it has
// others then.
func (t *trial) fixedBy(a attempt) (fixed []int) {
	c := t.with(a)
	left := t.remaining(c)
	if left != nil {
		c.proveGraph()
		left = t.remaining(c)
	}
	t.left -= len(c.graph.nodes) + c.visited
	if left == nil {
		return nil
	}
	for _, i := range t.errors {
		text := textOf(t.problems[i])
		if left[text] == 0 {
			fixed = append(fixed, i)
		} else {
			left[text]--
		}
	}
	return fixed
}

// with returns a compiler of the flow with the other target. Its nodes are connected.
func (t *trial) with(a attempt) *compiler {
	c := *t.compiler
	c.nodes = slices.Clone(t.nodes)
	c.nodes[a.node].Next = replaced(c.nodes[a.node].Next, a.outcome, a.instead)
	saved := t.unconnected
	c.unconnected = unconnected{}
	c.problems, c.errorCount = slices.Clone(t.problems[:saved.problems]), saved.errors
	c.graph = &Graph{flow: t.flow, nodes: slices.Clone(saved.nodes), exits: t.graph.exits, inputs: t.graph.inputs}
	for i := range c.graph.nodes {
		c.graph.nodes[i].edges = slices.Clone(saved.nodes[i].edges)
	}
	c.violations, c.requiredClass, c.stateGraphs, c.visited, c.givenFor, c.claimed = nil, "", nil, 0, nil, nil
	if c.dependsOnTargets(a.node) {
		c.makeAgain(a.node)
	}
	c.connect()
	return &c
}

// makeAgain creates the executor of node i for its changed targets, with the problems that it then has.
func (c *compiler) makeAgain(i int) {
	path := c.nodePath(i, "with")
	c.problems = slices.DeleteFunc(c.problems, func(p schemas.Problem) bool {
		about := p.Path == path || strings.HasPrefix(p.Path, path+".")
		if about && !p.Warning {
			c.errorCount--
		}
		return about
	})
	c.graph.nodes[i].exec, c.graph.nodes[i].edges = nil, nil
	made := c.newExecutor(i, Collected{Inputs: c.graph.inputs, derived: map[any]any{}})
	for _, p := range made.problems {
		c.addNodeProblem(i, p)
	}
	if !made.failed() {
		c.finishNode(i, made.exec)
	}
}

// replaced returns targets with the name as that of an outcome, or of all if that is "".
func replaced(next schemas.Next, outcome, name string) schemas.Next {
	if outcome == "" {
		return schemas.Next{To: name}
	}
	by := make(map[string]string, len(next.By))
	for o, to := range next.By {
		by[o] = to
	}
	by[outcome] = name
	return schemas.Next{By: by}
}
