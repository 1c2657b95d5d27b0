package engine

// The rules that flows are checked against. Each finding names its rule. The IDs are stable:
// editors, CI and waivers refer to them.
const (
	RuleShape           = "shape"           // the definition or a node's `with` does not match its schema
	RuleKind            = "kind"            // `use` names an unknown kind
	RuleID              = "id"              // a node ID is missing, reserved or used twice
	RuleTarget          = "target"          // `next` names an unknown node
	RuleOutcome         = "outcome"         // an outcome is not wired or does not exist
	RuleReach           = "reach"           // no path leads to the node
	RuleEnd             = "end"             // no path leads from the node to an end
	RuleCycle           = "circle"          // a step does not end, or takes too long
	RuleInput           = "input"           // one input identifier has two types
	RuleSecret          = "secret"          // a node reads a password or a code that it does not verify
	RuleNeeds           = "needs"           // a node needs a fact that some path to it does not establish
	RuleAttribute       = "attribute"       // an expression reads an attribute that the user may not have
	RuleTakeover        = "takeover"        // a credential could be bound to another user's account
	RuleUnauthenticated = "unauthenticated" // a run could complete without authentication
	RuleGuarantee       = "guarantee"       // a run could violate a guarantee of the flow
	RuleFindable        = "findable"        // a run could create a user that cannot be found again
	RuleChain           = "chain"           // a chain of runs would reach more than before: package chains
	RuleSession         = "session"         // an earlier sign-in is accepted that proved less than every other path proves
	RuleBrowser         = "browser"         // an expression does not state what a browser must be known for
	RuleRenewal         = "renewal"         // after an earlier sign-in a proof is asked for that does not renew it
	RuleEffect          = "effect"          // a part of the flow has no effect
	RuleSubflow         = "subflow"         // a sub-flow cannot be used where a node names it
	RuleWaive           = "waive"           // a waiver matches no finding or is not allowed
)
