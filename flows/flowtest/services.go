package flowtest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Answer is a service's answer to a query.
type Answer struct {
	Status int             `json:"status,omitempty"` // by default 200
	JSON   json.RawMessage `json:"json,omitempty"`   // none: the reply is not JSON
	Error  string          `json:"error,omitempty"`  // why there is no reply: timeout, unreachable or refused
}

// fakeServices simulates the targets of an environment: scenarios contain their answers,
// and no request leaves the machine.
type fakeServices struct{ *environment }

// Names is nil: any name is valid.
func (fakeServices) Names() []string { return nil }

// Call returns the scenario's next answer of the target.
func (s fakeServices) Call(_ context.Context, c schemas.Call) (*schemas.CallReply, error) {
	s.asked = append(s.asked, c)
	left := s.answers[c.Target]
	if len(left) == 0 {
		s.unanswered = &c
		return nil, fmt.Errorf("the flow asks the target %s (%s %s), and the scenario has no reply left: add one to its http, such as {%s: [{json: {}}]}",
			c.Target, c.Method, cmp.Or(c.Path, "/"), c.Target)
	}
	s.answers[c.Target] = left[1:]
	return left[0].reply()
}

// reply returns the answer as the server receives it; the codes are those of
// internal/outbound.
func (a Answer) reply() (*schemas.CallReply, error) {
	switch a.Error {
	case "":
		return &schemas.CallReply{Status: cmp.Or(a.Status, http.StatusOK), JSON: a.JSON}, nil
	case "refused":
		return nil, schemas.Errorf(schemas.Invalid, "outbound_refused", "the address may not be asked")
	}
	return nil, schemas.Errorf(schemas.Unavailable, "outbound_failed", "the address did not answer (%s)", a.Error)
}

// NewDelivery returns the delivery of a call. It is not sealed, because scenarios read it.
func (fakeServices) NewDelivery(c schemas.Call, now time.Time) (schemas.Delivery, error) {
	body, err := json.Marshal(c)
	return schemas.Delivery{ID: c.ID, Kind: schemas.CallDelivery, Target: c.Target, Body: body, CreatedAt: now, ExpiresAt: now.Add(time.Hour)}, err
}

// callsSince returns the queries and notifications after the counts, with the members of
// requests in scenarios. A notification is in an envelope.
func (w *environment) callsSince(since counts) []any {
	list := []any{}
	add := func(c schemas.Call, event, body any) {
		list = append(list, map[string]any{"target": c.Target, "method": c.Method, "path": c.Path, "event": event, "body": body})
	}
	for _, c := range w.asked[since.asked:] {
		var body any
		_ = json.Unmarshal(c.Body, &body) // a GET has no body
		add(c, nil, body)
	}
	for _, c := range queued[schemas.Call](w.Memory, schemas.CallDelivery)[since.reported:] {
		var envelope struct{ Type, Data any }
		_ = json.Unmarshal(c.Body, &envelope) // written by this product
		add(c, envelope.Type, envelope.Data)
	}
	return list
}
