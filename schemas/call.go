package schemas

import "encoding/json"

// Call is an HTTP request to a service that the operator has configured under a name
// (http.targets). Flows send calls, and can use only configured services.
type Call struct {
	// ID is the same for repetitions: the receiver sees it as Idempotency-Key and webhook-id.
	ID string `json:"id"`
	// Target is the name of the service.
	Target string `json:"target"`
	// Method is GET or POST.
	Method string `json:"method"`
	// Path is below the service's URL. It begins with a slash, and may have a query.
	Path string `json:"path"`
	// Body is JSON; nil for none.
	Body json.RawMessage `json:"body,omitempty"`
}

// CallReply is the reply to a call, whatever its status.
type CallReply struct {
	Status int
	// JSON is the body; nil unless its media type and its content are JSON (RFC 8259).
	JSON json.RawMessage
}
