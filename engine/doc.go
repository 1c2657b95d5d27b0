// Package engine compiles flow definitions into graphs that are proven safe,
// and runs them. It can be used on its own: it knows no HTTP, no SQL, no
// WebAuthn and no OAuth.
//
// # Three things
//
// A Kind is what a node can be: it has a name, a JSON Schema for its
// configuration, outcomes, and a function that makes an Executor. An Outcome
// declares which facts it establishes ("the user has authenticated") and which
// it withdraws; a kind declares the facts it needs.
//
// A Graph is a flow after Compile. Compile checks the definition and proves,
// by an analysis of every path, that each node's needs hold wherever a run may
// come from: see prove.go. A flow that could let somebody in unauthenticated,
// or bind a credential to somebody else's account, yields findings and no
// graph. A graph is immutable, so it may be cached for ever by flow and
// version.
//
// A flow may be made of sub-flows: nodes that use one stand for its nodes, which are put
// in their places first, so that all this is of the whole: see inline.go.
//
// A run is one execution of one version of a flow. It stands at a node that
// asked something; between two steps it is a schemas.Run in the store.
//
// # A step
//
//	Start ──▶ arrive at the entry
//	            │
//	            ▼
//	       ┌─ Execute ──▶ leave by an outcome ──▶ arrive at the next node ─┐
//	       │     ▲                                                         │
//	       │     └─────────────────────────────────────────────────────────┘
//	       ├──▶ ask and stay ───▶ Commit ──▶ INCOMPLETE, with a question
//	       ├──▶ reach an end ───▶ Commit ──▶ COMPLETE
//	       └──▶ fail too often ─▶ Commit ──▶ ERROR
//
//	Continue ──▶ the node that asked gets the answer, then as above
//	Resume   ──▶ the question again
//
// A step is a pure decision. Executors read but write nothing: what shall
// change they return as data, and Runs.Commit applies it together with the
// run's next revision, in one transaction or not at all. Two answers to one
// question may both be computed; the revision lets one commit, and the other
// gets stale_step. A crash loses at most a step that nobody was told of. An
// error leaves the run where it was.
//
// # What a run keeps
//
// Facts, collected inputs, the subject, how it was authenticated, and the
// question. What a node keeps between question and answer (a passkey ceremony)
// is seen by that node alone and dropped when it is left. Passwords and
// one-time codes live in memory for the step that brought them and are never
// kept. A user that the run creates is stored together with the first thing
// that concerns it, or at the end, so an abandoned sign-up leaves nothing. A
// run that is over keeps nothing of all this.
//
// # A run for an authorization request
//
// A run may answer an authorization request (OpenID Connect Core §3.1.2.1): it is
// bound to it when it starts, and its nodes see what the client asks of the
// sign-in. Such a run alone is told of the session that the browser has, since
// its outcome goes to the client and to nobody else. If a node takes the session
// for a proof, the run belongs to that session: to any request without it, it
// does not exist. A proof that the run then asks for itself sets it free.
//
// # Errors
//
// A mistake of the person (a wrong password) is part of the flow: an outcome,
// or the same question again with an error beside it. A mistake of the client
// is a *schemas.Error: execution_not_found, invalid_action, stale_step,
// invalid_request. Anything else is internal.
package engine
