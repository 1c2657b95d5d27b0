package directory

import (
	"context"

	"github.com/postern-id/postern/schemas"
)

// Noun is what a kind of resource is called, and what it takes to use it.
type Noun struct {
	Name   string // "userType": as events and errors say it
	Plural string // "userTypes": the member that holds a list of them
	Path   string // "/user-types"
	// Read and Write are the permissions for looking and for changing.
	Read, Write string
	// Schema is that of a request body.
	Schema func() *schemas.Schema
	// Key is the member that names one uniquely for people ("handle"); "" if ids
	// do.
	Key string
	// Filters are the members that a list can be filtered by.
	Filters []string
	// verbatim are the members in which null is a value.
	verbatim []string
	// administers marks a noun by which somebody has permissions, so that a change
	// may take them from the last who has all.
	administers bool
}

// Resource is a kind of resource and what can be done with it. Values are
// pointers to the Go type of the noun, as it may be shown.
type Resource interface {
	Noun() Noun
	// List returns one page, oldest first. A filter that the noun does not have
	// is an error of Class Invalid.
	List(ctx context.Context, c Call, q Query) (*Page, error)
	// Get returns the resource with the id, or an error of Class NotFound.
	Get(ctx context.Context, c Call, id string) (*Item, error)
	// Find returns the resource whose Key is the text; nil if there is none.
	Find(ctx context.Context, c Call, key string) (*Item, error)
	// Create adds a resource. A document that says an id gets that one, if it is a
	// UUID and free; else one is made up.
	Create(ctx context.Context, c Call, d *schemas.Document) (*Item, error)
	// Replace puts what the document says in the place of what the resource was:
	// what it leaves out is gone, or goes back to its default. Only what cannot be
	// read (a secret) is kept. Match is an If-Match field value (RFC 9110 §13.1.1),
	// "" for none; if it does not match, the error has Class Precondition. What
	// changes nothing writes nothing.
	Replace(ctx context.Context, c Call, id, match string, d *schemas.Document) (*Item, error)
	// Delete removes a resource. One that others refer to is not: the error has
	// Class Conflict, code in_use, and lists them.
	Delete(ctx context.Context, c Call, id, match string) error
}

// Item is a resource. ETag is its entity tag with the quotes (RFC 9110 §8.8.3).
// Warnings are findings about a flow that refuse nothing, such as waived ones.
type Item struct {
	ID, ETag string
	Value    any
	Warnings []schemas.Problem
}

// Query says which part of a list is wanted: after the id After if it is given,
// else after the first Offset. Filter and Value select those whose member Filter
// has the value.
type Query struct {
	Limit, Offset int
	After         string
	Filter, Value string
}

// Page is a part of a list. Total counts the whole list.
type Page struct {
	Total int
	Items []Item
}
