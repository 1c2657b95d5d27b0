// Package chains finds the weakest chain of runs that gives an attacker tokens for another user's
// account.
//
// The engine proves what one run does. Credentials, sessions and applications outlive a run: a
// flow that adds a passkey after a mailed code is safe by itself, and yet a reader of the
// mailbox then signs in to other applications with that passkey. This package considers all
// flows and applications together. docs/semantics.md defines the terms.
//
// # The attacker
//
// The attacker wants tokens for the account of one user, the victim. Anyone can open a browser,
// start runs, create accounts and use an authenticator, an authenticator app and an account at
// an identity provider of their own. Means say what else the attacker has: the victim's mailbox,
// the victim's password, or a client that manages users. The attacker never has the victim's own
// passkeys, authenticator app or recovery codes.
//
// # The analysis
//
// An item is something that the attacker can use in a run: a means, a credential of the victim's
// account that an earlier run added, or a session. Each item has a worth: what a sign-in with it
// proves at most.
//
//  1. Each flow is explored for each application, over the states (node, user of the run, proof,
//     items gained). An outcome that authenticates needs an item; an outcome that adds a
//     credential to the authenticated victim gives one. Every other outcome is possible. For each
//     result the minimal sets of used items are kept. A new item is a reason to explore again,
//     until nothing is new. There are finitely many items, so this ends.
//  2. The results are steps "with these items, get that item or token". For each set of means a
//     breadth-first search over sets of items finds the fewest runs to each target.
//
// The exploration allows at least the runs that the server allows: conditions of decisions,
// replies of services and rate limits are ignored. So a way that is not found does not exist; a
// way that is found can be impossible because of such a condition.
//
// # Worth of credentials
//
// A credential that is added to an existing account records the sign-in that added it. A later
// sign-in with it is worth no more than that one, and it counts as a factor only if that one
// proved the same sort of factor. So a chain cannot raise a class. It can carry a class to another application, make access permanent, and
// raise a class where a waiver lifts the limit. These are the ways that Analyze reports.
package chains
