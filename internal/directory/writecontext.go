package directory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// writeContext is one write while it is judged and made. Rules read by its transaction
// and note in it what is wrong.
type writeContext struct {
	ctx  context.Context
	call Call
	tx   *store.Tx
	now  time.Time
	// permissions are those there are, once they have been asked for.
	permissions []string
	// schemes are the PrivateUseSchemes.
	schemes []string
	// prepared is what the resource's prepare has returned.
	prepared any
	// secret is set by a rule that changes what the resource does not show.
	secret bool
	// revokeTokens is set by a call that makes all tokens of the application worthless.
	revokeTokens bool
	// registration is how the application came to be that is about to be made: see
	// schemas.Application.
	registration string
	// detail goes into the event.
	detail map[string]string

	// action is what the event calls the change, if not "created" or "replaced".
	action string
	// part is the path of what the caller has given, where that is not a whole
	// resource: problems are told relative to it.
	part string

	document  *schemas.Document
	shape     []schemas.Problem // what the schema finds wrong
	problems  []schemas.Problem // what the rules find wrong …
	conflicts []schemas.Problem // … what another resource is in the way of …
	readOnly  []schemas.Problem // … what nobody may change …
	forbidden []schemas.Problem // … and what the caller may not do
	inUse     []store.Use
	refusal   error // why it cannot be although all of that is in order
	events    []schemas.Event
	logged    *schemas.Actor // the caller as the audit log names it, once looked up
}

// maxProblems is how many problems of one write are told, as many as of one
// text. Nobody mends more at a time, and a list of ten thousand can be all wrong.
const maxProblems = 50

// addInvalid notes that something is wrong at the path.
func (w *writeContext) addInvalid(path, format string, args ...any) {
	w.problems = append(w.problems, schemas.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// addConflict notes that what stands at the path is another's.
func (w *writeContext) addConflict(path, format string, args ...any) {
	w.conflicts = append(w.conflicts, schemas.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// addReadOnly notes that what stands at the path belongs to the program, and nobody
// changes it.
func (w *writeContext) addReadOnly(path, format string, args ...any) {
	w.readOnly = append(w.readOnly, schemas.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// addForbidden notes that the caller may not have what stands at the path.
func (w *writeContext) addForbidden(path, format string, args ...any) {
	w.forbidden = append(w.forbidden, schemas.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// err is the error of what has been noted; nil if nothing has. Where several
// kinds of things are wrong it lists all of them, under the gravest: what is
// forbidden, then what nobody may change, then what is invalid, then what is in
// conflict.
func (w *writeContext) err(n Noun) error {
	all := w.problemsFound()
	switch {
	case len(w.forbidden) > 0:
		return schemas.Errorf(schemas.Forbidden, schemas.CodeForbidden,
			"you may not do this: %s", w.forbidden[0]).WithProblems(all)
	case len(w.readOnly) > 0:
		return schemas.Errorf(schemas.Conflict, schemas.CodeReadOnly,
			"this %s belongs to the program: %s", n.displayName(), w.readOnly[0]).WithProblems(all)
	case len(w.shape)+len(w.problems) > 0:
		return schemas.Errorf(schemas.Invalid, n.invalidCode(),
			"the %s is not as expected: %s", n.displayName(), firstFault(all)).WithProblems(all)
	case len(w.conflicts) > 0:
		return schemas.Errorf(schemas.Conflict, n.conflictCode(),
			"the %s is in the way of another: %s", n.displayName(), all[0]).WithProblems(all)
	case len(w.inUse) > 0:
		return errInUse(n, "deleted", w.inUse)
	}
	return w.refusal
}

// problemsFound lists what has been noted, each with its place. Of very many that the
// rules find it has the first; the last of them tells how many more there are.
func (w *writeContext) problemsFound() []schemas.Problem {
	found := schemas.WithoutDuplicates(slices.Concat(w.problems, w.conflicts, w.readOnly, w.forbidden), w.shape)
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

// firstFault is the first problem that is more than a warning.
func firstFault(problems []schemas.Problem) schemas.Problem {
	for _, p := range problems {
		if !p.Warning {
			return p
		}
	}
	return problems[0]
}

// invalidCode is invalid_request; a flow's is invalid_flow.
func (n Noun) invalidCode() string {
	if n.Name == "flow" {
		return schemas.CodeInvalidFlow
	}
	return schemas.CodeInvalidRequest
}

// conflictCode is "application_exists", "user_type_exists", …; a user's is
// attribute_taken, as in flows.
func (n Noun) conflictCode() string {
	if n.Name == "user" {
		return schemas.CodeAttributeTaken
	}
	return n.code() + "_exists"
}

// code is the noun in the spelling of error codes.
func (n Noun) code() string { return strings.ReplaceAll(n.displayName(), " ", "_") }

// displayName is the noun as people write it.
func (n Noun) displayName() string { return schemas.DisplayName(n.Name) }

// errInUse lists what keeps a resource from being deleted, or renamed.
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
		"the %s is in use, and this would break what uses it: %s. Change or delete those first", n.displayName(), strings.Join(names, ", ")).WithProblems(problems)
}

// recordEvent writes an event about a resource.
func (w *writeContext) recordEvent(n Noun, action, id, before, after string) {
	e := schemas.Event{
		ID: schemas.NewID(), At: w.now, Action: n.code() + "." + cmp.Or(w.action, action), Actor: w.call.Actor,
		Resource: schemas.ResourceRef{Type: n.Name, ID: id}, Before: before, After: after,
		TraceID: w.call.TraceID, Detail: w.detail,
	}
	if n.Name == "user" {
		e.UserID = id
	}
	w.events = append(w.events, e)
}

// Transact runs do in one transaction: calls made with the Call it is given see
// what those before have done, and all are kept or none. Do may run more than
// once.
func (d *Directory) Transact(ctx context.Context, c Call, do func(Call) error) error {
	err := d.store.Update(ctx, func(tx *store.Tx) error {
		inner, err := d.authorized(ctx, tx, c)
		if err != nil {
			return err
		}
		inner.tx, inner.DryRun, inner.guard = tx, false, new(administratorGuard)
		if err := do(inner); err != nil {
			return err
		}
		if err := inner.guard.end(ctx, tx, d.now()); err != nil {
			return err
		}
		if c.DryRun {
			return errDryRun
		}
		return nil
	})
	if errors.Is(err, errDryRun) {
		return nil
	}
	return err
}

// transact runs one write, in the transaction of the call or in one of its own.
func (d *Directory) transact(ctx context.Context, c Call, do func(*writeContext) error) error {
	if c.tx == nil {
		return d.Transact(ctx, c, func(inner Call) error { return d.transact(ctx, inner, do) })
	}
	w := &writeContext{ctx: ctx, call: c, tx: c.tx, now: d.now(), schemes: d.PrivateUseSchemes}
	if err := do(w); err != nil {
		return err
	}
	return w.keepEvents()
}

// actor is the caller as the audit log names it. Tokens name their client by its
// client id, which may change; the log has the application's id.
func (w *writeContext) actor() (schemas.Actor, error) {
	actor := w.call.Actor
	if actor.Client == "" || w.logged != nil {
		return *cmp.Or(w.logged, &actor), nil
	}
	app, err := store.Applications().Find(w.ctx, w.tx, "clientId", actor.Client)
	if err != nil {
		return actor, err
	}
	if app != nil && actor.Type == schemas.ApplicationActor {
		actor.ID = app.ID
	}
	if app != nil {
		actor.Client = app.ID
	}
	w.logged = &actor
	return actor, nil
}

// setActor tells the store on whose behalf it writes.
func (w *writeContext) setActor() error {
	actor, err := w.actor()
	w.tx.SetActor(w.call.Session, schemas.Event{Actor: actor, ApplicationID: actor.Client, TraceID: w.call.TraceID})
	return err
}

// apply applies changes on behalf of the caller.
func (w *writeContext) apply(changes ...schemas.Change) error {
	if err := w.setActor(); err != nil {
		return err
	}
	return w.tx.Apply(changes)
}

// keepEvents writes the events to the audit log.
func (w *writeContext) keepEvents() error {
	if len(w.events) == 0 {
		return nil
	}
	actor, err := w.actor()
	if err != nil {
		return err
	}
	for _, e := range w.events {
		e.Actor, e.ApplicationID = actor, actor.Client
		if err := w.tx.Apply([]schemas.Change{schemas.RecordEvent{Event: e}}); err != nil {
			return err
		}
	}
	return nil
}
