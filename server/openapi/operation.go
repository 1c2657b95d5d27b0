package openapi

import (
	"regexp"
	"strings"
)

// Operation describes an endpoint with one method.
type Operation struct {
	Method, Path string // the path with variables: "/users/{id}"
	ID           string // operationId, unique: "getUser"
	Summary      string // one line without a period
	Group        string // under which the page lists it
	Needs        Need
	Query        []Parameter
	Body         Body
	Reply        any // like Body.Type; nil for a reply without a body
	Status       int // of success
	// Concealable marks a change whose reply is 204 for a caller who may not read the resource.
	Concealable bool
	// Empty states when the reply is 204 instead; "" for never.
	Empty   string
	Failure any // like Reply, of a failed request; nil for the errors of the API
	// OAuth marks an endpoint whose errors have the form of RFC 6749 §5.2.
	OAuth bool
}

// Need is the authorization that a request must have.
type Need struct {
	Token      bool   // a bearer token
	Permission string // the permission that the token must carry, if a certain one
}

// Parameter is a parameter of the query.
type Parameter struct {
	Name, Description string
	Integer           bool
}

// Body is the body of a request.
type Body struct {
	// Type is a value of the Go type that is read, a [Ref], or nil for a request without a body.
	Type any
	// Required are the members that must be present, if Type is a Go type.
	Required []string
	// Optional marks a body that may be absent.
	Optional bool
	// Form marks a body that is a form (application/x-www-form-urlencoded) instead of JSON.
	Form bool
	// Patch marks a JSON Merge Patch (RFC 7396).
	Patch bool
}

// mediaType returns the media type of the body.
func (b Body) mediaType() string {
	switch {
	case b.Form:
		return "application/x-www-form-urlencoded"
	case b.Patch:
		return "application/merge-patch+json"
	}
	return jsonType
}

const jsonType = "application/json"

// Ref is a schema by its name: see [Named].
type Ref string

// List is the page of a list: the type of the items, under the member with the plural name.
type List struct {
	Plural string
	Item   any
}

var variable = regexp.MustCompile(`\{(\w+)\}`)

// variables returns the names of the variables of the path.
func (o *Operation) variables() (names []string) {
	for _, match := range variable.FindAllStringSubmatch(o.Path, -1) {
		names = append(names, match[1])
	}
	return names
}

// Anchor returns the fragment of the operation on the page.
func (o *Operation) Anchor() string { return strings.ToLower(o.ID) }
