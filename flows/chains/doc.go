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
// account that an earlier run added, or a session; or a condition of the victim's account, which a run
// can make true. Each item has a worth: what a sign-in with it proves at most.
//
// For each set of means and each account, a search keeps what the attacker holds. It explores each
// flow over the states (node, user of the run, proof), and adds what the runs give. A new item is a
// reason to explore the flows again that depend on it, until nothing is new. What is held only grows, and
// what is worth less than another thing is dropped: the work is bounded by the flows, their nodes and
// the kinds of items, not by the sets of items. Each item keeps the cheapest run that gives it, from
// which a chain is made. It has no superfluous run, and need not be the shortest.
//
// The exploration allows at least the runs that the server allows: conditions of decisions,
// replies of services, rate limits and conditions that a run ends are ignored. So a way that is not
// found does not exist; a way that is found can be impossible because of such a condition.
//
// The work is counted (MaxMoves). A system that needs more is not known: see TooLargeError.
//
// # Worth of credentials
//
// A credential that is added to an existing account records the sign-in that added it. A later
// sign-in with it is worth no more than that one, and it counts as a factor only if that one
// proved the same sort of factor. So a chain cannot raise a class. It can carry a class to another
// application, make access permanent, and raise a class where a waiver lifts the limit. These are the
// ways that Analyze reports.
package chains
