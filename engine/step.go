package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// advance moves the run from node to node until it asks, completes or fails. The answer is for
// the current node; the following nodes get none.
func (e *Engine) advance(ctx context.Context, r *run, answer *Answer) error {
	if answer != nil {
		r.state.Notice = nil
	}
	for range maxMoves {
		if err := r.checkNodeMayRun(); schemas.HasCode(err, schemas.CodeCredentialLimited) {
			r.failRun(errLimited())
			return nil
		} else if err != nil {
			return err
		}
		n := &r.graph.nodes[r.at]
		d, err := e.decide(ctx, r, answer)
		if err != nil {
			return err
		}
		answer = nil
		over, err := e.applyDecision(ctx, r, n, d)
		if err != nil || over {
			return err
		}
	}
	return fmt.Errorf("run %s passed %d nodes without asking", r.rec.Digest(), maxMoves)
}

// applyDecision applies a decision and reports whether the step is over.
func (e *Engine) applyDecision(ctx context.Context, r *run, n *node, d *Decision) (bool, error) {
	if d.Result != nil {
		refused, err := e.refuseCompletion(ctx, r)
		if err != nil {
			return true, err
		}
		if refused != nil {
			d = &Decision{Fail: refused}
		}
	}
	r.applyEffects(d)
	if d.Failed && r.state.Failures >= e.MaxFailures {
		r.failRun(schemas.Errorf(schemas.Invalid, schemas.CodeTooManyAttempts, "%d attempts have failed; start again", r.state.Failures))
		r.recordFailure(d) // the last attempt is recorded as well
		return true, nil
	}
	switch {
	case d.Fail != nil:
		r.failRun(d.Fail)
		e.recordFault(r, n, d.Fail)
		return true, nil
	case d.Refuse != nil:
		e.observe(r, d.Outcome)
		r.refuseRequest(d.Refuse)
		return true, nil
	case d.Ask != nil:
		r.askQuestion(d, e.newToken())
		return true, nil
	case n.kind.Terminal:
		if d.Result == nil {
			return true, fmt.Errorf("node %q ends the run and gave no result", n.id)
		}
		e.observe(r, "")
		r.complete(d.Result)
		return true, nil
	}
	edge, ok := n.edge(d.Outcome)
	if !ok {
		return true, fmt.Errorf("node %q left by %q, which is not one of its outcomes", n.id, d.Outcome)
	}
	e.observe(r, edge.name)
	if err := r.followEdge(edge, d); err != nil {
		return true, err
	}
	if r.at != endNode {
		return false, nil
	}
	refused, err := e.refuseCompletion(ctx, r)
	switch {
	case err != nil:
		return true, err
	case refused != nil:
		r.failRun(refused)
	default:
		e.completeUnanswered(r)
	}
	return true, nil
}

// completeUnanswered completes a run that has no result, and rejects the authorization request that it
// answers.
func (e *Engine) completeUnanswered(r *run) {
	result := &Result{}
	if bound := r.state.AuthRequest; bound != nil && e.Unanswered != nil {
		refusal := e.Unanswered(bound.ID, &r.request, r.now)
		r.changes = append(r.changes, refusal.Changes...)
		result.RedirectURL = refusal.RedirectURL
	}
	r.complete(result)
}

// keepsGuarantees reports whether the run has what the flow guarantees. The analysis proves that
// of every run that used no limited credential.
func (r *run) keepsGuarantees() bool {
	if !r.state.Limited {
		return true
	}
	facts := ACRFacts(r.graph.flow.Guarantees.Class())
	for _, method := range r.graph.flow.Guarantees.Methods() {
		facts = append(facts, AMRFact(method))
	}
	return !slices.ContainsFunc(facts, func(f Fact) bool { return !r.facts.Has(f) })
}

// errLimited is the error of a run that needs more than its limited credentials prove.
func errLimited() *schemas.Error {
	return schemas.Errorf(schemas.Forbidden, schemas.CodeCredentialLimited,
		"this credential is too weak for this flow, because it was added after a weaker sign-in; "+
			"sign in with another credential, or remove this one and add it again after a stronger sign-in")
}

func (e *Engine) observe(r *run, outcome string) {
	if e.Observe != nil {
		e.Observe(r.graph, r.graph.nodes[r.at].id, outcome)
	}
}

// checkNodeMayRun checks once more that the node may run: see prove.go.
func (r *run) checkNodeMayRun() error {
	n := &r.graph.nodes[r.at]
	for _, need := range n.needs {
		switch {
		case need.Advisory, need.Rule == RuleAttribute, r.facts.HasAny(need.AnyOf):
			// An attribute can have been removed since, and an expression that fails ends the run.
		case r.state.Limited && slices.ContainsFunc(need.AnyOf, Fact.IsAuthenticationDetail):
			return errLimited()
		default:
			return fmt.Errorf("run %s reached node %q without %s", r.rec.Digest(), n.id, factNames(need.AnyOf))
		}
	}
	return nil
}

// nodeError returns an error for the client unchanged and adds the node to any other.
func nodeError(n *node, err error) error {
	var e *schemas.Error
	if errors.As(err, &e) {
		return err
	}
	return fmt.Errorf("node %q (%s): %w", n.id, n.kind.Name, err)
}

// immediateAnswer returns the answer that the inputs of a start give to the first question, or
// nil if it asks for none of them: clients may send others.
func (r *run) immediateAnswer(inputs map[string]string) *Answer {
	if r.rec.Status != schemas.Incomplete {
		return nil
	}
	ask := r.state.Ask
	answer := &Answer{Inputs: map[string]string{}}
	for _, in := range ask.Inputs {
		if value, sent := inputs[in.Identifier]; sent {
			answer.Inputs[in.Identifier] = value
		}
	}
	if len(answer.Inputs) == 0 {
		return nil
	}
	if !ask.Implicit && len(ask.Actions) > 0 {
		answer.Action = ask.Actions[0].Ref
	}
	return answer
}

// acceptAnswer checks that an action and inputs answer the run's question. The action may be
// missing if the question permits that, or if there is one action and inputs are present: an
// empty request is never an answer.
func (r *run) acceptAnswer(action string, inputs map[string]string) (*Answer, error) {
	ask := r.state.Ask
	answer := &Answer{Action: action, Inputs: inputs}
	switch {
	case action == "" && ask.Implicit:
		return answer, nil
	case action == "" && len(ask.Actions) == 1 && len(inputs) > 0:
		answer.Action = ask.Actions[0].Ref
		return answer, nil
	}
	refs := make([]string, len(ask.Actions))
	for i, a := range ask.Actions {
		refs[i] = a.Ref
	}
	if slices.Contains(refs, action) {
		return answer, nil
	}
	sent := "none was sent"
	if action != "" {
		sent = fmt.Sprintf("%.64q was sent%s", action, schemas.Hint(action, refs))
	}
	return nil, schemas.Errorf(schemas.Invalid, schemas.CodeInvalidAction,
		"expected one of the actions of the step %q: %s; %s. The run is unchanged, so send one of these actions", r.rec.Node, strings.Join(refs, ", "), sent)
}
