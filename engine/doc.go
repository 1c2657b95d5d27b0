// Package engine compiles flow definitions into graphs that are proven safe, and runs them. It
// can be used as a library: it knows no HTTP, SQL, WebAuthn or OAuth.
//
// # Concepts
//
// A Kind is a type of node. It has a name, a JSON Schema for its configuration, outcomes, and a
// function that creates an Executor. An Outcome declares the facts that it establishes ("the
// user has authenticated") and those that it withdraws. A kind declares the facts that it needs.
//
// A Graph is a compiled flow. Compile checks the definition and proves, by an analysis of every
// path, that the needs of each node hold however a run gets there: see prove.go. A flow that
// could admit an unauthenticated user, or bind a credential to another user's account, yields
// findings and no graph. A graph is immutable and can be cached forever by flow and version.
//
// A flow may contain sub-flows. Compile replaces each node that uses a sub-flow by the nodes of
// the sub-flow before it proves anything: see inline.go.
//
// A run is one execution of one version of a flow. It waits at a node that asked a question.
// Between two steps it is stored as a schemas.Run.
//
// # A step
//
//	Start ──▶ arrive at the entry
//	            │
//	            ▼
//	       ┌─ Execute ──▶ follow an outcome ──▶ arrive at the next node ──┐
//	       │     ▲                                                        │
//	       │     └────────────────────────────────────────────────────────┘
//	       ├──▶ ask and wait ───▶ Commit ──▶ INCOMPLETE, with a question
//	       ├──▶ reach an end ───▶ Commit ──▶ COMPLETE
//	       └──▶ fail too often ─▶ Commit ──▶ ERROR
//
//	Continue ──▶ the node that asked receives the answer, then as above
//	Resume   ──▶ the question again
//
// A step is a pure decision. Executors read and never write: they return changes as data, and
// Runs.Commit applies these together with the next revision of the run, in one transaction or
// not at all. Two answers to one question may both be computed; the revision lets one of them
// commit, and the other gets stale_step. A crash loses at most one step that no client has seen.
// An error leaves the run unchanged.
//
// # State of a run
//
// The state contains facts, collected inputs, the subject, its authentication and the question.
// The state of a node between question and answer, such as a passkey ceremony, is visible to
// that node only and dropped when the run leaves it. Passwords and one-time codes exist in
// memory during the step that received them and are never stored. A user that the run creates is
// stored with the first change that concerns the user, or at the end, so an abandoned sign-up
// leaves nothing behind. A finished run stores none of this.
//
// # A run for an authorization request
//
// A run may answer an authorization request (OpenID Connect Core §3.1.2.1). It is bound to the
// request when it starts, and its nodes see what the client requires of the sign-in. Only such a
// run sees the session of the browser, because its result goes to the client of the request
// only. If a node accepts the session as a proof, the run belongs to that session and does not
// exist for requests without it. A later proof in the run itself removes that restriction.
//
// # Errors
//
// A user's mistake, such as a wrong password, is part of the flow: an outcome, or the same
// question again with an error. A client's mistake is a *schemas.Error: execution_not_found,
// invalid_action, stale_step, invalid_request. Any other error is internal.
package engine
