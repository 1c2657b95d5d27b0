package flows_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// The oracle decides by trial what the analysis proves. An adversary walks every path through a
// flow; the oracle checks whether they get in as another user or bind a credential to another
// user's account. It shares no code with the analysis and knows no facts. It simulates the
// effect of each kind on the run, with an account of the adversary, an account of a victim, and
// names without an account.

// person is the user of a run.
type person string

const (
	noUser      person = ""
	deletedUser person = "ghost"    // a name without an account, where that is concealed
	victim      person = "victim"   // the adversary can name them, and cannot authenticate as them
	attacker    person = "attacker" // the adversary's own account
	fresh       person = "fresh"    // a user that the run created
)

// situation is the state of a run at a node.
type situation struct {
	node    int
	who     person
	namedBy string // the input that identified them, if they are merely identified
	proved  bool   // they authenticated in this run
	held    bool   // the run has an identity of the adversary
	found   bool   // the user that the run created can be found again
	second  bool   // a second factor of the user was used or enrolled in this run
	typed   string // the inputs with a value: "username=victim;email=ghost;"
	replies string // the replies of services, and their questions: "risk:asked,who=victim"
	// attributes are those that the user has, and those that they lack: "-email;username".
	attributes string
	shown      string // the methods they authenticated with, if the walk tracks them: "otp pwd"
}

func (m situation) value(input string) person {
	for pair := range strings.SplitSeq(m.typed, ";") {
		if name, value, _ := strings.Cut(pair, "="); name == input && name != "" {
			return person(value)
		}
	}
	return noUser
}

// with returns the moment with another value of the input; "" removes it.
func (m situation) with(input string, value person) situation {
	pairs := map[string]string{}
	for pair := range strings.SplitSeq(m.typed, ";") {
		if name, v, ok := strings.Cut(pair, "="); ok {
			pairs[name] = v
		}
	}
	delete(pairs, input)
	if value != noUser {
		pairs[input] = string(value)
	}
	m.typed = ""
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		m.typed += name + "=" + pairs[name] + ";"
	}
	return m
}

func (m situation) own() bool { return m.proved || m.who == fresh }

// about returns the moment with another, unauthenticated user.
func (m situation) about(who person, namedBy string) situation {
	m.who, m.namedBy, m.proved, m.second, m.found, m.attributes, m.shown = who, namedBy, false, false, false, "", ""
	return m
}

// verdict is the result of all walks.
type verdict struct {
	dangerous string // how the adversary succeeded, "" if they did not
	broken    bool   // a run reached a node that could not work
	lost      bool   // a run completed with a new user that cannot be found again
	tooLarge  bool
	weak      string // how a run completed with less than was promised
}

// oracle walks one flow.
type oracle struct {
	flow    *schemas.Flow
	index   map[string]int
	with    []config
	inputs  map[string]bool // the inputs that the flow uses; true: it identifies a user
	secrets map[string]bool // the inputs that users type a password or a code into
	seen    map[situation]bool
	todo    []situation
	verdict verdict
	promise *promise // what completed runs have proved; nil: the walk does not track it
}

// config contains the members that the oracle reads of a configuration of any kind.
type config struct {
	Inputs []struct {
		Identifier, Type string
		Autocomplete     string
		Required         bool
	}
	Actions []struct {
		Ref    string
		Inputs []string
	}
	Alternatives []struct{ Ref string }
	Cases        []struct{ When, Outcome string }
	From, Mode   string
	Conceal      bool
	Optional     bool
	Alone        bool
	By           []string
	MinLength    int
	Attributes   json.RawMessage
	Body         map[string]string
	As           string
	IdentifiedBy string
	Claims       map[string]string
	Required     []string
	ACR          string
	Methods      []string

	UserVerification string
}

// sources returns the inputs that a user-create takes attributes from; nil by default.
func (c config) sources() (from map[string]string) {
	if json.Unmarshal(c.Attributes, &from) != nil {
		return nil // none, or a list, which belongs to another kind
	}
	return from
}

// takes returns the input that each attribute of a user-create comes from, as far as the pieces use
// them.
func (c config) takes() map[string]string {
	if from := c.sources(); from != nil {
		return from
	}
	return map[string]string{"username": "username", "email": "email"}
}

// usernameInput returns the input that a user-create takes the username from, if any.
func (c config) usernameInput() string {
	if from := c.sources(); from != nil {
		return from["username"]
	}
	return "username"
}

// mention adds inputs to those that the walk tracks, even if they identify no user.
func (o *oracle) mention(inputs ...string) {
	for _, input := range inputs {
		if _, known := o.inputs[input]; !known {
			o.inputs[input] = false
		}
	}
}

// maxSituations limits the cost of a walk; real flows stay far below.
const maxSituations = 60_000

func check(flow *schemas.Flow) verdict { return checkWith(flow, nil) }

// checkWith also checks whether completed runs fulfill the promise.
func checkWith(flow *schemas.Flow, promised *promise) verdict {
	o := &oracle{
		promise: promised, flow: flow, index: map[string]int{}, with: make([]config, len(flow.Nodes)), inputs: map[string]bool{}, secrets: map[string]bool{}, seen: map[situation]bool{},
	}
	for i, n := range slices.Backward(flow.Nodes) {
		o.index[n.ID] = i
		if len(n.With) > 0 {
			if err := json.Unmarshal(n.With, &o.with[i]); err != nil {
				return verdict{broken: true}
			}
		}
	}
	for i, n := range flow.Nodes {
		if n.Use == "prompt" {
			o.noteSecrets(o.with[i])
		}
		switch c := o.with[i]; n.Use {
		case "user-resolve":
			o.inputs[c.From] = true
		case "http-request":
			o.mention(c.reveals()...)
		case "user-create":
			o.mention(identifying(c)...)
			o.mention(c.usernameInput())
			o.mention(slices.Collect(maps.Values(c.sources()))...)
		}
	}
	o.arrive(situation{})
	for len(o.todo) > 0 && o.verdict.dangerous == "" {
		m := o.todo[len(o.todo)-1]
		o.todo = o.todo[:len(o.todo)-1]
		o.play(m)
		if len(o.seen) > maxSituations {
			o.verdict.tooLarge = true
			return o.verdict
		}
	}
	return o.verdict
}

// identifying returns the inputs that can identify the user of a user-create.
func identifying(c config) []string {
	names := []string{"username", "email"}
	if c.IdentifiedBy != "" {
		names = []string{c.IdentifiedBy}
	}
	if c.sources() == nil {
		return names
	}
	var inputs []string
	for _, name := range names {
		if input := c.sources()[name]; input != "" {
			inputs = append(inputs, input)
		}
	}
	return inputs
}

func (o *oracle) arrive(m situation) {
	if !o.seen[m] {
		o.seen[m] = true
		o.todo = append(o.todo, m)
	}
}

// leave moves the run along an outcome.
func (o *oracle) leave(m situation, outcome string) {
	next := o.flow.Nodes[m.node].Next
	to := next.To
	if next.By != nil {
		to = next.By[outcome]
	} else if outcome == "failure" {
		to = "" // it has a default
	}
	switch i, ok := o.index[to]; {
	case to == schemas.End:
		if o.flow.FlowType == schemas.Authentication && !m.proved {
			o.verdict.dangerous = "the flow completes and no user authenticated"
		}
		o.completes(m)
	case to == "" && outcome == "failure":
		o.arrive(m)
	case ok:
		m.node = i
		o.arrive(m)
	}
}

// play does everything that may happen at a node.
func (o *oracle) play(m situation) {
	o.readSecrets(m)
	switch c := o.with[m.node]; o.flow.Nodes[m.node].Use {
	case "prompt":
		o.prompt(m, c)
	case "user-resolve":
		o.resolve(m, c)
	case "user-create":
		typed := func(input string) bool { return m.value(input) != noUser }
		o.broken(!slices.ContainsFunc(identifying(c), typed))
		for _, input := range c.sources() {
			o.broken(!typed(input))
		}
		made := m.about(fresh, "")
		made.found = typed(c.usernameInput())
		for attribute, input := range c.takes() {
			if typed(input) {
				made = made.setAttribute(attribute, true)
			}
		}
		o.leave(made, "created")
		o.leave(m.about(noUser, ""), "taken")
	case "passkey-register", "password-set", "totp-register", "recovery-codes":
		o.bind(m, c)
	case "passkey-authenticate":
		o.passkey(m, c)
	case "federated-oidc":
		o.federated(m, c)
	case "federated-link":
		o.broken(!m.held)
		o.leave(m, "taken") // by a user that the adversary has admitted
		o.bind(m, c)
	case "attributes": // it may ask for any that the user lacks
		waived := slices.ContainsFunc(o.flow.Waive, func(w schemas.Waiver) bool { return w.Node == o.flow.Nodes[m.node].ID })
		if !m.own() && !waived {
			o.verdict.dangerous = "to change the account of " + string(m.who)
		}
		o.broken(m.who == noUser || m.who == deletedUser)
		if c.Optional {
			o.leave(m, "skip")
		}
		m.attributes = strings.Join(slices.DeleteFunc(strings.Split(m.attributes, ";"), func(one string) bool { return strings.HasPrefix(one, "-") }), ";")
		o.leave(m, "done")
	case "email-change": // the adversary has a mailbox of their own
		waived := slices.ContainsFunc(o.flow.Waive, func(w schemas.Waiver) bool { return w.Node == o.flow.Nodes[m.node].ID })
		if !m.own() && !waived {
			o.verdict.dangerous = "a mailbox of the adversary's for " + string(m.who)
		}
		o.broken(m.who == noUser || m.who == deletedUser)
		o.checkStrength(m, "email-change", waived)
		o.leave(m, "failure")
		if _, wired := o.flow.Nodes[m.node].Next.By["unavailable"]; wired {
			o.leave(m, "unavailable")
		}
		m.found = m.found || m.who == fresh
		o.leave(m.setAttribute("email", true).setAttribute("email_verified", true), "success")
	case "password-authenticate", "recovery-code":
		o.guessable(m, c, false)
	case "totp":
		o.broken(!c.Alone && !m.proved)
		if !c.Alone {
			o.leave(m, "none")
		}
		o.guessable(m, c, true)
	case "email-otp":
		o.broken(m.who == noUser)
		for _, a := range c.Alternatives {
			o.leave(m, a.Ref)
		}
		o.leave(m, "failure")
		if _, wired := o.flow.Nodes[m.node].Next.By["missing"]; wired && (m.who != deletedUser || m.proved) {
			o.leave(m, "missing")
		}
		if _, wired := o.flow.Nodes[m.node].Next.By["unavailable"]; wired { // on a server without mail
			o.leave(m, "unavailable")
		}
		if m.who == attacker || m.who == fresh { // whose mail the adversary reads
			m.found = m.who == fresh
			m = m.setAttribute("email", true).setAttribute("email_verified", true)
			o.leave(o.showing(m, "email"), "success")
		}
	case "invitation": // the adversary can be invited, and reads no other person's mail
		o.leave(m, "failure")
		if m.who == noUser || m.who == attacker {
			m.who = attacker
			m = m.setAttribute("email", true).setAttribute("email_verified", true)
			o.leave(o.showing(m, "email"), "success")
		}
	case "session-check":
		o.leave(m, "none")
		if m.who == noUser || m.who == attacker {
			for _, methods := range o.sessions(o.flow.Nodes[m.node], c) {
				o.leave(o.showing(m.about(attacker, ""), methods...), "active")
			}
		}
	case "consent":
		o.broken(!m.proved)
		o.leave(m, "granted")
		o.leave(m, "denied")
		o.leave(m.about(noUser, ""), "other")
	case "http-request":
		for _, world := range m.worlds(slices.Sorted(maps.Values(c.Body))...) {
			o.request(world, c)
		}
	case "decision":
		texts := make([]string, len(c.Cases))
		for i, one := range c.Cases {
			texts[i] = one.When
		}
		for _, world := range m.worlds(texts...) {
			o.decide(world, c)
		}
	case "authorization-code":
		if !m.proved {
			o.verdict.dangerous = "an assertion about " + string(m.who) + ", who did not authenticate"
		}
		o.completes(m)
	case "deny": // the run ends without a result
	}
}

func (o *oracle) broken(is bool) { o.verdict.broken = o.verdict.broken || is }

// prompt tries every action with every input.
func (o *oracle) prompt(m situation, c config) {
	for _, a := range c.Actions {
		list := []situation{m}
		for _, in := range c.Inputs {
			names, used := o.inputs[in.Identifier]
			submits := a.Inputs == nil || slices.Contains(a.Inputs, in.Identifier)
			var values []person
			switch {
			case !used || !submits || o.secrets[in.Identifier]:
				values = []person{noUser}
			case names:
				values = []person{victim, attacker, deletedUser}
			default:
				values = []person{deletedUser}
			}
			if !in.Required && submits && !slices.Contains(values, noUser) {
				values = append(values, noUser)
			}
			list = o.claim(list, in.Identifier, values)
		}
		for _, after := range list {
			o.leave(after, a.Ref)
		}
	}
}

func (o *oracle) resolve(m situation, c config) {
	switch who := m.value(c.From); {
	case who == noUser:
		o.verdict.broken = true
	case who == deletedUser && c.Conceal:
		o.leave(m.about(deletedUser, c.From), "missing")
	case who == deletedUser:
		o.leave(m.about(noUser, ""), "missing")
	default:
		named := m.about(who, c.From)
		if len(c.By) == 1 {
			named = named.setAttribute(c.By[0], true)
		}
		o.leave(named, "found")
	}
}

// bind gives the user a credential.
func (o *oracle) bind(m situation, c config) {
	node := o.flow.Nodes[m.node]
	if m.who == noUser || m.who == deletedUser {
		o.verdict.broken = true
		return
	}
	waived := slices.ContainsFunc(o.flow.Waive, func(w schemas.Waiver) bool { return w.Node == node.ID })
	if !m.own() && !waived {
		o.verdict.dangerous = "a credential of the adversary's for " + string(m.who)
	}
	o.checkStrength(m, node.Use, waived)
	if c.Optional {
		o.leave(m, "skip")
	}
	switch node.Use {
	case "passkey-register":
		o.leave(m, "failure")
		m.found = m.who == fresh
		m = o.enrolled(m, key(c)...)
	case "password-set":
		o.broken(c.MinLength > 0 && c.MinLength < 15 && !m.second) // too short to be used alone
		m = o.enrolled(m, "pwd")
	case "federated-link":
		m.found = m.found || m.who == fresh
		m = o.enrolled(m, "fed")
	default: // a second factor, which proves nothing about the person who gets it
		o.leave(m, "kept")
		m.second = true
	}
	o.leave(m, "success")
}

// federated lets the adversary return from a provider, with a linked identity or another one,
// and with any claims the provider permits.
func (o *oracle) federated(m situation, c config) {
	for _, a := range c.Alternatives {
		o.leave(m, a.Ref)
	}
	o.leave(m, "failure")
	list := []situation{m}
	for input := range c.Claims {
		values := []person{deletedUser}
		if names := o.inputs[input]; names {
			values = append(values, victim, attacker)
		}
		if !slices.Contains(c.Required, input) {
			values = append(values, noUser)
		}
		list = o.claim(list, input, values)
	}
	for _, after := range list {
		after.held = true
		o.leave(after, "unknown")
	}
	if m.who == noUser || m.who == attacker {
		m.who = attacker
		o.leave(o.showing(m, "fed"), "success")
	}
}

// claim gives an input each of the values, which withdraws the user that it identified.
func (o *oracle) claim(list []situation, input string, values []person) (more []situation) {
	for _, before := range list {
		if before.namedBy == input && !before.own() {
			before = before.about(noUser, "")
		}
		for _, v := range values {
			more = append(more, before.with(input, v))
		}
	}
	return more
}

// guessable tries a secret that only its owner has.
func (o *oracle) guessable(m situation, c config, second bool) {
	for _, a := range c.Alternatives {
		o.leave(m, a.Ref)
	}
	o.leave(m, "failure")
	if m.who == attacker || m.who == fresh {
		method := map[string]string{"password-authenticate": "pwd", "recovery-code": "recovery", "totp": "otp"}[o.flow.Nodes[m.node].Use]
		m.second = m.second || second
		o.leave(o.showing(m, method), "success")
	}
}

func (o *oracle) passkey(m situation, c config) {
	o.broken(c.Mode == "identified" && m.who == noUser)
	for _, a := range c.Alternatives {
		o.leave(m, a.Ref)
	}
	o.leave(m, "failure")
	switch {
	case m.who == noUser && c.Mode != "identified":
		m.who = attacker
	case m.who != attacker && m.who != fresh:
		return
	}
	m.found = m.who == fresh // a person with a passkey
	o.leave(o.showing(m, key(c)...), "success")
}

// decide takes every case that may be the first true one.
func (o *oracle) decide(m situation, c config) {
	for _, one := range c.Cases {
		value, broken := (&condition{text: one.When, at: m}).value()
		o.broken(broken)
		if value != isFalse {
			o.leave(m, one.Outcome)
		}
		if value == isTrue {
			return
		}
	}
	o.leave(m, "otherwise")
}
