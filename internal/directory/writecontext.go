package directory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// writeContext is the state of one write. Rules read through its transaction and report
// problems to it.
type writeContext struct {
	ctx  context.Context
	call Call
	tx   *store.Tx
	now  time.Time
	// permissions are all existing permissions, once loaded.
	permissions []string
	// directory has the options.
	directory *Directory
	// prepared is the result of the collection's prepare.
	prepared any
	// secret is set by a rule that changes members that the resource does not show.
	secret bool
	// revokeTokens is set to revoke all tokens of the application.
	revokeTokens bool
	// rotation is set by RotateSecret.
	rotation *SecretRotation
	// registration is how the application registers itself: see schemas.Application.
	registration string
	// detail is the detail of the event.
	detail map[string]string

	// recheck also reports values that a write accepts while they stay the same: see keeps.
	recheck bool
	// action replaces "created" or "replaced" in the event.
	action string
	// part is the path of the document in the resource, if the document is only a part:
	// problems are reported relative to it.
	part string

	document  *schemas.Document
	shape     []schemas.Problem // violations of the schema
	problems  []schemas.Problem // violations of rules
	conflicts []schemas.Problem // conflicts with other resources
	readOnly  []schemas.Problem // changes that only the program may make
	forbidden []schemas.Problem // changes that the caller may not make
	owned     []schemas.Problem // changes of attributes that belong to another owner
	inUse     []store.Use
	unproved  *schemas.ProofRequired // a change that needs a better sign-in
	refusal   error                  // an error that applies if there are no problems
	failure   error                  // the first error of the store
	events    []schemas.Event
	logged    *schemas.Actor // the caller as recorded in the audit log, once looked up
}

// maxProblems limits the problems that the rules report for one write, as for one text. A
// list of ten thousand items can be wrong in each.
const maxProblems = 50

// addInvalid reports a problem at the path.
func (w *writeContext) addInvalid(path, format string, args ...any) {
	w.problems = append(w.problems, schemas.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// addFault reports a fault at the path unless it is "".
func (w *writeContext) addFault(path, fault string) {
	if fault != "" {
		w.addInvalid(path, "%s", fault)
	}
}

// addConflict reports that the value at the path belongs to another resource.
func (w *writeContext) addConflict(path, format string, args ...any) {
	w.conflicts = append(w.conflicts, schemas.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// addReadOnly reports a change at the path that only the program may make.
func (w *writeContext) addReadOnly(path, format string, args ...any) {
	w.readOnly = append(w.readOnly, schemas.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// addForbidden reports a change at the path that the caller may not make.
func (w *writeContext) addForbidden(path, format string, args ...any) {
	w.forbidden = append(w.forbidden, schemas.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// fail records an error of the store, which err and transact return, and reports whether
// there is one. Rules continue after it without the data: the write fails anyway.
func (w *writeContext) fail(err error) bool {
	if w.failure == nil {
		w.failure = err
	}
	return err != nil
}

// err returns the error of all reported problems; nil if there are none. With several kinds
// of problems it lists all under the gravest: forbidden, then read-only, then invalid, then
// conflicting. A lack of proof comes after forbidden: a better sign-in would not help there.
func (w *writeContext) err(n Noun) error {
	all := w.problemsFound()
	switch {
	case w.failure != nil:
		return w.failure
	case len(w.forbidden) > 0:
		return schemas.Errorf(schemas.Forbidden, schemas.CodeForbidden,
			"you may not do this: %s", w.forbidden[0]).WithProblems(all)
	case w.unproved != nil:
		return w.unproved
	case len(w.readOnly) > 0:
		return schemas.Errorf(schemas.Conflict, schemas.CodeReadOnly,
			"this %s is managed by the program: %s", n.displayName(), w.readOnly[0]).WithProblems(all)
	case len(w.shape)+len(w.problems) > 0:
		return schemas.Errorf(schemas.Invalid, cmp.Or(n.invalidCode, schemas.CodeInvalidRequest),
			"the %s is invalid: %s", n.displayName(), firstFault(all)).WithProblems(all)
	case len(w.owned) > 0:
		return schemas.ErrOwned(all)
	case len(w.conflicts) > 0:
		return schemas.Errorf(schemas.Conflict, cmp.Or(n.conflictCode, n.code()+"_exists"),
			"the %s conflicts with another one: %s", n.displayName(), all[0]).WithProblems(all)
	case len(w.inUse) > 0:
		return errInUse(n, "deleted", w.inUse)
	}
	return w.refusal
}

// problemsFound lists the reported problems with their positions. It limits those of the
// rules; the last one counts the rest.
func (w *writeContext) problemsFound() []schemas.Problem {
	found := schemas.WithoutDuplicates(slices.Concat(w.problems, w.owned, w.conflicts, w.readOnly, w.forbidden), w.shape)
	if more := len(found) - maxProblems; more > 0 {
		found = found[:maxProblems]
		found[maxProblems-1].Message += fmt.Sprintf(" (and %d more problems)", more)
	}
	all := slices.Concat(w.shape, found)
	if w.document != nil {
		all = w.document.Locate(all)
	}
	if w.part != "" {
		for i := range all {
			all[i].Path = strings.TrimPrefix(strings.TrimPrefix(all[i].Path, w.part), ".")
		}
	}
	return all
}

// firstFault returns the first problem that is not a warning and does not follow from another.
func firstFault(problems []schemas.Problem) schemas.Problem {
	for _, p := range problems {
		if !p.Warning && p.Follows == nil {
			return p
		}
	}
	return problems[0]
}

// code returns the noun as error codes spell it.
func (n Noun) code() string { return strings.ReplaceAll(n.displayName(), " ", "_") }

// displayName returns the noun in plain words.
func (n Noun) displayName() string { return schemas.DisplayName(n.Name) }

// errInUse lists the uses that prevent a resource from being deleted or renamed.
func errInUse(n Noun, done string, uses []store.Use) error {
	var problems []schemas.Problem
	var names []string
	for _, u := range uses {
		name := fmt.Sprintf("%s %q", schemas.DisplayName(u.Type), u.Name)
		names = append(names, name)
		if u.Name != u.ID {
			name += " (" + u.ID + ")"
		}
		problems = append(problems, schemas.Problem{Path: u.Type, Message: name + " " + u.How})
	}
	return schemas.Errorf(schemas.Conflict, schemas.CodeInUse,
		"the %s is in use by %s. Change or delete those first", n.displayName(), strings.Join(names, ", ")).WithProblems(problems)
}

// record adds an event of this write to the audit log. keepEvents adds the actor.
func (w *writeContext) record(e schemas.Event) {
	e.ID, e.At, e.TraceID = schemas.NewID(), w.now, w.call.TraceID
	w.events = append(w.events, e)
}

// recordEvent records an event about a resource.
func (w *writeContext) recordEvent(n Noun, action, id, before, after string, changes ...schemas.MemberChange) {
	e := schemas.Event{
		Action:   n.code() + "." + cmp.Or(w.action, action),
		Resource: schemas.ResourceRef{Type: n.Name, ID: id}, Before: before, After: after, Detail: w.detail, Changes: changes,
	}
	if n.isUser {
		e.UserID = id
	}
	w.record(e)
}

// recordUserEvent records an event about a user that does not change the user resource.
func (w *writeContext) recordUserEvent(userID, action string, what schemas.ResourceRef) {
	w.record(schemas.Event{Action: action, UserID: userID, Resource: what})
}

// actor returns the caller as the audit log records it. Tokens contain the client id, which
// may change; the log contains the application's id.
func (w *writeContext) actor() schemas.Actor {
	actor := w.call.Actor
	if actor.Client == "" || w.logged != nil {
		return *cmp.Or(w.logged, &actor)
	}
	app, err := store.Applications().Find(w.ctx, w.tx, "clientId", actor.Client)
	w.fail(err)
	if app != nil && actor.Type == schemas.ApplicationActor {
		actor.ID = app.ID
	}
	if app != nil {
		actor.Client = app.ID
	}
	w.logged = &actor
	return actor
}

// setActor sets the actor of the store's own events.
func (w *writeContext) setActor() {
	actor := w.actor()
	w.tx.SetActor(w.call.Session, schemas.Event{Actor: actor, ApplicationID: actor.Client, TraceID: w.call.TraceID})
}

// apply applies changes on behalf of the caller, with the precondition of those of accounts.
func (w *writeContext) apply(changes ...schemas.Change) error {
	w.setActor()
	var all []schemas.Change
	for _, change := range changes {
		if userID := schemas.ChangedAccount(change); userID != "" {
			all = append(all, w.call.requireAuthority(userID, w.now))
		}
	}
	return w.tx.Apply(append(all, changes...))
}

// keepEvents writes the events to the audit log.
func (w *writeContext) keepEvents() error {
	for _, e := range w.events {
		e.Actor = w.actor()
		e.ApplicationID = e.Actor.Client
		if err := w.tx.Apply([]schemas.Change{schemas.RecordEvent{Event: e}}); err != nil {
			return err
		}
	}
	return w.failure
}
