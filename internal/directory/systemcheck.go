package directory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// Some rules concern the whole system: no change may open a way to sign in as another user
// (chainguard.go), and flows that create users must fit them (fitguard.go). Their checks read all
// applications and flows, and take long. In SQLite a transaction blocks all sign-ins, so they run
// outside:
//
//  1. The write runs, notes what it changes, and is undone.
//  2. The check reads the system as of one moment, with its revision, and compares it with the
//     changed one.
//  3. The write runs again, and is committed if it makes the same changes to the same revision.
//     Otherwise the check is repeated.
//
// So a write reads one row more than it needs, however large the system is. Every write that changes
// what the checks read increases the revision.

// maxSystemChecks limits how often a write is checked because another one, of another instance, came first.
const maxSystemChecks = 10

// systemChange is what a transaction changes of the system. Deleted resources are nil.
type systemChange struct {
	applications map[string]*schemas.Application
	flows        map[string]*schemas.Flow
	types        map[string]*schemas.UserType
	providers    map[string]*schemas.IdentityProvider

	mayOpenWays bool
	mayMisfit   bool
	narrowsType bool              // a type loses its name, or gets an identifier scope
	noun        string            // of the writes that may introduce a misfit, "" if they are of several nouns
	document    *schemas.Document // of the flow that is written, if it is the only such write
	writes      int               // that may introduce a misfit

	// identifiers are those that an application gets: an earlier one may have had them.
	identifiers map[string]string // to the ids of the applications
	// typeUsers are users of the types that lose their names, by the ids of the types.
	typeUsers map[string][]store.Use
}

func newSystemChange() *systemChange {
	return &systemChange{
		applications: map[string]*schemas.Application{}, flows: map[string]*schemas.Flow{}, types: map[string]*schemas.UserType{}, providers: map[string]*schemas.IdentityProvider{},
		identifiers: map[string]string{}, typeUsers: map[string][]store.Use{},
	}
}

// needsCheck reports whether the change may break a rule.
func (c *systemChange) needsCheck() bool { return c.mayOpenWays || c.mayMisfit || c.narrowsType }

// misfits notes a write that may introduce a misfit.
func (c *systemChange) misfits(noun string, document *schemas.Document) {
	c.mayMisfit = true
	if c.writes++; c.writes == 1 {
		c.noun, c.document = noun, document
		return
	}
	c.document = nil
	if c.noun != noun {
		c.noun = ""
	}
}

// digest identifies the change. The ids of new resources are the same each time that it is made: see idSource.
// Client ids are not part of it, because they may be generated each time.
func (c *systemChange) digest() [sha256.Size]byte {
	parts := map[string]string{}
	add := func(id string, part any) {
		text, err := json.Marshal(part)
		if err != nil {
			panic(fmt.Sprintf("directory: a change has no JSON: %v", err)) // all resource types marshal
		}
		parts[id] = string(text)
	}
	for id, a := range c.applications {
		add("application "+id, []any{a != nil, systemApplication(orZero(a), nil), orZero(a).AllowedUserTypes, isUntrusted(orZero(a)), orZero(a).OUID, claims.Guarded(orZero(a)), runReads(orZero(a))})
	}
	for id, f := range c.flows {
		add("flow "+id, []any{f != nil, definitions(orZero(f))})
	}
	for id, t := range c.types {
		add("type "+id, []any{orZero(t).Name, string(orZero(t).Schema), orZero(t).IdentifierScope})
	}
	for id, p := range c.providers {
		add("provider "+id, []any{p != nil, orZero(p).Mapping})
	}
	add("users", c.typeUsers)
	add("check", []bool{c.mayOpenWays, c.mayMisfit, c.narrowsType})
	text, _ := json.Marshal(parts) // strings marshal
	return sha256.Sum256(text)
}

// definitions returns the definitions of a flow and its sub-flows, without times.
func definitions(f *schemas.Flow) any {
	parts := map[string]any{}
	for handle, part := range f.Parts {
		parts[handle] = definitions(part)
	}
	return []any{recordedFlow(f), parts}
}

// systemVerdict states that a change was accepted at a revision.
type systemVerdict struct {
	revision int64
	change   [sha256.Size]byte
}

// errUnchecked undoes a write whose change is not checked yet. For metrics it is a rejected write.
var errUnchecked = schemas.Errorf(schemas.Conflict, schemas.CodeConflict, "the change was not checked yet; try again")

// endChange refuses a change of the system that may break a rule, unless it was accepted.
func endChange(ctx context.Context, tx *store.Tx, c *systemChange, accepted *systemVerdict) error {
	if !c.needsCheck() {
		return nil
	}
	revision, err := store.RevisionBefore(ctx, tx)
	if err == nil && (accepted == nil || *accepted != systemVerdict{revision, c.digest()}) {
		return errUnchecked
	}
	return err
}

// systemState is what the checks read.
type systemState struct {
	revision     int64
	applications map[string]*schemas.Application // see store.SignIns
	grants       map[string][]string             // of applications through roles
	flows        map[string]*schemas.Flow
	types        map[string]*schemas.UserType
	former       []schemas.FormerApplication
	providers    map[string]*schemas.IdentityProvider
}

// readSystem reads the state. The reader must see the store at one moment.
func readSystem(ctx context.Context, r store.Reader) (*systemState, error) {
	s, err := readStarts(ctx, r)
	if err != nil {
		return nil, err
	}
	return s, forEachFlow(ctx, r, func(f *schemas.Flow) error {
		s.flows[f.ID] = f
		return nil
	})
}

// readStarts reads the state without the flows.
func readStarts(ctx context.Context, r store.Reader) (*systemState, error) {
	s := &systemState{applications: map[string]*schemas.Application{}, flows: map[string]*schemas.Flow{}, types: map[string]*schemas.UserType{}, providers: map[string]*schemas.IdentityProvider{}}
	list, err := store.SignIns(ctx, r)
	for i := range list {
		s.applications[list[i].ID] = &list[i]
	}
	if err == nil {
		s.grants, err = store.ApplicationGrants(ctx, r)
	}
	types := store.UserTypes()
	if err == nil {
		err = forEach(ctx, r, types.List, store.Page{}, types.ID, func(t *schemas.UserType) error {
			s.types[t.ID] = t
			return nil
		})
	}
	providers := store.IdentityProviders()
	if err == nil {
		err = forEach(ctx, r, providers.List, store.Page{}, providers.ID, func(p *schemas.IdentityProvider) error {
			s.providers[p.ID] = p
			return nil
		})
	}
	return s, err
}

// with returns the state after a change.
func (s *systemState) with(c *systemChange) *systemState {
	return &systemState{
		applications: overlay(s.applications, c.applications), grants: s.grants,
		flows: overlay(s.flows, c.flows), types: overlay(s.types, c.types), providers: overlay(s.providers, c.providers),
	}
}

func overlay[T any](stored, changed map[string]*T) map[string]*T {
	if len(changed) == 0 {
		return stored
	}
	after := maps.Clone(stored)
	for id, v := range changed {
		if v == nil {
			delete(after, id)
		} else {
			after[id] = v
		}
	}
	return after
}

// checkSystem checks a change that was undone.
func (d *Directory) checkSystem(ctx context.Context, call Call, c *systemChange) (*systemVerdict, error) {
	var before *systemState
	err := d.store.Snapshot(ctx, func(r store.Reader) (err error) {
		if before, err = readSystem(ctx, r); err != nil {
			return err
		}
		if before.revision, err = store.SystemRevision(ctx, r); err != nil {
			return err
		}
		before.former, err = before.formerOf(ctx, r, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	after := before.with(c)
	if c.narrowsType {
		if err := checkTypeUses(d.UserTypes.Noun(), c, before, after); err != nil {
			return nil, err
		}
	}
	if c.mayOpenWays && d.CheckChains != nil {
		if err := d.checkWays(ctx, before, after); err != nil {
			return nil, err
		}
	}
	if c.mayMisfit && d.AttributeUses != nil {
		if err := d.checkFits(call, c, before, after); err != nil {
			return nil, err
		}
	}
	return &systemVerdict{before.revision, c.digest()}, nil
}

// formerOf returns the last states of the earlier applications with the identifiers that a change
// gives to applications, each with the id of that application. The change itself may take the
// identifier from one.
func (s *systemState) formerOf(ctx context.Context, r store.Reader, c *systemChange) (list []schemas.FormerApplication, err error) {
	if len(c.identifiers) == 0 {
		return nil, nil
	}
	found, err := store.FormerOf(ctx, r, slices.Sorted(maps.Keys(c.identifiers)))
	for _, a := range s.applications {
		for _, identifier := range identifiersOf(a) {
			if to := c.identifiers[identifier]; to != "" && to != a.ID {
				last := schemas.FormerApplication{SystemApplication: systemApplication(a, s.grants[a.ID])}
				for _, id := range last.FlowIDs {
					last.Flows = append(last.Flows, s.flows[id])
				}
				found = append(found, store.Former{Identifier: identifier, State: last})
			}
		}
	}
	for _, f := range found {
		f.State.ID = c.identifiers[f.Identifier]
		list = append(list, f.State)
	}
	return list, err
}

// identifiersOf lists the identifiers that other programs use for an application.
func identifiersOf(a *schemas.Application) (list []string) {
	if a.ID != "" {
		list = append(list, "id/"+a.ID)
	}
	if a.ClientID != "" {
		list = append(list, "client/"+a.ClientID)
	}
	return list
}

// touchApplication notes a written application. Old is nil for a new one, a for a deleted one.
func (d *Directory) touchApplication(w *writeContext, old, a *schemas.Application) error {
	was, is := orZero(old), orZero(a)
	stays := isUntrusted(is) && (old == nil || isUntrusted(was)) || a == nil && isUntrusted(was)
	if stays && slices.Equal(was.AllowedUserTypes, is.AllowedUserTypes) && slices.Equal(claims.Guarded(was), claims.Guarded(is)) {
		return nil // clients that register themselves start the flows that other applications start too
	}
	if !stays {
		if err := d.keepFormer(w, was, is); err != nil {
			return err
		}
	}
	if signInOf(old) == signInOf(a) && slices.Equal(identifiersOf(was), identifiersOf(is)) {
		return nil
	}
	change := w.call.change
	change.applications[cmp.Or(is.ID, was.ID)] = a
	if a != nil {
		had := identifiersOf(was)
		for _, identifier := range identifiersOf(a) {
			if !slices.Contains(had, identifier) {
				change.identifiers[identifier] = a.ID
			}
		}
		change.mayOpenWays = change.mayOpenWays || opensWays(was, a)
		if setsAttributes(was, a) {
			change.misfits("application", nil)
		}
	}
	store.CountSystemChange(w.tx)
	return nil
}

// signInOf is the text of what the checks read of an application, "" for none.
func signInOf(a *schemas.Application) string {
	if a == nil {
		return ""
	}
	return fmt.Sprintf("%+v %q %t %s %q %v", systemApplication(a, nil), a.AllowedUserTypes, isUntrusted(a), a.OUID, claims.Guarded(a), runReads(a))
}

// keepFormer keeps the state of an application that loses an identifier. A new application with this
// identifier must not be weaker: other programs would take it for the same.
func (d *Directory) keepFormer(w *writeContext, was, is *schemas.Application) error {
	has := identifiersOf(is)
	lost := slices.DeleteFunc(identifiersOf(was), func(identifier string) bool { return slices.Contains(has, identifier) })
	if len(lost) == 0 {
		return nil
	}
	grants, err := store.PermissionsOf(w.ctx, w.tx, schemas.Principal{Type: schemas.ApplicationPrincipal, ID: was.ID})
	if err != nil {
		return err
	}
	last := schemas.FormerApplication{SystemApplication: systemApplication(was, grants)}
	for _, id := range last.FlowIDs {
		f, err := store.Flows().Get(w.ctx, w.tx, id)
		if err != nil {
			return err
		}
		last.Flows = append(last.Flows, f)
	}
	return store.KeepFormer(w.tx, lost, last, w.now)
}

// touchType notes a written user type.
func (d *Directory) touchType(w *writeContext, old, t *schemas.UserType) error {
	if old != nil && t != nil && string(old.Schema) == string(t.Schema) && old.Name == t.Name && old.IdentifierScope == t.IdentifierScope {
		return nil
	}
	change := w.call.change
	change.types[cmp.Or(orZero(t).ID, orZero(old).ID)] = t
	if old != nil {
		change.narrowsType = change.narrowsType || t == nil || t.Name != old.Name || t.IdentifierScope != old.IdentifierScope
	}
	if t != nil { // users of a new type may set what other types protect
		change.misfits("userType", nil)
	}
	store.CountSystemChange(w.tx)
	return nil
}

// touchProvider notes a written identity provider whose mapping sets other attributes.
func (d *Directory) touchProvider(w *writeContext, old, p *schemas.IdentityProvider) error {
	was, is := orZero(orZero(old).Mapping), orZero(orZero(p).Mapping)
	if reflect.DeepEqual(was.Attributes, is.Attributes) {
		return nil
	}
	change := w.call.change
	change.providers[cmp.Or(orZero(p).ID, orZero(old).ID)] = p
	change.misfits("identityProvider", nil)
	store.CountSystemChange(w.tx)
	return nil
}

// touch notes a written flow; f is nil for a deleted one. The table counts the change.
func (r flowResource) touch(w *writeContext, old, f *schemas.Flow) {
	change := w.call.change
	if f == nil {
		change.flows[old.ID] = nil
		return
	}
	candidate := *f
	candidate.ActiveVersion = 0 // the number is free again if the write is undone
	change.flows[f.ID] = &candidate
	change.mayOpenWays = change.mayOpenWays || old != nil // no application starts a new flow yet
	if f.FlowType != schemas.Subflow && (writesAttributes(f) || old != nil) && !isFromFile(w, f) {
		change.misfits(r.Noun().Name, w.document)
	}
}
