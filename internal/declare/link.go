package declare

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// linkedResource is a declared resource with what a target needs to store it.
type linkedResource struct {
	Resource
	id        string
	existing  *Entry                     // nil for a new resource
	edits     map[string]any             // from the declared document to the target's
	dependsOn map[string]*linkedResource // declared resources it refers to, by path
	unknown   map[string]bool            // paths with unknown references
	missing   Faults                     // unset variables of secrets
	secret    bool                       // it has a secret
	failed    bool                       // could not be written
}

// document is the resource as the target takes it: with ids for names, and with
// secrets.
func (in *linkedResource) document() *schemas.Document {
	edits := maps.Clone(in.edits)
	if id := in.Document.At("id"); id == nil || isText(id) {
		edits["id"] = in.id // anything else is for the target to refuse
	}
	for path, other := range in.dependsOn {
		edits[path] = other.id
	}
	return in.Document.Edited(edits)
}

// refusal converts an error about the resource to faults. It omits faults that only follow
// from others: of references that are unknown or failed themselves.
func (in *linkedResource) refusal(err error) (Faults, bool) {
	faults, ok := in.Resource.refusal(err)
	return slices.DeleteFunc(faults, func(f Fault) bool {
		other := in.dependsOn[f.Path]
		return in.unknown[f.Path] || other != nil && other.failed
	}), ok
}

// linker matches declared resources with those of the target and resolves their references.
type linker struct {
	cache    *resourceCache
	from     Secrets
	faults   Faults
	list     []*linkedResource
	declared map[string]*linkedResource // by idKey, of the declared and the target's id, and by nameKey
}

func newLinker(target Target, from Secrets) *linker {
	return &linker{cache: newResourceCache(target), from: from, declared: map[string]*linkedResource{}}
}

// link matches the resources and sorts them: each follows those it refers to. Problems
// become faults.
func (l *linker) link(ctx context.Context, resources []Resource) error {
	for _, r := range resources {
		if err := l.match(ctx, r); err != nil {
			return err
		}
	}
	for _, r := range l.list {
		if err := l.resolve(ctx, r); err != nil {
			return err
		}
	}
	l.sort()
	return nil
}

// match looks up the resource in the target.
func (l *linker) match(ctx context.Context, r Resource) (err error) {
	in := &linkedResource{Resource: r, id: r.Document.TextAt("id"), dependsOn: map[string]*linkedResource{}, unknown: map[string]bool{}}
	declaredID := in.id
	in.existing, err = l.cache.lookUp(ctx, r.Noun, declaredID, flowTypeOf(r.Document), r.Noun.label(r.Document))
	if err != nil {
		return err
	}
	switch {
	case in.existing != nil:
		in.id = in.existing.ID
	case declaredID == "":
		in.id = l.cache.target.NewID()
	}
	if l.claim(in, declaredID) {
		l.list = append(l.list, in)
	}
	return nil
}

// claim records that the resource is declared; no other declaration may mean the same one.
func (l *linker) claim(in *linkedResource, declaredID string) bool {
	keys := in.Noun.keys(in.id, in.Document)
	if declaredID != "" {
		keys = append(keys, in.Noun.idKey(declaredID))
	}
	for _, key := range keys {
		if other := l.declared[key]; other != nil {
			first := other.fault("", "")
			l.faults = append(l.faults, in.fault("", "the %s is declared twice, also in %s, line %d: remove one", in.Name(), first.File, first.Line))
			return false
		}
	}
	for _, key := range keys {
		l.declared[key] = in
	}
	return true
}

// resolve replaces names by ids, and references of secrets by secrets.
func (l *linker) resolve(ctx context.Context, in *linkedResource) error {
	var faults Faults
	in.edits, in.missing, faults = in.secrets(l.from)
	for _, value := range in.edits {
		in.secret = in.secret || value != nil
	}
	l.faults = append(l.faults, faults...)
	for _, m := range in.Noun.nameReferences(in.Document) {
		id, err := l.referencedID(ctx, in, m)
		if err != nil {
			return err
		}
		if id == "" {
			in.unknown[m.path] = true
			if err := l.reportUnknown(ctx, in, m); err != nil {
				return err
			}
			continue
		}
		in.edits[m.path] = id
	}
	return nil
}

// referencedID returns the id of a referenced resource; "" if it does not exist.
func (l *linker) referencedID(ctx context.Context, in *linkedResource, m nameReference) (string, error) {
	declared := cmp.Or(l.declared[m.noun.idKey(m.value)], l.declared[m.noun.nameKey(m.flowType, m.value)])
	if declared != nil {
		in.dependsOn[m.path] = declared
		return declared.id, nil
	}
	id := ""
	if isID(m.value) {
		id = m.value
	}
	e, err := l.cache.lookUp(ctx, m.noun, id, m.flowType, m.value)
	if e == nil || err != nil {
		return "", err
	}
	if l.cache.complete[m.noun.Plural] && !isMadeByServer(e) {
		return "", nil // an undeclared one is to be deleted
	}
	return e.ID, nil
}

// reportUnknown reports a reference to a missing resource.
func (l *linker) reportUnknown(ctx context.Context, in *linkedResource, m nameReference) error {
	var known []string
	for _, r := range l.list {
		if r.Noun.Plural == m.noun.Plural {
			known = append(known, r.Noun.label(r.Document))
		}
	}
	where := "in the files"
	if !l.cache.complete[m.noun.Plural] {
		stored, err := l.cache.target.List(ctx, m.noun, "")
		if err != nil {
			return err
		}
		for _, e := range stored {
			known = append(known, m.noun.label(e.Document))
		}
		where = "in the files or the store"
	}
	kind := m.noun.displayName()
	if m.flowType != "" {
		kind = string(m.flowType) + " flow"
	}
	l.faults = append(l.faults, in.fault(m.path, "there is no %s %q %s%s", kind, m.value, where, schemas.Hint(m.value, known)))
	return nil
}

// sort sorts the resources by dependency and reports cycles.
func (l *linker) sort() {
	var sorted []*linkedResource
	state := map[*linkedResource]int{} // 1: in progress, 2: done
	var way []string
	var visit func(in *linkedResource)
	visit = func(in *linkedResource) {
		way = append(way, in.Name())
		switch state[in] {
		case 1:
			l.faults = append(l.faults, in.fault("", "a cycle of references: %s", strings.Join(way, " → ")))
		case 0:
			state[in] = 1
			for _, next := range l.dependencies(in) {
				visit(next)
			}
			state[in] = 2
			sorted = append(sorted, in)
		}
		way = way[:len(way)-1]
	}
	for _, n := range Nouns() {
		for _, in := range l.list {
			if in.Noun.Plural == n.Plural {
				visit(in)
			}
		}
	}
	l.list = sorted
}

// dependencies lists the declared resources that must precede a resource,
// in a stable order: those it refers to, and the sub-flows of a flow. Sub-flows are not
// referred to by id: the check of the flow reports missing ones.
func (l *linker) dependencies(in *linkedResource) (list []*linkedResource) {
	for _, m := range in.Noun.nameReferences(in.Document) {
		if next := in.dependsOn[m.path]; next != nil {
			list = append(list, next)
		}
	}
	for _, m := range in.Noun.subflows(in.Document) {
		if next := l.declared[in.Noun.nameKey(schemas.Subflow, m.Handle)]; next != nil {
			list = append(list, next)
		}
	}
	return list
}
