// Package nodes contains the kinds of nodes: one file for each, with its configuration and JSON
// Schema, its outcomes and what they establish, and its executor.
//
// [Kinds] returns all of them. [Deps] lists what they need from the rest of the program, as small
// interfaces; compiling and checking a flow needs none of it.
//
// All kinds follow these rules:
//
//   - An executor reads and returns; it writes nothing (see engine.Executor).
//   - A failed proof is the outcome "failure" with a Notice. It need not be wired: the engine then
//     enters the node again.
//   - Whether a user exists is revealed only if the flow's author allows it. A run that pretends to know
//     a user (engine.Subject.Name) gets the same step, the same work and the same failure from every
//     kind as for an existing account.
//   - Adding a credential to a user requires that the same run created or authenticated that user.
package nodes
