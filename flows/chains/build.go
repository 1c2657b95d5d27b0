package chains

import (
	"cmp"
	"context"
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
	// MaxMoves limits the work of a comparison; 0 for the constant MaxMoves.
	MaxMoves int

	mu    sync.Mutex
	flows map[string]*Flow
}

// Analyze finds the ways of a system, waived ones included: see Analyze.
func (c *Checker) Analyze(ctx context.Context, s *schemas.SignInSystem) (*Report, error) {
	system, err := c.system(ctx, s)
	if err != nil {
		return nil, err
	}
	report, err := c.AnalyzeSystem(ctx, system)
	if err != nil {
		return nil, err
	}
	report.Grants, report.Claims = s.Grants, s.Claims
	return report, nil
}

// AnalyzeSystem is Analyze for compiled flows.
func (c *Checker) AnalyzeSystem(ctx context.Context, s *System) (*Report, error) {
	return analyze(ctx, s, false, allMeans(), cmp.Or(c.MaxMoves, MaxMoves))
}

// Report is Analyze for packages that do not import this one.
func (c *Checker) Report(ctx context.Context, s *schemas.SignInSystem) (any, error) {
	return c.Analyze(ctx, s)
}

// NewWays returns a finding of engine.RuleChain for each way to tokens that exists after a change
// and not before it, and that needs nothing waived. Two kinds of ways are not findings: those that
// lead only to a credential, because a limited credential reaches no more than the sign-in that
// added it; and those of a client that manages users, to which an administrator granted this
// permission. An application of before.Former counts as existing with its last state. The error is a
// TooLargeError if the ways are not known, which a change that only removes ways does not cause.
func (c *Checker) NewWays(ctx context.Context, before, after *schemas.SignInSystem) (found []schemas.Problem, err error) {
	old, err := c.system(ctx, before)
	if err != nil {
		return nil, err
	}
	now, err := c.system(ctx, after)
	if err != nil {
		return nil, err
	}
	if len(before.Former) == 0 && opensNothing(old, now) {
		return nil, nil
	}
	is, err := c.unwaived(ctx, now)
	if err != nil {
		return nil, err
	}
	was, err := c.unwaived(ctx, old)
	if err != nil {
		return nil, err
	}
	was.former = map[string][]*Report{}
	for _, f := range before.Former {
		last, err := c.unwaived(ctx, old.with(c.application(&f.SystemApplication, f.Flows)))
		if err != nil {
			return nil, err
		}
		was.former[f.ID] = append(was.former[f.ID], last)
	}
	for _, w := range joinClasses(slices.DeleteFunc(is.New(was), func(w Way) bool { return w.Target.Credential != "" })) {
		found = append(found, schemas.Problem{Rule: engine.RuleChain, Message: w.String()})
	}
	return found, nil
}

// unwaived finds the ways of attackers without a client that manages users.
func (c *Checker) unwaived(ctx context.Context, s *System) (*Report, error) {
	means := slices.DeleteFunc(allMeans(), func(m Means) bool { return m.Manager })
	return analyze(ctx, s, true, means, cmp.Or(c.MaxMoves, MaxMoves))
}

// Limited lists the flows with a node that adds a credential after a weaker proof than the rule
// chain permits, without a waiver: they were stored before the rule.
func (c *Checker) Limited(ctx context.Context, s *schemas.SignInSystem) (list []*schemas.Flow) {
	for _, id := range slices.Sorted(maps.Keys(s.Flows)) {
		if ctx.Err() != nil {
			return nil
		}
		_, problems := engine.Compile(s.Flows[id], c.Kinds)
		if slices.ContainsFunc(problems, func(p schemas.Problem) bool { return p.Rule == engine.RuleChain && !p.Warning }) {
			list = append(list, s.Flows[id])
		}
	}
	return list
}

// system compiles the flows of a system. Flows that do not compile cannot run, and are left out. The error is
// that of the context.
func (c *Checker) system(ctx context.Context, s *schemas.SignInSystem) (*System, error) {
	compiled := map[string]*Flow{}
	for id, f := range s.Flows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		compiled[id] = c.flow(f)
	}
	system := &System{NoMail: c.NoMail, Applications: make([]Application, 0, len(s.Applications))}
	for i := range s.Applications {
		app := applicationOf(&s.Applications[i])
		for _, id := range s.Applications[i].FlowIDs {
			if f := compiled[id]; f != nil {
				app.Flows = append(app.Flows, *f)
			}
		}
		system.Applications = append(system.Applications, app)
	}
	return system, nil
}

func applicationOf(a *schemas.SystemApplication) Application {
	return Application{ID: a.ID, Name: a.Name, Account: a.Account, ManagesUsers: a.ManagesUsers, Unlimited: a.Unlimited}
}

// application compiles the flows of an application.
func (c *Checker) application(a *schemas.SystemApplication, flows []*schemas.Flow) Application {
	app := applicationOf(a)
	for _, f := range flows {
		if compiled := c.flow(f); compiled != nil {
			app.Flows = append(app.Flows, *compiled)
		}
	}
	return app
}

// flow compiles a flow once; nil if it does not compile.
func (c *Checker) flow(f *schemas.Flow) *Flow {
	key := keyOf(f)
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.flows[key]; ok {
		return known
	}
	if c.flows == nil || len(c.flows) >= maximumCompiled {
		c.flows = map[string]*Flow{}
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

// keyOf identifies a definition with its sub-flows: an id and a version, which never change, or for
// a flow that is not stored a digest.
func keyOf(f *schemas.Flow) string {
	if f.ID != "" && f.ActiveVersion > 0 {
		return fmt.Sprintf("%s %d %s", f.ID, f.ActiveVersion, f.Handle)
	}
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
	return string(h.Sum(nil))
}
