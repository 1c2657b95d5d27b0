package flowtest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Answer is a service's answer to a query.
type Answer struct {
	Status int             `json:"status,omitempty"` // by default 200
	JSON   json.RawMessage `json:"json,omitempty"`   // none: the reply is not JSON
	Error  string          `json:"error,omitempty"`  // why there is no reply: timeout, unreachable or refused
}

// Call is a query or a notification to a service.
type Call struct {
	Target  string         `json:"target"`
	Method  string         `json:"method,omitempty"`
	Path    string         `json:"path,omitempty"`
	Event   string         `json:"event,omitempty"`   // type of a notification
	Body    map[string]any `json:"body,omitempty"`    // members, among others
	Without []string       `json:"without,omitempty"` // members that the body lacks
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

// queuedCalls returns the queued calls, oldest first.
func (m *Memory) queuedCalls() (list []schemas.Call) {
	for _, d := range m.Deliveries() {
		var c schemas.Call
		if d.Kind == schemas.CallDelivery && json.Unmarshal(d.Body, &c) == nil {
			list = append(list, c)
		}
	}
	return list
}

// requestOf converts a call. A notification is in an envelope.
func requestOf(c schemas.Call, reported bool) Call {
	r := Call{Target: c.Target, Method: c.Method, Path: c.Path}
	if !reported {
		_ = json.Unmarshal(c.Body, &r.Body) // a GET has no body
		return r
	}
	var envelope struct {
		Type string         `json:"type"`
		Data map[string]any `json:"data"`
	}
	_ = json.Unmarshal(c.Body, &envelope) // written by this product
	r.Event, r.Body = envelope.Type, envelope.Data
	return r
}

// callsSince returns the queries after the given number, then the notifications.
func (w *environment) callsSince(asked, reported int) (list []Call) {
	for _, c := range w.asked[asked:] {
		list = append(list, requestOf(c, false))
	}
	for _, c := range w.queuedCalls()[reported:] {
		list = append(list, requestOf(c, true))
	}
	return list
}

// describe returns the request as lists show it.
func (r Call) describe() string { return r.Target + " " + cmp.Or(r.Path, "/") }

func describeRequest(list []Call) []string {
	words := []string{}
	for _, r := range list {
		words = append(words, r.describe())
	}
	return words
}

// compareRequests compares the requests to services.
func (e Expect) compareRequests(d *differences, got []Call) {
	if e.Requests == nil {
		return
	}
	if len(e.Requests) != len(got) {
		d.add("requests", describeRequest(e.Requests), describeRequest(got))
		return
	}
	for i, want := range e.Requests {
		want.compare(d, fmt.Sprintf("requests[%d]", i), got[i])
	}
}

func (r Call) compare(d *differences, at string, got Call) {
	d.text(at+".target", r.Target, got.Target)
	d.text(at+".method", r.Method, got.Method)
	d.text(at+".path", r.Path, got.Path)
	d.text(at+".event", r.Event, got.Event)
	for _, name := range slices.Sorted(maps.Keys(r.Body)) {
		if !reflect.DeepEqual(r.Body[name], got.Body[name]) {
			d.add(schemas.MemberPath(at+".body", name), r.Body[name], got.Body[name])
		}
	}
	for i, name := range r.Without {
		if value, there := got.Body[name]; there {
			d.add(fmt.Sprintf("%s.without[%d]", at, i), "no member "+name, value)
		}
	}
}
