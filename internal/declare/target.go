package declare

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// Target is where resources are created: a directory, or a server over HTTP.
type Target interface {
	// NewID returns the id of a new resource. A transaction that is made again gets the same ones.
	NewID() string
	// Get returns the resource with the id; nil if there is none.
	Get(ctx context.Context, n Noun, id string) (*Entry, error)
	// List returns the first page of the resources whose member Noun.Filter has the value,
	// or of all if the value is "".
	List(ctx context.Context, n Noun, value string) ([]*Entry, error)
	Create(ctx context.Context, n Noun, d *schemas.Document) (*Entry, error)
	// Replace replaces a resource, which must not have changed since was was read.
	Replace(ctx context.Context, n Noun, was *Entry, d *schemas.Document) (*Entry, error)
}

// Entry is a resource of a target.
type Entry struct {
	ID, ETag string
	Document *schemas.Document
}

// pageSize is the number of resources that List returns at most.
const pageSize = 100

// Directory is a directory as a target, on behalf of a call.
type Directory struct {
	call      directory.Call
	resources map[string]directory.Resource // by plural
}

// NewDirectory returns a directory as a target.
func NewDirectory(d *directory.Directory, call directory.Call) *Directory {
	resources := map[string]directory.Resource{}
	for _, r := range d.Resources() {
		resources[r.Noun().Plural] = r
	}
	return &Directory{call, resources}
}

// NewID implements Target.
func (t *Directory) NewID() string { return t.call.NewID() }

// Get implements Target.
func (t *Directory) Get(ctx context.Context, n Noun, id string) (*Entry, error) {
	item, err := t.resources[n.Plural].Get(ctx, t.call, id)
	if schemas.HasClass(err, schemas.NotFound) {
		return nil, nil
	}
	return entry(item, err)
}

// List implements Target.
func (t *Directory) List(ctx context.Context, n Noun, value string) ([]*Entry, error) {
	q := directory.Query{Limit: pageSize}
	if value != "" {
		q.Filter, q.Value = n.Filter, value
	}
	return t.list(ctx, n, q)
}

func (t *Directory) list(ctx context.Context, n Noun, q directory.Query) ([]*Entry, error) {
	page, err := t.resources[n.Plural].List(ctx, t.call, q)
	if err != nil {
		return nil, err
	}
	list := make([]*Entry, len(page.Items))
	for i := range page.Items {
		if list[i], err = entry(&page.Items[i], nil); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Create implements Target.
func (t *Directory) Create(ctx context.Context, n Noun, d *schemas.Document) (*Entry, error) {
	return entry(t.resources[n.Plural].Create(ctx, t.call, d))
}

// Replace implements Target.
func (t *Directory) Replace(ctx context.Context, n Noun, was *Entry, d *schemas.Document) (*Entry, error) {
	return entry(t.resources[n.Plural].Replace(ctx, t.call, was.ID, was.ETag, d))
}

func (t *Directory) remove(ctx context.Context, n Noun, was *Entry) error {
	return t.resources[n.Plural].Delete(ctx, t.call, was.ID, was.ETag)
}

// readOnlyMembers lists the members that the noun's schema marks readOnly.
func (t *Directory) readOnlyMembers(n Noun) (list []string) {
	var schema struct {
		Properties map[string]struct {
			ReadOnly bool `json:"readOnly"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(t.resources[n.Plural].Noun().Schema().Raw(), &schema); err != nil {
		panic(fmt.Sprintf("declare: the schema of %s: %v", n.Plural, err)) // the schema is embedded
	}
	for name, member := range schema.Properties {
		if member.ReadOnly {
			list = append(list, name)
		}
	}
	return list
}

func entry(item *directory.Item, err error) (*Entry, error) {
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(item.Value)
	if err != nil {
		return nil, fmt.Errorf("declare: %w", err)
	}
	d, err := Read(text)
	if err != nil {
		return nil, err
	}
	return &Entry{item.ID, item.ETag, d}, nil
}

// Read parses a resource from a target.
func Read(text []byte) (*schemas.Document, error) {
	d, problems := schemas.ParseJSON(text)
	if len(problems) > 0 {
		return nil, fmt.Errorf("expected a resource in JSON: %s", problems[0])
	}
	return d, nil
}
