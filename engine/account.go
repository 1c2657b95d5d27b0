package engine

import "strings"

// Effects on accounts
//
// Credentials, sessions and conditions of an account outlive a run. The analysis across runs
// (flows/chains) therefore asks of each outcome what a client needs to cause it, and what the client
// has afterwards. It knows no kinds: each outcome declares its effect as a parameter of On, which cannot
// be left out. docs/semantics.md defines the terms.
//
// An effect that omits what its executor does hides ways from the analysis. One that declares more
// than the executor does only reports ways that do not exist.

// Item is something that a client can use in a run, or a condition of an account. The text describes
// it in reports.
type Item string

// The items that outcomes use and give. IdentityAt returns others.
const (
	Mailbox          Item = "mailbox" // of the user's verified address
	Password         Item = "password"
	Passkey          Item = "passkey"
	AuthenticatorApp Item = "authenticator app"
	RecoveryCodes    Item = "recovery codes"
)

// The conditions of an account.
const (
	NoApp     Item = "the user has no authenticator app"
	HasApp    Item = "the user has an authenticator app"
	NoCodes   Item = "the user has no recovery codes"
	HasCodes  Item = "the user has recovery codes"
	NoAddress Item = "the user has no verified address"
	Invited   Item = "the user was invited and has no credential yet"
)

// IdentityAt is an identity at a provider. That of no provider is each identity that the flow proves.
func IdentityAt(provider string) Item { return Item(identityPrefix + provider) }

const identityPrefix = "identity at "

// IsIdentity reports whether the item is an identity at a provider.
func (i Item) IsIdentity() bool { return strings.HasPrefix(string(i), identityPrefix) }

// IsCondition reports whether the item is a condition of an account.
func (i Item) IsCondition() bool {
	switch i {
	case NoApp, HasApp, NoCodes, HasCodes, NoAddress, Invited:
		return true
	}
	return false
}

// UserChange is what an outcome does to the user of a run.
type UserChange int

const (
	KeepsUser        UserChange = iota
	FindsUser                   // the run has a user who is only identified
	LosesUser                   // the run has no user
	CreatesUser                 // the run has a new user
	NamesUser                   // what the client uses names its user
	NamesMissingUser            // the same, if the run has no user
)

// MailNeed is what an outcome requires of the mail server.
type MailNeed int

const (
	AnyMail MailNeed = iota
	NeedsMail
	NeedsNoMail
)

// Effect is what an outcome needs and does, as far as later runs can depend on it. The members apply
// in this order.
type Effect struct {
	Mail MailNeed
	User UserChange
	// Guarded outcomes change an account that has a second factor only if the run has proved something
	// that the user holds.
	Guarded bool
	// Given contains the conditions of the user's account without which the outcome is impossible.
	Given []Item
	// Proves is the credential that authenticates the user.
	Proves Item
	// Resumes is the class that the outcome demands of an earlier sign-in, which authenticates the user.
	Resumes string
	// Adds is the credential that the account has afterwards. It is limited to what the run has proved.
	Adds Item
	// Optional outcomes are possible without all of this, too.
	Optional bool
}

// NoEffect is the effect of an outcome that any client can cause, and that changes nothing on which a
// later run can depend.
func NoEffect() Effect { return Effect{} }

// Uses lists the items on which it depends whether the outcome is possible.
func (e Effect) Uses() (items []Item) {
	if e.Guarded {
		items = append(items, NoApp, NoCodes)
	}
	items = append(items, e.Given...)
	if e.Proves != "" {
		items = append(items, e.Proves)
	}
	return items
}

// IsWaivable reports whether a waiver of RuleChain accepts what follows the outcome.
func (e Effect) IsWaivable() bool { return e.Proves != "" || e.Resumes != "" || e.Adds != "" }

// On returns the outcome of a name. The effect is what the outcome means to the account.
func On(name string, effect Effect, o Outcome) Outcome {
	o.name, o.effect = name, effect
	return o
}

// With returns the outcome with the effect that the configuration of its node gives it.
func (o Outcome) With(effect Effect) Outcome {
	o.effect = effect
	return o
}

// Name returns the name of the outcome.
func (o Outcome) Name() string { return o.name }

// Effect returns what the outcome means to the account.
func (o Outcome) Effect() Effect { return o.effect }
