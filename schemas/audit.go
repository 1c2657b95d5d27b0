package schemas

import "time"

// Event is one line of the audit log, which is only ever added to. It names
// things by id and carries no secret and no personal data.
type Event struct {
	ID     string    `json:"id"`
	At     time.Time `json:"at"`
	Action string    `json:"action"` // noun.verb: "passkey.registered", "group.replaced"
	// Actor is who acted; the zero value is an anonymous caller.
	Actor Actor `json:"actor,omitzero"`
	// UserID is the user it is about, if it is about one.
	UserID string `json:"userId,omitempty"`
	// Resource is what was changed, if it is a resource.
	Resource ResourceRef `json:"resource,omitzero"`
	// Before and After are digests of the resource: equal ones mean that it was
	// the same. "" stands for what did not exist.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`

	ApplicationID string `json:"applicationId,omitempty"` // that it was done through
	// ExecutionDigest identifies the run, by DigestExecution of its id. The log never
	// has the id itself: clients continue runs with it.
	ExecutionDigest string            `json:"executionDigest,omitempty"`
	TraceID         string            `json:"traceId,omitempty"`
	Detail          map[string]string `json:"detail,omitempty"`
}

// EventQuery selects events of the audit log, newest first, at most Limit: those with all given
// values. "" and zero values select all.
type EventQuery struct {
	Limit           int
	Before          EventKey // only those that come after this one in the list, which are older
	Action          string
	ActorID         string
	UserID          string
	ResourceType    string
	ResourceID      string
	ApplicationID   string
	ExecutionDigest string
	TraceID         string
	From, To        time.Time // From is included, To is not
}

// EventKey is the place of an event in the audit log: events are ordered by
// time, and by id within the same time.
type EventKey struct {
	At time.Time
	ID string
}

// ActorType says what an Actor is.
type ActorType string

// The types of actors.
const (
	UserActor        ActorType = "user"
	ApplicationActor ActorType = "application"
	SystemActor      ActorType = "system" // the program itself, or a user of its machine with the store and its key
)

// Actor is who does something. Client is the application whose token they sent:
// in a token its client id, in the audit log its id.
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

// Session is one sign-in of a user: from the authentication until it ends, or
// until everything that was issued for it has expired. Who ends it makes its
// tokens worthless.
type Session struct {
	ID            string    `json:"id"`
	UserID        string    `json:"userId"`
	ApplicationID string    `json:"applicationId,omitempty"`
	AMR           []string  `json:"amr"` // RFC 8176
	ACR           string    `json:"acr,omitempty"`
	Client        string    `json:"client,omitempty"` // the User-Agent it began with, cut to 200 bytes
	CreatedAt     time.Time `json:"createdAt"`
	ExpiresAt     time.Time `json:"expiresAt"`
	// Proofs are what the sign-in rests on. Nil where that was not recorded: by a
	// session from before proofs were, and one that was issued on the command line.
	Proofs []Proof `json:"-"`
}

// TokenRef names a token by what may be revoked of it.
type TokenRef struct {
	ID      string // jti
	Session string // sid; "" for a token of no session
	Client  string // the OAuth client it was issued to; "" for an assertion
	// Application is that of an assertion; "" for an access token, and for the
	// assertion of a sign-in for none.
	Application string
	// Generation is the TokenGeneration that the application had when the token was
	// issued.
	Generation string
}
