package chains_test

import (
	"math/bits"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// The adversary is a second implementation of docs/semantics.md. It shares no code with the
// package: it plays whole runs, keeps what the attacker has as a set of strings, and computes
// with class names. It has no minimal sets, and merges nothing but equal states.

// world is a system in the adversary's terms.
type world struct {
	apps   []app
	noMail bool

	things  []thing
	numbers map[thing]int
}

type app struct {
	id               string
	flows            []graph
	account, manages bool
	unlimited        bool
}

// graph is a flow: its nodes in order, the first is the entry.
type graph struct {
	name      string
	guarantee string // a class, "" for none
	nodes     []vertex
}

// guarantees reports whether a sign-in satisfies the guarantee of the flow.
func (g graph) guarantees(is thing) bool {
	return g.guarantee == "" || satisfies([2]string{is.class, g.guarantee})
}

// vertex is a node. next maps outcomes to indexes of nodes; an outcome that leads to the end has
// the index -1.
type vertex struct {
	kind   string
	with   map[string]string
	next   map[string]int
	waived bool
}

// thing is something that the attacker has: a credential with its worth, a session, a means, or
// a condition of the account.
type thing struct {
	what         string
	class        string
	knows, holds bool
}

// player is the state of a run.
type player struct {
	at    int
	who   string // "", named, victim or self
	is    thing  // what the run has proved
	gains set
}

// set is a set of things, by their numbers.
type set [2]uint64

func (s set) with(i int) set {
	s[i/64] |= 1 << (i % 64)
	return s
}

func (s set) union(t set) set { return set{s[0] | t[0], s[1] | t[1]} }

// number returns the number of a thing.
func (w *world) number(t thing) int {
	i, ok := w.numbers[t]
	if !ok {
		i = len(w.things)
		if w.numbers == nil {
			w.numbers = map[thing]int{}
		}
		w.numbers[t], w.things = i, append(w.things, t)
	}
	return i
}

// has reports whether a set has a thing without a worth.
func (w *world) has(s set, what string) bool {
	i := w.number(thing{what: what})
	return s[i/64]&(1<<(i%64)) != 0
}

// list returns the things of a set.
func (w *world) list(s set) (list []thing) {
	for half, word := range s {
		for ; word != 0; word &= word - 1 {
			list = append(list, w.things[half*64+bits.TrailingZeros64(word)])
		}
	}
	return list
}

// all returns the set of the things.
func (w *world) all(things ...thing) (s set) {
	for _, t := range things {
		s = s.with(w.number(t))
	}
	return s
}

// proves maps what an enrolled credential is to the condition that it makes true.
var proves = map[string]string{"totp": "app", "recovery": "codes"}

// goal is tokens of an application, or a credential, of a class.
type goal struct{ app, credential, class string }

// attack returns for each goal the fewest runs that reach it with the means.
func (w *world) attack(mailbox, password, manager bool) map[goal]int {
	best := map[goal]int{}
	for _, account := range [][]string{{"no app", "no codes"}, {"app", "no codes"}, {"no app", "codes"}, {"app", "codes"}, {"no app", "no codes", "invited"}} {
		if password && slices.Contains(account, "invited") {
			continue // such a user has no password that the adversary could know
		}
		start := set{}
		for _, what := range account {
			start = start.with(w.number(thing{what: what}))
		}
		for what, has := range map[string]bool{"no address": !mailbox, "manager": manager} {
			if has {
				start = start.with(w.number(thing{what: what}))
			}
		}
		if mailbox {
			start = start.with(w.number(strongest("mailbox")))
		}
		if password {
			start = start.with(w.number(strongest("password")))
		}
		w.explore(start, best)
	}
	return best
}

// explore plays runs until nothing is new.
func (w *world) explore(start set, best map[goal]int) {
	seen := map[set]bool{start: true}
	layer := []set{start}
	for runs := 1; len(layer) > 0; runs++ {
		var next []set
		for _, has := range layer {
			w.play(has, func(gained set, app string, token thing) {
				for _, g := range w.list(gained) {
					if g.what != "session" {
						note(best, goal{credential: g.what}, g.class, runs)
					}
				}
				note(best, goal{app: app}, token.class, runs)
				if after := has.union(gained); !seen[after] {
					seen[after] = true
					next = append(next, after)
				}
			})
		}
		layer = next
	}
}

var plain = cached(schemas.PlainACRs)

func note(best map[goal]int, g goal, class string, runs int) {
	for _, c := range plain(class) {
		g.class = c
		if n, ok := best[g]; !ok || runs < n {
			best[g] = runs
		}
	}
}

// strongest is a credential without a limit.
func strongest(what string) thing {
	switch {
	case what == "password":
		return thing{what, schemas.ACRPassword, true, false}
	case what == "passkey":
		return thing{what, schemas.ACRMultiFactorPRProtected, false, true}
	case what == "totp":
		return thing{what, schemas.ACROneTimeCode, false, true}
	case what == "recovery":
		return thing{what, schemas.ACRRecovery, false, true}
	}
	return thing{what, schemas.ACRVouched, false, false}
}

// cached returns a function that computes each result once. Class names are slow to compare.
func cached[K comparable, V any](f func(K) V) func(K) V {
	known := map[K]V{}
	return func(k K) V {
		v, ok := known[k]
		if !ok {
			v = f(k)
			known[k] = v
		}
		return v
	}
}

var satisfies = cached(func(classes [2]string) bool { return schemas.Satisfies(classes[0], classes[1]) })

// limited is a credential that a sign-in has added: the strongest class that both satisfy, and a
// factor only if the sign-in proved such a factor, or two.
func limited(what string, by thing) thing {
	by.what = what
	return limits(by)
}

var limits = cached(func(by thing) thing {
	t := strongest(by.what)
	result := ""
	for _, c := range schemas.ACRs() {
		if schemas.Satisfies(t.class, c) && schemas.Satisfies(by.class, c) {
			result = schemas.CombineACRs(result, c)
		}
	}
	if !schemas.Satisfies(by.class, schemas.ACRMultiFactor) {
		t.knows, t.holds = t.knows && by.knows, t.holds && by.holds
	}
	t.class = result
	return t
})

// together is what two proofs of one run are.
func together(a, b thing) thing { return joins([2]thing{a, b}) }

var joins = cached(func(of [2]thing) thing {
	a, b := of[0], of[1]
	t := thing{class: schemas.CombineACRs(a.class, b.class), knows: a.knows || b.knows, holds: a.holds || b.holds}
	if t.knows && t.holds {
		t.class = schemas.CombineACRs(t.class, schemas.ACRMultiFactor)
	}
	return t
})

// play plays every run of every flow, and reports each result: what it gained, and the tokens.
func (w *world) play(has set, result func(gained set, app string, token thing)) {
	for _, a := range w.apps {
		if a.manages && w.has(has, "manager") {
			result(w.all(strongest("password"), strongest("mailbox"), thing{what: "no address"}), "", thing{})
			result(w.all(thing{what: "no app"}, thing{what: "no codes"}), "", thing{}) // it removes factors
			result(w.all(thing{what: "invited"}), "", thing{})
		}
		if a.unlimited && w.has(has, "manager") {
			result(w.all(strongest("passkey")), "", thing{})
		}
		for _, f := range a.flows {
			w.run(f, has, func(gained set, token thing) {
				if token.class == "" {
					result(gained, "", token)
					return
				}
				session := token
				session.what = "session"
				gained = gained.with(w.number(session))
				result(gained, a.id, token)
				if a.account && (token.holds || w.has(has, "no app") && w.has(has, "no codes")) {
					for _, added := range []string{"passkey", "password", "totp", "recovery"} {
						gained = gained.with(w.number(limited(added, token)))
					}
					gained = gained.union(w.all(thing{what: "app"}, thing{what: "codes"}, thing{what: "no app"}, thing{what: "no codes"}, thing{what: "no address"}))
					result(gained, a.id, token)
				}
			})
		}
	}
}

// run walks through one flow in every way.
func (w *world) run(f graph, has set, result func(gained set, token thing)) {
	seen := map[player]bool{}
	todo := []player{{}}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[p] {
			continue
		}
		seen[p] = true
		v := f.nodes[p.at]
		if v.kind == "authorization-code" {
			if p.who == "victim" && f.guarantees(p.is) {
				result(p.gains, p.is)
			}
			continue
		}
		for outcome, to := range v.next {
			for _, after := range w.leave(f, v, outcome, p, has) {
				if after.gains != p.gains {
					result(after.gains, thing{})
				}
				if to >= 0 {
					after.at = to
					todo = append(todo, after)
				}
			}
		}
	}
}

// leave returns the ways to leave a node by an outcome.
func (w *world) leave(f graph, v vertex, outcome string, p player, has set) (ways []player) {
	about := p.who == "named" || p.who == "victim"
	allowed := func(condition string) bool { return !about || w.has(has.union(p.gains), condition) }
	stay := []player{p}
	authenticate := func(what string, anyone bool) {
		if p.who == "self" && !anyone {
			ways = stay
			return
		}
		if p.who == "" && !anyone {
			return
		}
		for _, t := range w.list(has.union(p.gains)) {
			if t.what != what {
				continue
			}
			q := p
			if q.who != "victim" {
				q.is = thing{}
			}
			q.who, q.is = "victim", together(q.is, t)
			if t == strongest(what) || f.guarantees(q.is) {
				ways = append(ways, q)
			}
		}
	}
	gain := func(what string, possible bool) {
		switch {
		case !about:
			ways = stay
		case possible:
			t := limited(what, p.is)
			if p.who == "named" || v.waived {
				t = strongest(what)
			}
			q := p
			q.gains = q.gains.with(w.number(t))
			if condition := proves[what]; condition != "" {
				q.gains = q.gains.with(w.number(thing{what: condition}))
			}
			ways = append(ways, q)
		}
	}
	// A user with a second factor must have used one to change the account.
	mayChange := p.who != "victim" || p.is.holds || w.has(has, "no app") && w.has(has, "no codes")
	switch v.kind + " " + outcome {
	case "user-resolve found":
		q := p
		q.who, q.is = "named", thing{}
		return []player{q}
	case "user-resolve missing", "user-create created":
		q := p
		q.who, q.is = "", thing{}
		if outcome == "created" {
			q.who = "self"
		}
		return []player{q}
	case "password-authenticate success":
		authenticate("password", false)
	case "passkey-authenticate success":
		authenticate("passkey", v.with["mode"] == "usernameless" || p.who == "" && v.with["mode"] != "identified")
	case "totp success":
		authenticate("totp", false)
	case "recovery-code success":
		authenticate("recovery", false)
	case "email-otp success":
		if !w.noMail {
			authenticate("mailbox", false)
		}
	case "federated-oidc success":
		authenticate("identity at "+v.with["provider"], p.who == "" || p.who == "self")
	case "totp none":
		if allowed("no app") {
			return stay
		}
	case "invitation success":
		if p.who == "self" {
			p.who = "named" // the link names its user
		}
		if !w.noMail && w.has(has, "invited") {
			authenticate("mailbox", true)
		}
	case "email-otp missing":
		if allowed("no address") {
			return stay
		}
	case "email-otp unavailable":
		if w.noMail {
			return stay
		}
	case "totp-register kept":
		if allowed("app") {
			return stay
		}
	case "recovery-codes kept":
		if allowed("codes") {
			return stay
		}
	case "session-check active":
		for _, t := range w.list(has) {
			if t.what == "session" && satisfies([2]string{t.class, v.with["acr"]}) {
				q := p
				if q.who != "victim" {
					q.is = thing{}
				}
				q.who, q.is = "victim", together(q.is, t)
				ways = append(ways, q)
			}
		}
	case "password-set success":
		gain("password", mayChange)
	case "passkey-register success":
		gain("passkey", mayChange)
	case "email-change success":
		if !w.noMail {
			gain("mailbox", mayChange)
		}
	case "email-change unavailable":
		if w.noMail {
			return stay
		}
	case "attributes done":
		ways = stay // the user can have an address
		if about && mayChange && allowed("no address") {
			gain("mailbox", true)
		}
	case "totp-register success":
		gain("totp", true)
	case "recovery-codes success":
		gain("recovery", true)
	case "federated-link success":
		if !mayChange {
			return nil
		}
		for _, n := range f.nodes {
			if n.kind == "federated-oidc" && len(ways) == 0 {
				gain("identity at "+n.with["provider"], true)
			} else if n.kind == "federated-oidc" && about {
				first := ways[0].gains
				gain("identity at "+n.with["provider"], true)
				ways = []player{{p.at, p.who, p.is, first.union(ways[1].gains)}}
			}
		}
		if len(ways) == 0 {
			return stay
		}
	default:
		return stay
	}
	return ways
}
