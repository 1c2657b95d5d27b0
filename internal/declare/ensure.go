package declare

import (
	"context"

	"github.com/postern-id/postern/schemas"
)

// Ensured is the result for one resource.
type Ensured struct {
	Resource
	ID      string
	Created bool // false: it existed and is unchanged
	// ClientID and Secret are those of an application whose secret the target generated.
	// The secret is not shown again.
	ClientID, Secret string
}

// Ensure creates the declared resources that a target lacks and leaves existing ones
// unchanged. Ensure reports each resource as soon as it exists, so that a generated secret is not
// lost. If files are wrong, the error is Faults; the correct resources are created anyway,
// and another run creates the rest.
func Ensure(ctx context.Context, t Target, resources []Resource, from Secrets, reported func(Ensured)) error {
	l := newLinker(t, from)
	if err := l.link(ctx, resources); err != nil {
		return err
	}
	if len(l.faults) > 0 {
		return l.faults.err()
	}
	for _, in := range l.list {
		if in.existing == nil {
			if err := l.ensure(ctx, t, in, reported); err != nil {
				return err
			}
			continue
		}
		reported(Ensured{Resource: in.Resource, ID: in.id})
	}
	return l.faults.err()
}

// ensure creates a resource that the target lacked.
func (l *linker) ensure(ctx context.Context, t Target, in *linkedResource, reported func(Ensured)) error {
	if len(in.missing) > 0 {
		in.failed = true
		l.faults = append(l.faults, in.missing...)
		return nil
	}
	e, err := t.Create(ctx, in.Noun, in.document())
	if err == nil {
		reported(in.created(e))
		return nil
	}
	if schemas.HasClass(err, schemas.Conflict) {
		other, again := newResourceCache(t).lookUp(ctx, in.Noun, in.id, flowTypeOf(in.Document), in.Noun.label(in.Document))
		if again != nil {
			return again
		}
		if other != nil { // created concurrently
			in.id = other.ID
			reported(Ensured{Resource: in.Resource, ID: in.id})
			return nil
		}
	}
	in.failed = true
	faults, ok := in.refusal(err)
	if !ok || schemas.HasClass(err, schemas.Unauthenticated) {
		return err
	}
	l.faults = append(l.faults, faults...)
	return nil
}

// created returns the result for a created resource.
func (in *linkedResource) created(e *Entry) Ensured {
	out := Ensured{Resource: in.Resource, ID: e.ID, Created: true}
	if secret := e.Document.TextAt("clientSecret"); secret != "" && !in.secret {
		out.ClientID, out.Secret = e.Document.TextAt("clientId"), secret
	}
	return out
}
