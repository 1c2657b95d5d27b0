package flowtest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// recordingStore records the facts of a run independently of the engine: credentials that only an
// account's owner has and that the walker sent, and the commits.
type recordingStore struct {
	*environment
	kinds    engine.Kinds
	certain  map[string][]engine.Fact // facts proven for each node
	waived   bool                     // whether the flow may add credentials to other accounts
	proved   map[string]bool          // users with a credential that the walker has used in this run
	made     map[string]bool          // users that this run has created
	bound    map[string]bool          // users that received a password or passkey in this run
	enrolled map[string]bool          // users that received a second factor in this run
	brought  map[string]bool          // identities that a provider returned to the walker in this run
	subject  engine.Subject           // as the last node received it
	broken   []string                 // violated guarantees, described
}

// newRecordingStore returns the ledger of an environment, and wraps the environment's kinds to see
// every visit.
func newRecordingStore(w *environment) *recordingStore {
	l := &recordingStore{environment: w, kinds: engine.Kinds{}}
	for name, kind := range w.kinds() {
		l.kinds[name] = l.watch(*kind)
	}
	return l
}

// turn switches the environment to the flow in a file.
func (l *recordingStore) turn(path string) error {
	l.file.Flow, l.reached = path, map[Exit]int{}
	if err := l.compile(l.kinds); err != nil {
		return err
	}
	l.certain = map[string][]engine.Fact{}
	for _, n := range l.graph.Nodes() {
		l.certain[n.ID] = n.Certain
	}
	l.waived = len(l.graph.Flow().Waive) > 0
	l.environment.engine.Runs = l
	return nil
}

// open begins a new run.
func (l *recordingStore) open() {
	l.proved, l.made, l.bound, l.enrolled = map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	l.brought = map[string]bool{}
	l.subject, l.broken = engine.Subject{}, nil
}

func (l *recordingStore) breach(format string, args ...any) {
	l.broken = append(l.broken, fmt.Sprintf(format, args...))
}

// isUsed reports whether the walker has used a credential of the user in this run,
// including one that the run added to a user it created.
func (l *recordingStore) isUsed(userID string, pending []schemas.Change) bool {
	return l.proved[userID] || l.isMade(userID) && (l.bound[userID] || slices.ContainsFunc(pending, func(c schemas.Change) bool {
		of, factor := binds(c)
		return of == userID && !factor
	}))
}

// isMade reports whether this run created the user, stored or not.
func (l *recordingStore) isMade(userID string) bool {
	return l.made[userID] || l.subject.Draft != nil && l.subject.UserID == userID
}

// binds returns the user to which a change adds a credential, or "", and whether the
// credential is a second factor.
func binds(change schemas.Change) (userID string, factor bool) {
	switch c := change.(type) {
	case schemas.CreateCredential:
		return c.Credential.UserID, false
	case schemas.SetPassword:
		return c.UserID, false
	case schemas.SetTOTP:
		return c.TOTP.UserID, true
	case schemas.SetRecoveryCodes:
		return c.UserID, true
	case schemas.LinkIdentity:
		return c.Identity.UserID, false
	}
	return "", false
}

// Commit calls Memory.Commit, and checks that credentials are added only to accounts of
// this run and to those that the walker has proved to own.
func (l *recordingStore) Commit(ctx context.Context, run *schemas.Run, changes []schemas.Change) error {
	if err := l.Memory.Commit(ctx, run, changes); err != nil {
		return err
	}
	for _, change := range changes {
		if c, ok := change.(schemas.CreateUser); ok {
			l.made[c.User.ID] = true
		}
		userID, factor := binds(change)
		if userID == "" {
			continue
		}
		if !l.waived && !l.made[userID] && !l.proved[userID] {
			l.breach("%T for %s, a user that the run neither created nor authenticated", change, userID)
		}
		if factor {
			l.enrolled[userID] = true
		} else {
			l.bound[userID] = true
		}
	}
	return nil
}

// ended checks the user of a completed run.
func (l *recordingStore) ended(s *schemas.Step, run *schemas.Run) {
	if (l.graph.Flow().FlowType == schemas.Authentication || s.Assertion != "") && !l.isUsed(run.UserID, nil) {
		l.breach("the run completed for %s, none of whose credentials was used", run.UserID)
	}
	if s.Assertion != "" && !strings.Contains(s.Assertion, `"sub":"`+run.UserID+`"`) {
		l.breach("the run is about %s, and asserts %s", run.UserID, s.Assertion)
	}
}

// visit checks every fact that was proven for the node: the run has the fact, and the fact
// is true.
func (l *recordingStore) visit(node string, v *engine.Visit) {
	l.subject = v.Subject
	for _, f := range l.certain[node] {
		if !v.Facts.Has(f) {
			l.breach("the run came to %s without the fact %s", node, f)
		}
		if !l.isTrue(f, v) {
			l.breach("the run came to %s, where %s is certain and not so", node, f)
		}
	}
}

func (l *recordingStore) isTrue(f engine.Fact, v *engine.Visit) bool {
	if input, ok := f.Input(); ok {
		_, has := v.Inputs[input]
		return has
	}
	if _, name, ok := strings.Cut(string(f), "reply."); ok {
		return v.Replies[name] != nil
	}
	auth := v.Authentication
	if method, ok := strings.CutPrefix(string(f), "amr."); ok {
		return auth != nil && slices.Contains(auth.Methods, method)
	}
	if class, ok := strings.CutPrefix(string(f), "acr."); ok {
		return auth != nil && schemas.Satisfies(auth.ACR, class)
	}
	id := v.Subject.UserID
	switch added := slices.ContainsFunc(v.Pending, func(c schemas.Change) bool { of, _ := binds(c); return of == id }); f {
	case engine.User:
		return id != ""
	case engine.New:
		return l.isMade(id)
	case engine.Authenticated:
		return l.isUsed(id, v.Pending)
	case engine.Own:
		return l.isMade(id) || l.isUsed(id, v.Pending)
	case engine.Credential:
		return l.bound[id] || l.enrolled[id] || added
	case engine.Federated:
		return v.Identity != nil && l.brought[v.Identity.ProviderID+" "+v.Identity.Subject]
	case engine.Enrolled:
		return l.enrolled[id] || added
	}
	return true // cannot be checked here
}

// recorder is an executor that reports its visits to the ledger.
type recorder struct {
	engine.Executor
	kind   *engine.Kind
	node   string
	ledger *recordingStore
}

// watch returns the kind with spies as executors.
func (l *recordingStore) watch(kind engine.Kind) *engine.Kind {
	plain := kind
	kind.New = func(c *engine.Config) (engine.Executor, []schemas.Problem) {
		exec, problems := plain.New(c)
		return recorder{exec, &plain, c.Node.ID, l}, problems
	}
	return &kind
}

func (s recorder) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	s.ledger.visit(s.node, v)
	return s.Executor.Execute(ctx, v)
}

// Optional interfaces of an executor: forwarded, or the default of executors without them.

func (s recorder) Outcomes() []engine.Outcome {
	if shaper, ok := s.Executor.(engine.OutcomeConfigurer); ok {
		return shaper.Outcomes()
	}
	return s.kind.Outcomes
}

func (s recorder) Needs() []engine.Need {
	if needer, ok := s.Executor.(engine.Needer); ok {
		return needer.Needs()
	}
	return nil
}

func (s recorder) Collects() map[string]schemas.InputType {
	if collector, ok := s.Executor.(engine.Collector); ok {
		return collector.Collects()
	}
	return nil
}

func (s recorder) ServiceReply() *engine.ServiceReply {
	if replier, ok := s.Executor.(engine.Replier); ok {
		return replier.ServiceReply()
	}
	return nil
}

func (s recorder) Waits() bool {
	w, ok := s.Executor.(engine.SlowNode)
	return ok && w.Waits()
}

func (s recorder) Reveals() string {
	if revealer, ok := s.Executor.(engine.AccountRevealer); ok {
		return revealer.Reveals()
	}
	return ""
}
