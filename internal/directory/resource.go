package directory

import (
	"context"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Noun describes a kind of resource and the permissions for it.
type Noun struct {
	Name   string // "userType": in events and errors
	Plural string // "userTypes": the member with a list
	Path   string // "/user-types"
	// Read and Write are the permissions for reading and writing.
	Read, Write string
	// Schema returns the schema of a request body.
	Schema func() *schemas.Schema
	// Key is the unique member for people ("handle"); "" if only ids are unique.
	Key string
	// Filters are the members that lists can be filtered by, and Prefixes those that can also be
	// filtered by a prefix.
	Filters, Prefixes []string
	// administers marks a noun that grants permissions: a change may remove them from the
	// last administrator.
	administers bool
	// isUser marks the users: events about one name it as their user.
	isUser bool
	// invalidCode and conflictCode are error codes other than the default ones.
	invalidCode, conflictCode string
}

// Resource is a kind of resource with its operations. Values are pointers to the Go type of
// the noun, without members that are never shown.
type Resource interface {
	Noun() Noun
	// List returns one page, oldest first. An unknown filter is an error of Class Invalid.
	List(ctx context.Context, c Call, q Query) (*Page, error)
	// Get returns the resource with the id, or an error of Class NotFound.
	Get(ctx context.Context, c Call, id string) (*Item, error)
	// Find returns the resource with the Key; nil if there is none.
	Find(ctx context.Context, c Call, key string) (*Item, error)
	// Create adds a resource. An id in the document must be a free UUID; without one it
	// generates an id.
	Create(ctx context.Context, c Call, d *schemas.Document) (*Item, error)
	// Replace replaces a resource by the document. Missing members are removed or reset to
	// their defaults, except members that cannot be read, such as secrets. Match is an
	// If-Match field value (RFC 9110 §13.1.1), "" for none; if it does not match, the error
	// has Class Precondition. An unchanged resource is not written.
	Replace(ctx context.Context, c Call, id, match string, d *schemas.Document) (*Item, error)
	// Delete deletes a resource. If others refer to it, the error has Class Conflict, code
	// in_use, and lists them.
	Delete(ctx context.Context, c Call, id, match string) error

	// recheck returns the problems for which a write of a stored resource would be refused, whose document is d.
	recheck(ctx context.Context, c Call, item *Item, d *schemas.Document) ([]schemas.Problem, error)
}

// Item is a resource. ETag is its entity tag with quotes (RFC 9110 §8.8.3). Warnings are
// findings about a flow that do not prevent it, such as waived ones.
type Item struct {
	ID, ETag string
	Value    any
	Warnings []schemas.Problem
}

// Query selects a part of a list: after the id After if set, otherwise after the first
// Offset resources. Filter and Value select the resources whose member Filter has the
// value or, with Prefix, starts with it. A list by a prefix is in the order of the member and
// has no After; its Total is at most store.MaxPrefixCount.
type Query struct {
	Limit, Offset int
	After         string
	Filter, Value string
	Prefix        bool
}

// Page is a part of a list. Total is the size of the whole list.
type Page struct {
	Total int
	Items []Item
}

// newNoun adds the names that follow from n.Name.
func newNoun(n Noun) Noun {
	n.Plural = n.Name + "s"
	path := strings.ReplaceAll(schemas.DisplayName(n.Plural), " ", "-")
	n.Path, n.Read, n.Write = "/"+path, "system:"+path+":read", "system:"+path+":write"
	return n
}
