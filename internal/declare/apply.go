package declare

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// Options configure Apply.
type Options struct {
	Secrets
	// Plan runs all checks and changes nothing: Apply returns the plan.
	Plan bool
	// Delete allows deletions. Without it, a plan with deletions is not carried out.
	Delete bool
	// Reason is that of the new versions of flows; "" for none.
	Reason string
}

// Apply makes a store equal to a tree, for the nouns that the tree has a folder for. It
// runs in one transaction with every rule of the directory. If files are wrong, the error
// is Faults, with the faults of all files. Passwords and secrets of existing resources
// stay; a secret changes if its variable or file has a new value.
func Apply(ctx context.Context, d *directory.Directory, tree *Tree, o Options) (*Plan, error) {
	var plan *Plan
	c := directory.SystemCall()
	c.DryRun, c.Reason = o.Plan, o.Reason
	err := d.Transact(ctx, c, func(call directory.Call) error {
		before, err := d.AdministrativeGrants(ctx, call)
		if err != nil {
			return err
		}
		a := newApplier(NewDirectory(d, call), o)
		if err := a.run(ctx, tree); err != nil {
			return err
		}
		after, err := d.AdministrativeGrants(ctx, call)
		if err != nil {
			return err
		}
		plan = &a.plan
		if plan.Administrators, err = a.newAdministrators(ctx, before, after); err != nil {
			return err
		}
		if !o.Plan && plan.Count(Delete) > 0 && !o.Delete {
			return errPlanOnly
		}
		return nil
	})
	if errors.Is(err, errPlanOnly) {
		return plan, nil
	}
	if err != nil {
		return nil, err
	}
	plan.Applied = !o.Plan
	return plan, nil
}

// newAdministrators lists the users and applications that get administrative permissions.
func (a *applier) newAdministrators(ctx context.Context, before, after map[schemas.Principal][]string) (list []Administrator, err error) {
	for _, p := range slices.SortedFunc(maps.Keys(after), schemas.Principal.Compare) {
		gained := slices.DeleteFunc(after[p], func(permission string) bool {
			return slices.ContainsFunc(before[p], func(had string) bool { return strings.HasPrefix(permission+":", had+":") })
		})
		if len(gained) == 0 {
			continue
		}
		n, _ := NounOf(principalNouns()[string(p.Type)])
		e, err := a.target.Get(ctx, n, p.ID)
		if err != nil {
			return nil, err
		}
		list = append(list, Administrator{n.describe(e.Document), gained})
	}
	return list, nil
}

// errPlanOnly rolls back a transaction whose plan is not to be carried out.
var errPlanOnly = errors.New("declare: the plan is not carried out")

// applier applies a tree in a transaction.
type applier struct {
	*linker
	target    *Directory
	formatter *formatter
	plan      Plan
}

func newApplier(t *Directory, o Options) *applier {
	l := newLinker(t, o.Secrets)
	return &applier{linker: l, target: t, formatter: newFormatter(t, l.cache)}
}

func (a *applier) run(ctx context.Context, tree *Tree) error {
	stored := map[string][]*Entry{}
	for plural := range tree.Nouns {
		n, _ := NounOf(plural)
		all, err := a.formatter.readAll(ctx, n)
		if err != nil {
			return err
		}
		stored[plural] = all
	}
	if err := a.link(ctx, tree.Resources); err != nil {
		return err
	}
	faults, err := repeat(a.list, func(in *linkedResource) (Faults, bool, error) { return a.write(ctx, in) })
	if err != nil {
		return err
	}
	if a.faults = append(a.faults, faults...); len(a.faults) > 0 {
		return a.faults.err() // an incomplete declaration must not delete anything
	}
	for _, n := range slices.Backward(Nouns()) {
		if err := a.deleteUndeclared(ctx, n, stored[n.Plural]); err != nil {
			return err
		}
	}
	return a.faults.err()
}

// repeat calls do for each item, and again for the items with conflicts after the others: a
// name may have become free. It returns the faults of items without success.
func repeat[T any](pending []T, do func(T) (faults Faults, conflict bool, err error)) (all Faults, err error) {
	for {
		var blocked []T
		var why Faults
		for _, item := range pending {
			faults, conflict, err := do(item)
			switch {
			case err != nil:
				return nil, err
			case conflict:
				blocked, why = append(blocked, item), append(why, faults...)
			default:
				all = append(all, faults...)
			}
		}
		if len(blocked) == len(pending) {
			return append(all, why...), nil
		}
		pending = blocked
	}
}

// write writes a resource unless it is unchanged. Conflict reports that the faults are
// conflicts with other resources.
func (a *applier) write(ctx context.Context, in *linkedResource) (faults Faults, conflict bool, err error) {
	step := Step{Action: Create, Name: in.Name(), File: in.File}
	if in.existing == nil {
		faults, err = a.create(ctx, in)
	} else {
		step.Action = Replace
		err = a.replace(ctx, in, &step)
	}
	in.failed = err != nil || len(faults) > 0
	if err != nil {
		found, ok := in.refusal(err)
		if !ok {
			return nil, false, err
		}
		return append(faults, found...), schemas.HasClass(err, schemas.Conflict), nil
	}
	if step.Action == Create || len(step.Changes) > 0 || step.Secret {
		a.plan.Steps = append(a.plan.Steps, step)
	}
	return faults, false, nil
}

func (a *applier) create(ctx context.Context, in *linkedResource) (Faults, error) {
	e, err := a.target.Create(ctx, in.Noun, in.document().Edited(map[string]any{readOnly: nil}))
	if err != nil {
		return in.missing, err
	}
	if out := in.created(e); out.Secret != "" && len(in.missing) == 0 {
		return Faults{in.fault("inboundAuthConfig", "the client needs a secret, but a generated one would not be shown: add clientSecret: {env: NAME} to its config, or choose the tokenEndpointAuthMethod private_key_jwt")}, nil
	}
	in.id = e.ID
	a.cache.add(in.Noun, e)
	return in.missing, nil
}

// replace replaces a resource and adds the differences to step. Passwords of existing users
// stay. An unchanged flow may use changed sub-flows.
func (a *applier) replace(ctx context.Context, in *linkedResource, step *Step) error {
	document := in.document().Edited(map[string]any{userSecret: nil, readOnly: nil})
	composed := len(in.Noun.subflows(document)) > 0
	if (!in.secret || in.Noun.Plural == "users") && !composed && a.formatter.isSame(in.Noun, in.existing.Document, document) {
		return nil
	}
	if isReadOnly(in.existing) && !(composed && a.formatter.isSame(in.Noun, in.existing.Document, document)) {
		return errReadOnly(in.Noun, in.existing, "take the changes out of its file")
	}
	e, err := a.target.Replace(ctx, in.Noun, in.existing, document)
	if err != nil || e.ETag == in.existing.ETag {
		return err
	}
	was, err := a.formatter.format(ctx, in.Noun, in.existing.Document)
	if err != nil {
		return err
	}
	a.cache.add(in.Noun, e)
	is, err := a.formatter.format(ctx, in.Noun, e.Document)
	if err != nil {
		return err
	}
	step.Changes = append(diff("", value(was), value(is)), usesDiff(in.existing.Document, e.Document)...)
	step.Secret = len(step.Changes) == 0
	in.existing = e
	return nil
}

// usesDiff lists the sub-flows that a flow uses in another version.
func usesDiff(was, is *schemas.Document) []Change {
	uses := func(d *schemas.Document) map[string]any {
		versions := map[string]any{}
		for _, item := range d.ItemsAt("uses") {
			versions[item.TextAt("handle")] = value(item.At("version"))
		}
		return versions
	}
	return diffMembers("uses", uses(was), uses(is))
}

func (a *applier) remove(ctx context.Context, n Noun, e *Entry) error {
	if isReadOnly(e) {
		return errReadOnly(n, e, "put its file back")
	}
	return a.target.remove(ctx, n, e)
}

// readOnly is the member of resources that belong to the program. The directory allows the
// program itself to change them; files may not.
const readOnly = "isReadOnly"

func isReadOnly(e *Entry) bool {
	at := e.Document.At(readOnly)
	return at != nil && string(at.JSON()) == "true"
}

func errReadOnly(n Noun, e *Entry, fix string) error {
	return schemas.Errorf(schemas.Invalid, schemas.CodeReadOnly, "the %s is read-only: %s", n.describe(e.Document), fix)
}

// deleteUndeclared deletes the resources of a noun that are not declared.
func (a *applier) deleteUndeclared(ctx context.Context, n Noun, stored []*Entry) error {
	pending := slices.DeleteFunc(stored, func(e *Entry) bool { return a.declared[n.idKey(e.ID)] != nil || isMadeByServer(e) })
	faults, err := repeat(pending, func(e *Entry) (faults Faults, blocked bool, err error) {
		err = a.remove(ctx, n, e)
		if err == nil {
			a.plan.Steps = append(a.plan.Steps, Step{Action: Delete, Name: n.describe(e.Document)})
			return nil, false, nil
		}
		refused := schemas.AsError(err)
		if refused.Class == schemas.Internal {
			return nil, false, err
		}
		faults.add(n.Folder, "no file declares the %s, and it cannot be deleted: %s", n.describe(e.Document), refused.Description.DefaultValue)
		return faults, true, nil
	})
	a.faults = append(a.faults, faults...)
	return err
}
