// Package rules is the catalogue of the rules for flow files: why each exists, how to fix a
// violation, and a bad and a good example. docs/rules.md and `postern flow explain` are made
// from it.
package rules

import (
	"embed"
	"fmt"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Scenario is the rule of scenario files: they match their schema, and everything they name
// exists, including the flow that they test. The other rules are the engine's.
const Scenario = "scenario"

// Rule documents one rule for authors.
type Rule struct {
	ID string
	// Title describes in a few words what the rule finds.
	Title string
	// Why describes what would go wrong, and Fix the remedy, each as a paragraph.
	Why, Fix string
	// Bad is a YAML file that breaks only this rule. Good is the corrected file.
	Bad, Good string
}

//go:embed examples/*.yaml
var examples embed.FS

// All returns every rule, in the order of the documentation: from the shape of a flow to its
// proofs.
func All() []Rule {
	list := slices.Concat(formRules(), graphRules(), proofRules())
	for i := range list {
		list[i].Bad, list[i].Good = example(list[i].ID, "bad"), example(list[i].ID, "good")
	}
	return list
}

func example(rule, which string) string {
	text, err := examples.ReadFile("examples/" + rule + "_" + which + ".yaml")
	if err != nil {
		panic(fmt.Sprintf("rules: the %s example of %q: %v", which, rule, err)) // it is part of the program
	}
	return string(text)
}

// Find returns the rule with an ID. The error suggests a similar one.
func Find(id string) (Rule, error) {
	all := All()
	ids := make([]string, len(all))
	for i, r := range all {
		if r.ID == id {
			return r, nil
		}
		ids[i] = r.ID
	}
	if near := schemas.Suggest(id, ids); near != "" {
		return Rule{}, fmt.Errorf("there is no rule %q; did you mean %q?", id, near)
	}
	return Rule{}, fmt.Errorf("there is no rule %q; `postern flow explain --list` lists them", id)
}

func formRules() []Rule {
	return []Rule{
		{
			ID: engine.RuleShape, Title: "a member is missing, unknown or of the wrong form",
			Why: "A flow file says exactly what it means. A member that is not known could be a misspelt one, and what it was " +
				"meant to switch on would silently stay off; so nothing is ignored. The same goes for the `with` of a node, which " +
				"must fit the schema of its kind, for expressions, which must compile, and for YAML that means more than it shows, such as anchors and tags.",
			Fix: "Follow the message: it names what was expected and what came, and the member that was probably meant. " +
				"`postern schema flow` prints the schema of flows, `postern schema KIND` that of one kind.",
		},
		{
			ID: engine.RuleKind, Title: "`use` names no kind of node",
			Why: "What a node does, asks and proves is up to its kind. Nothing is known of a node without one, so nothing can be proven of a flow with such a node.",
			Fix: "Correct the spelling. The message suggests the nearest kind, or lists them all.",
		},
		{
			ID: engine.RuleID, Title: "two nodes have one id",
			Why: "Nodes lead to each other by id. Where two have the same, it is not certain where a run goes, and a proof for one of them says nothing about the other.",
			Fix: "Give one of them another id, and see to which of them each `next` should lead.",
		},
		{
			ID: Scenario, Title: "a scenario file does not fit its schema, names what there is not, or tests no flow",
			Why: "A misspelt expectation expects nothing: the scenario would pass whatever the flow does. So scenario files are as strict as flows are, also about the users, steps and faults that they name.",
			Fix: "Follow the message. `postern schema scenario` prints the schema. A file `x_test.yaml` tests `x.yaml` beside it, unless its member `flow` names another.",
		},
	}
}

func graphRules() []Rule {
	return []Rule{
		{
			ID: engine.RuleTarget, Title: "`next` names no node",
			Why: "A run that took this way would be stuck in the middle of somebody's sign-in.",
			Fix: "Correct the spelling, add the node, or lead to `end`, which completes the run.",
		},
		{
			ID: engine.RuleOutcome, Title: "an outcome leads nowhere, or there is none of that name",
			Why: "Every way a node can be left by must be thought of: an outcome that nobody wired is a dead end for the person who meets it, and a wire " +
				"for an outcome that does not exist is probably meant for one that does. Only outcomes that the kind calls optional may be left out; the node then asks again.",
			Fix: "Wire every outcome that the message names, in `next: {outcome: node}`, or all of them at once with `next: node`.",
		},
		{
			ID: engine.RuleReach, Title: "no path leads to a node",
			Why: "A node that cannot be reached does nothing, and was hardly meant to. Often it is the check that somebody believes to be in place.",
			Fix: "Lead to it from the `next` of another node, or remove it. A run begins at the first node of the list.",
		},
		{
			ID: engine.RuleEnd, Title: "no path leads from a node to an end",
			Why: "Whoever comes there can go on for ever and never be signed in.",
			Fix: "Lead one of the ways to `end`, or to a node that ends the run, such as `authorization-code`.",
		},
		{
			ID: engine.RuleCycle, Title: "a run could go on without asking anything",
			Why: "A step of a run goes on until a node asks the client something. A circle of nodes of which none asks would go round without end, and " +
				"a very long chain of them would make one request cost as much as many; a step may pass a hundred nodes. Of these at most three may wait for another service, " +
				"as an `http-request` that asks something does: the person waits for all of them, and a request has an end.",
			Fix: "Lead one of the outcomes in the circle to a node that asks, such as a `prompt`. Have one service asked for all that several would be, or ask the person something between.",
		},
		{
			ID: engine.RuleInput, Title: "one input has two types",
			Why: "The values that a run collects are kept by their identifier. Were `code` a text at one node and a secret at another, " +
				"it would not be certain whether it may be kept.",
			Fix: "Rename one of the two, or give both the same type.",
		},
		{
			ID: engine.RuleSecret, Title: "a node would read a password or a code that it does not verify",
			Why: "Users type a password or a one-time code because the service asks for it, on its own page. If a flow could store such a value as an attribute, " +
				"compare it in an expression or send it to another service, whoever writes the flow would get the passwords of everybody who signs in. " +
				"So a secret goes only to the node that verifies or sets it: `password-authenticate`, `password-set`, `totp`, `totp-register`, `recovery-code`. " +
				"An input is secret if its type is `PASSWORD_INPUT` or `OTP_INPUT`, and also if its `autocomplete` has `current-password`, `new-password` or `one-time-code`, whatever its type.",
			Fix: "Take the value from another input. If the input is not meant for a secret, remove that token from its `autocomplete`. " +
				"To check a code of your own, such as an invitation, ask for it in a `TEXT_INPUT` without the token.",
		},
		{
			ID: engine.RuleSubflow, Title: "a sub-flow cannot be put where a node names it",
			Why: "A node of the kind `flow` stands for the nodes of a sub-flow, and the flow is proven with these in its place. That takes a sub-flow of that handle, " +
				"which keeps the rules by itself, is not a part of itself by whatever way, and leaves the whole of a size that people can look through.",
			Fix: "Correct the spelling, write or store the sub-flow first, or mend it. The commands look for it among the files they are given and in the folder of the flow, " +
				"a server among the flows it has.",
		},
	}
}

func proofRules() []Rule {
	return []Rule{
		{
			ID: engine.RuleNeeds, Title: "a node needs what is not certain on every path to it",
			Why: "What a node works with must be there however a run came to it: a user, a value for an input, a user in an expression. " +
				"If a single path leads past the node that provides it, somebody will take that path.",
			Fix: "Put what provides it on every path: require the input in its prompt, or lead the path without it elsewhere. In an expression, test with `has(…) &&` first.",
		},
		{
			ID: engine.RuleTakeover, Title: "a credential could be bound to somebody else's account",
			Why: "To name a user proves nothing: anybody can type a colleague's address. If a flow adds a passkey to, or sets the password of, a user who was merely named, " +
				"then whoever typed the name owns the account from then on. So a credential may be bound only to a user whom the run itself created, or who authenticated in it.",
			Fix: "Create the user in the flow, or let them authenticate first. Where somebody is identified outside of the flow, as by a clerk who checks a passport, " +
				"the flow may waive the finding with that reason: `waive: [{rule: takeover, node: key, reason: …}]`. It then stays visible as a warning.",
		},
		{
			ID: engine.RuleUnauthenticated, Title: "somebody could get in without authenticating",
			Why: "An assertion or an authorization code vouches for a person. If a single path leads to it, or to the end of a sign-in, on which nobody proved who they are, " +
				"then that path is how an attacker signs in. It is the mistake that is easiest to make: `failure` led to where `success` goes.",
			Fix: "Lead every such path to a node that authenticates first, such as `passkey-authenticate` or `password-authenticate`. The rule cannot be waived.",
		},
		{
			ID: engine.RuleGuarantee, Title: "a run could break what the flow guarantees",
			Why: "What a flow guarantees is what applications rely on: that nobody gets through without a passkey, say. The weakest path decides, " +
				"and it is easily overlooked: another way in that was added later, or a step that tells strangers who has an account.",
			Fix: "The finding shows the shortest run that breaks it. Lead that run through a node that proves what is missing, set `conceal: true` at a `user-resolve`, " +
				"or guarantee less. A `session-check` demands by itself what the flow guarantees.",
		},
		{
			ID: engine.RuleFindable, Title: "a run could create a user whom nobody can find again",
			Why: "An email address identifies nobody before it is verified: anybody can enter anybody's. A user who has an unverified address and a password, and nothing else, " +
				"cannot sign in: no flow finds the account by what they enter.",
			Fix: "Verify the address with `email-otp`, register a passkey, link an identity, or require a username, on every path that creates the user. " +
				"On a server without mail the outcome `unavailable` of `email-otp` verifies nothing. The finding is a warning.",
		},
		{
			ID: engine.RuleSession, Title: "a session could get in that proved less than every other path",
			Why: "A `session-check` lets in without asking, by what the user proved at another application. If it accepts less than the other paths of the flow prove, " +
				"these protect nobody: whoever stole a password signs in by it where a password is enough, and comes with that session to where a second factor is asked for.",
			Fix: "Remove `acr`: the node then demands by itself the class that every other path proves. Or lead the outcome `active` to a node that proves what is missing, and demand of the session what that adds to: " +
				"`methods: [pwd]` before a `totp`. Where weaker sessions are meant to do, waive the finding with the reason: `waive: [{rule: session, node: session, reason: …}]`. It then stays visible as a warning.",
		},
		{
			ID: engine.RuleWaive, Title: "a waiver waives nothing, or what cannot be waived",
			Why: "A waiver says that somebody has looked at a finding and accepts it. One without a finding would hide the mistake that somebody makes later; " +
				"and what would let anybody in can never be accepted.",
			Fix: "Remove the waiver, or correct the node it names. Only `takeover` and `session` can be waived.",
		},
	}
}
