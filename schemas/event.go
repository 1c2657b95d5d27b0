package schemas

import (
	"context"
	"time"
)

// Event is one event of the audit log, which is append-only. It refers to resources by id and
// contains no secrets. Its only personal data are the address and the user agent.
type Event struct {
	ID     string    `json:"id"`
	At     time.Time `json:"at"`
	Action string    `json:"action"` // noun.verb: "passkey.registered", "group.replaced"
	// Actor is who acted; the zero value is an anonymous caller.
	Actor Actor `json:"actor,omitzero"`
	// UserID is the user that the event is about, "" for none.
	UserID string `json:"userId,omitempty"`
	// Resource is what was changed, if it is a resource.
	Resource ResourceRef `json:"resource,omitzero"`
	// Before and After are digests of the resource: equal digests mean that it did not change. ""
	// means that it did not exist.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`

	ApplicationID string `json:"applicationId,omitempty"` // that it was done through
	// ExecutionDigest identifies the run, by DigestExecution of its id. The log never
	// has the id itself: clients continue runs with it.
	ExecutionDigest string            `json:"executionDigest,omitempty"`
	TraceID         string            `json:"traceId,omitempty"`
	Detail          map[string]string `json:"detail,omitempty"`

	Origin
	// Changes are the members of the resource that differ before and after.
	Changes []MemberChange `json:"changes,omitempty"`
}

// Origin is where a request came from.
type Origin struct {
	Address   string `json:"address,omitempty"`   // the client's IP address
	UserAgent string `json:"userAgent,omitempty"` // cut to 200 bytes
	SessionID string `json:"sessionId,omitempty"` // the session of the token or browser
}

// MemberChange contains the old and the new value of a member of a resource, as JSON; "" if it did
// not exist. The value of a secret or of personal data is a keyed digest, hmac:…: equal digests of
// one log stand for equal values.
type MemberChange struct {
	Member string `json:"member"`
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
}

// OriginKey is the key of the origin of a request, an *Origin, among the values of its context. The audit
// log's events of the request get the origin; the caller may complete it before the first event.
type OriginKey struct{}

// WithOrigin returns a context with the origin of a request.
func WithOrigin(ctx context.Context, o *Origin) context.Context {
	return context.WithValue(ctx, OriginKey{}, o)
}

// OriginOf returns the origin of the request that a context belongs to; nil for none.
func OriginOf(ctx context.Context) *Origin {
	o, _ := ctx.Value(OriginKey{}).(*Origin)
	return o
}

// EventQuery selects events of the audit log, newest first, at most Limit: those with all given
// values. "" and zero values select all.
type EventQuery struct {
	Limit           int
	Before          EventKey // only events after this one in the list, which are older
	Action          string
	ActorID         string
	UserID          string
	ResourceType    string
	ResourceID      string
	ApplicationID   string
	ExecutionDigest string
	TraceID         string
	From, To        time.Time // From is included, To is not
	// Failures selects the events with one of FailureActions. With an Action it has no effect.
	Failures bool
}

// EventKey is the place of an event in the audit log: events are ordered by
// time, and by id within the same time.
type EventKey struct {
	At time.Time
	ID string
}

// ActorType is the type of an Actor.
type ActorType string

// The types of actors.
const (
	UserActor        ActorType = "user"
	ApplicationActor ActorType = "application"
	SystemActor      ActorType = "system" // the program itself, or a user of its machine with the store and its key
)

// Actor is the user, client or program that acts. Client is the application of the token: in a
// token its client id, in the audit log its id.
type Actor struct {
	Type   ActorType `json:"type,omitempty"`
	ID     string    `json:"id,omitempty"`
	Client string    `json:"client,omitempty"`
}

// ResourceRef names a resource: its noun ("group"), and its id.
type ResourceRef struct {
	Type string `json:"type,omitempty"`
	ID   string `json:"id,omitempty"`
}
