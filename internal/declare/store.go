package declare

import (
	"context"
	"path/filepath"

	"github.com/postern-id/postern/schemas"
)

// ReadResource reads a file with one resource, in the form of a tree. If it is wrong, the error is Faults.
func ReadResource(n Noun, file string, text []byte) (Resource, error) {
	var faults Faults
	r, ok := parse(file, text, &faults)
	if ok {
		r.Noun, r.Root = n, filepath.Dir(file)
		r.check(&faults)
	}
	return r, faults.err()
}

// Store creates a declared resource in a target or, if at is not nil, replaces that one. If the
// file is wrong, the error is Faults.
func Store(ctx context.Context, t Target, r Resource, from Secrets, at *Entry) (*Entry, error) {
	l := newLinker(t, from)
	if err := l.link(ctx, []Resource{r}); err != nil {
		return nil, err
	}
	in := l.list[0]
	if at == nil && in.existing != nil {
		l.faults = append(l.faults, in.fault("", "the %s exists already; update it, or choose another name", in.Name()))
	}
	if err := append(l.faults, in.missing...).err(); err != nil {
		return nil, err
	}
	e, err := in.store(ctx, t, at)
	if err == nil || schemas.HasClass(err, schemas.Unauthenticated) {
		return e, err
	}
	if faults, ok := in.refusal(err); ok {
		return nil, faults.err()
	}
	return nil, err
}

func (in *linkedResource) store(ctx context.Context, t Target, at *Entry) (*Entry, error) {
	if at == nil {
		return t.Create(ctx, in.Noun, in.document())
	}
	in.edits["id"] = at.ID
	return t.Replace(ctx, in.Noun, at, in.document())
}
