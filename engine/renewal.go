package engine

import (
	"slices"

	"github.com/postern-id/postern/schemas"
)

// Renewal
//
// A flow may ask a user with a session for something more. If that raises the class, it is a second
// factor. If not, its author probably expects that the sign-in counts as new, and it does only for what
// was asked for: the time of a class is that of the oldest proof without which it would not hold. A
// password renews neither the passkey of the session nor the second factor. Mailed codes and identities
// at providers are not reported: flows ask for them to verify an address or to link an identity.

// checkRenewals warns of each node that a run with an earlier sign-in reaches, and that proves nothing
// which the session did not certainly prove, unless it resists phishing: then it renews the most that
// most flows demand.
func (c *compiler) checkRenewals() {
	if c.flow.FlowType == schemas.Subflow {
		return // it is checked where it is used
	}
	reported := map[int]bool{}
	for _, s := range c.graph.resumedEdges() {
		n := &c.graph.nodes[s.node]
		if n.in == nil || slices.ContainsFunc(c.graph.nodes, func(n node) bool { return n.exec == nil }) {
			continue
		}
		c.followSession(n.edges[s.edge].target, n.in.after(c.outcome(s.node, s.edge)), func(i int) {
			if reported[i] || c.dropFinding() {
				return
			}
			reported[i] = true
			c.addFinding(i, schemas.Problem{Rule: RuleRenewal, Path: c.nodePath(i, "use"), Warning: true,
				Message: "after an earlier sign-in this proves nothing more, and does not renew it: auth_time stays the time of the session for the class " +
					"of the session; lead the outcome of the session past this node, or require a passkey here"})
		})
	}
}

// followSession follows the runs that rest on a session, with the facts that are certain, up to their
// next proof. It calls report for the nodes whose proof adds nothing.
func (c *compiler) followSession(from int, certain Facts, report func(int)) {
	in := map[int]Facts{}
	arrive := func(i int, facts Facts) (changed bool) {
		before, seen := in[i]
		if seen {
			facts = before.Intersect(facts)
		}
		in[i] = facts
		return !seen || len(facts) < len(before)
	}
	if from < 0 || !arrive(from, certain) {
		return
	}
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		i := queue[0]
		for j, e := range c.graph.nodes[i].edges {
			o := c.outcome(i, j)
			after := in[i].after(o)
			switch {
			case o.NewSubject || !after.Has(Authenticated) || e.target < 0:
			case slices.Contains(o.Establishes, Authenticated):
				proves := NewFacts(o.Establishes...).ACR()
				vouched, resists := !schemas.Satisfies(proves, schemas.ACRRecovery), schemas.Satisfies(proves, schemas.ACRPhishingResistant)
				if !vouched && !resists && after.ACR() == in[i].ACR() && !mayBeSecondFactor(o, in[i].ACR()) {
					report(i)
				}
			case arrive(e.target, after):
				queue = append(queue, e.target)
			}
		}
	}
}

// mayBeSecondFactor reports whether an outcome proves something held, after a session that may have proved
// only something known.
func mayBeSecondFactor(o Outcome, session string) bool {
	held := slices.ContainsFunc(schemas.HeldMethods(), func(m string) bool { return slices.Contains(o.Establishes, AMRFact(m)) })
	return held && !schemas.Satisfies(session, schemas.ACRMultiFactor) && !schemas.Satisfies(session, schemas.ACRPhishingResistant)
}
