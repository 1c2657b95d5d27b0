package declare

import (
	"context"

	"github.com/postern-id/postern/schemas"
)

// Ensured is what came of one resource that was to exist.
type Ensured struct {
	Resource
	ID      string
	Created bool // else it was there, and was left as it is
	// ClientID and Secret are those of an application for which the target made up
	// a secret. It is shown nowhere else.
	ClientID, Secret string
}

// Ensure makes declared resources exist in a target: what is missing is created,
// and what is there is left as it is. Getenv gives the values of environment
// variables, in which secrets are found; nil if there are none. Each is told as soon as it is certain, so
// that a secret that was made up is not lost. What is wrong with the files is
// Faults; then what is right has been created all the same, and doing it again
// creates the rest.
func Ensure(ctx context.Context, t Target, resources []Resource, getenv func(string) string, reported func(Ensured)) error {
	l := newLinker(t, getenv)
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

// ensure creates a resource that the target did not have when it was asked.
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
		other, again := l.lookUpAgain(ctx, in)
		if again != nil {
			return again
		}
		if other != nil { // somebody else was faster
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

// lookUpAgain looks once more whether the target has a resource.
func (l *linker) lookUpAgain(ctx context.Context, in *linkedResource) (*Entry, error) {
	fresh := newResourceCache(l.cache.target)
	e, err := fresh.get(ctx, in.Noun, in.id)
	if e != nil || err != nil {
		return e, err
	}
	return fresh.find(ctx, in.Noun, schemas.FlowType(in.Document.TextAt("flowType")), in.Noun.label(in.Document))
}

// created tells of a resource that was created.
func (in *linkedResource) created(e *Entry) Ensured {
	out := Ensured{Resource: in.Resource, ID: e.ID, Created: true}
	if secret := e.Document.TextAt("clientSecret"); secret != "" && !in.secret {
		out.ClientID, out.Secret = e.Document.TextAt("clientId"), secret
	}
	return out
}
