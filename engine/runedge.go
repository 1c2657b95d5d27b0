package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// followEdge moves the run along an edge and checks that the decision fulfills what the outcome
// declares: the proofs depend on it.
func (r *run) followEdge(e edge, d *Decision) error {
	if err := r.applyOutcome(e.Outcome, d); err != nil {
		return fmt.Errorf("node %q left by %q: %w", r.graph.nodes[r.at].id, e.name, err)
	}
	r.state.NodeState, r.state.Ask = nil, nil
	r.at = e.target
	return nil
}

// applyOutcome updates the facts and everything that they are about.
func (r *run) applyOutcome(o Outcome, d *Decision) error {
	claimed := slices.Contains(o.Withdraws, r.state.Subject.Input) && !r.facts.Has(Own)
	if o.NewSubject || claimed {
		r.state.Subject, r.state.Auth, r.draftStored, r.state.Limited = Subject{}, nil, false, false
	}
	r.facts = r.facts.after(o)
	if d.Subject != nil {
		r.state.Subject = *d.Subject
	}
	r.state.Identity = cmp.Or(d.Identity, r.state.Identity)
	r.claimOwnership(d)
	r.recordAuthentication(d)
	r.updateReplies(d)
	if d.Limited {
		r.state.Limited = true
		r.dropUnbacked()
	}
	return r.checkFacts()
}

// checkFacts checks that the run has what its facts promise.
func (r *run) checkFacts() error {
	for _, f := range r.facts {
		if !r.backs(f) {
			return fmt.Errorf("it establishes %s, without one", f.Describe())
		}
	}
	if r.state.Auth != nil && !r.facts.Has(Authenticated) {
		return errors.New("it does not establish authentication, although the run has one")
	}
	return nil
}

// backs reports whether a fact is true of the run. The guarantees of flows depend on this.
func (r *run) backs(f Fact) bool {
	auth := cmp.Or(r.state.Auth, &Authentication{})
	sort, name := f.split()
	switch {
	case f == User:
		return r.state.Subject.Known()
	case f == Authenticated:
		return r.state.Auth != nil
	case f == Federated:
		return r.state.Identity != nil
	case sort == acrSort:
		return schemas.Satisfies(auth.ACR, name)
	case sort == amrSort:
		return slices.Contains(auth.Methods, name)
	case sort == replySort || sort == userReplySort:
		return r.state.Replies[name] != nil
	}
	return true
}

// recordAuthentication adds the proofs in a decision to the subject's authentication. No proof is of
// the future: the clock of the instance that created a session may be ahead.
func (r *run) recordAuthentication(d *Decision) {
	before := r.state.Auth
	if !r.facts.Has(Authenticated) || len(d.Proofs) == 0 || before == nil && !d.authenticates() {
		return
	}
	auth := &Authentication{Session: d.Session}
	if before != nil {
		auth.Proofs, auth.Session = before.Proofs, before.Session
		if d.authenticates() {
			auth.Session = "" // a session alone does not include the other proof
		}
	}
	added := slices.Clone(d.Proofs)
	for i, p := range added {
		switch {
		case p.Proves() && (p.At.IsZero() || p.At.After(r.now)):
			added[i].At = r.now
		case p.Proves():
			added[i].At = p.At.UTC()
		}
	}
	auth.Proofs = schemas.MergeProofs(auth.Proofs, added)
	auth.derive()
	r.state.Auth = auth
}
