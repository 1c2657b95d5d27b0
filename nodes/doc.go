// Package nodes holds the kinds of nodes that flows are made of: one file for
// each, with its configuration, the JSON Schema of that, its outcomes and what
// they establish, and its executor.
//
// [Kinds] puts them together. What the kinds need of the rest of the program
// they say as interfaces of a few methods in [Deps]; compiling and checking a
// flow needs none of them.
//
// The rules that all kinds follow:
//
//   - An executor reads and returns; it writes nothing (see engine.Executor).
//   - A failed proof is the outcome "failure" with a Notice. It need not be
//     wired: the engine then enters the node anew.
//   - Whether a user exists is told only where the author of the flow said so.
//     A run that merely pretends to know a user (engine.Subject.Name) gets from
//     every kind what it would get for somebody else's account: the same
//     question, the same work, the same failure.
//   - Whoever binds a credential to a user must have created that user in the
//     same run, or have proved to be that user.
package nodes
