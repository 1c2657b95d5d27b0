package chains

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Checker analyzes the applications and flows of a server. It keeps the flows that it has compiled,
// and is safe for concurrent use.
type Checker struct {
	Kinds engine.Kinds
	// NoMail says that the server has no mail server.
	NoMail bool

	mu    sync.Mutex
	flows map[[sha256.Size]byte]*Flow
}

// Analyze finds the ways of a system, waived ones included.
func (c *Checker) Analyze(s *schemas.SignInSystem) (*Report, error) { return Analyze(c.System(s)) }

// Report is Analyze for packages that do not import this one.
func (c *Checker) Report(s *schemas.SignInSystem) (any, error) { return c.Analyze(s) }

// NewWays returns a finding of engine.RuleChain for each way to tokens that exists after a change
// and not before it, and that needs nothing waived. Two kinds of ways are not findings: those that
// lead only to a credential, because a limited credential reaches no more than the sign-in that
// added it; and those of a client that manages users, to which an administrator granted this
// permission. A system that is too large for the analysis has no findings.
func (c *Checker) NewWays(before, after *schemas.SignInSystem) (found []schemas.Problem) {
	was, err := AnalyzeUnwaived(c.System(before))
	if err != nil {
		return nil
	}
	is, err := AnalyzeUnwaived(c.System(after))
	if err != nil {
		return nil
	}
	ways := slices.DeleteFunc(is.New(was), func(w Way) bool { return w.Target.Credential != "" || w.Means.Manager })
	for _, w := range joinClasses(ways) {
		found = append(found, schemas.Problem{Rule: engine.RuleChain, Message: w.String()})
	}
	return found
}

// Limited lists the flows with a node that adds a credential after a weaker proof than the rule
// chain permits, without a waiver: they were stored before the rule.
func (c *Checker) Limited(s *schemas.SignInSystem) (list []*schemas.Flow) {
	for _, id := range slices.Sorted(maps.Keys(s.Flows)) {
		_, problems := engine.Compile(s.Flows[id], c.Kinds)
		if slices.ContainsFunc(problems, func(p schemas.Problem) bool { return p.Rule == engine.RuleChain && !p.Warning }) {
			list = append(list, s.Flows[id])
		}
	}
	return list
}

// System compiles the flows of a system. Flows that do not compile cannot run, and are left out.
func (c *Checker) System(s *schemas.SignInSystem) *System {
	compiled := map[string]*Flow{}
	for id, f := range s.Flows {
		compiled[id] = c.flow(f)
	}
	system := &System{NoMail: c.NoMail}
	for _, a := range s.Applications {
		app := Application{ID: a.ID, Name: a.Name, Account: a.Account, ManagesUsers: a.ManagesUsers}
		for _, id := range a.FlowIDs {
			if f := compiled[id]; f != nil {
				app.Flows = append(app.Flows, *f)
			}
		}
		system.Applications = append(system.Applications, app)
	}
	return system
}

// flow compiles a flow once; nil if it does not compile.
func (c *Checker) flow(f *schemas.Flow) *Flow {
	key := digest(f)
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.flows[key]; ok {
		return known
	}
	if c.flows == nil || len(c.flows) >= maximumCompiled {
		c.flows = map[[sha256.Size]byte]*Flow{}
	}
	var compiled *Flow
	if g, _ := engine.CompileStored(f, c.Kinds); g != nil {
		flow := FlowOf(g)
		flow.ID = f.ID
		compiled = &flow
	}
	c.flows[key] = compiled
	return compiled
}

// maximumCompiled limits the kept flows.
const maximumCompiled = 10_000

// digest identifies a definition with its sub-flows.
func digest(f *schemas.Flow) [sha256.Size]byte {
	h := sha256.New()
	var write func(f *schemas.Flow)
	write = func(f *schemas.Flow) {
		text, err := json.Marshal(f)
		if err != nil {
			panic(fmt.Sprintf("chains: a flow is not JSON: %v", err)) // it was read from JSON
		}
		h.Write(text)
		for _, u := range schemas.UsesOf(f.Parts) {
			write(f.Parts[u.Handle])
		}
	}
	write(f)
	return [sha256.Size]byte(h.Sum(nil))
}
