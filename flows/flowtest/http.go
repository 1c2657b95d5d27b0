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

// Answer is what a service answers to a query.
type Answer struct {
	Status int             `json:"status,omitempty"` // by default 200
	JSON   json.RawMessage `json:"json,omitempty"`   // none: the reply is not JSON
	Error  string          `json:"error,omitempty"`  // why there is no reply: timeout, unreachable or refused
}

// Call is what is asked of a service, or told it.
type Call struct {
	Target  string         `json:"target"`
	Method  string         `json:"method,omitempty"`
	Path    string         `json:"path,omitempty"`
	Event   string         `json:"event,omitempty"`   // of what is told
	Body    map[string]any `json:"body,omitempty"`    // members, among others
	Without []string       `json:"without,omitempty"` // members that the body lacks
}

// fakeServices are the targets of a world: a scenario says what they answer, and nothing
// leaves the machine.
type fakeServices struct{ *environment }

// Names is nil: any name will do.
func (fakeServices) Names() []string { return nil }

// Call gives the next answer that the scenario has for the target.
func (s fakeServices) Call(_ context.Context, c schemas.Call) (*schemas.CallReply, error) {
	s.asked = append(s.asked, c)
	left := s.answers[c.Target]
	if len(left) == 0 {
		return nil, fmt.Errorf("the flow asks the target %s (%s %s), and the scenario has no answer left: add one to its http, such as {%s: [{json: {}}]}",
			c.Target, c.Method, cmp.Or(c.Path, "/"), c.Target)
	}
	s.answers[c.Target] = left[1:]
	return left[0].reply()
}

// reply is the answer as the server gets it; the codes are those of internal/outbound.
func (a Answer) reply() (*schemas.CallReply, error) {
	switch a.Error {
	case "":
		return &schemas.CallReply{Status: cmp.Or(a.Status, http.StatusOK), JSON: a.JSON}, nil
	case "refused":
		return nil, schemas.Errorf(schemas.Invalid, "outbound_refused", "the address may not be asked")
	}
	return nil, schemas.Errorf(schemas.Unavailable, "outbound_failed", "the address did not answer (%s)", a.Error)
}

// NewDelivery makes the delivery of a call, not sealed: a scenario reads it.
func (fakeServices) NewDelivery(c schemas.Call, now time.Time) (schemas.Delivery, error) {
	body, err := json.Marshal(c)
	return schemas.Delivery{ID: c.ID, Kind: schemas.CallDelivery, Target: c.Target, Body: body, CreatedAt: now, ExpiresAt: now.Add(time.Hour)}, err
}

// queuedCalls are the calls that are queued, oldest first.
func (m *Memory) queuedCalls() (list []schemas.Call) {
	for _, d := range m.Deliveries() {
		var c schemas.Call
		if d.Kind == schemas.CallDelivery && json.Unmarshal(d.Body, &c) == nil {
			list = append(list, c)
		}
	}
	return list
}

// requestOf reads a call. What is told stands in an envelope.
func requestOf(c schemas.Call, reported bool) Call {
	r := Call{Target: c.Target, Method: c.Method, Path: c.Path}
	if !reported {
		_ = json.Unmarshal(c.Body, &r.Body) // a GET has none
		return r
	}
	var envelope struct {
		Type string         `json:"type"`
		Data map[string]any `json:"data"`
	}
	_ = json.Unmarshal(c.Body, &envelope) // it is our own
	r.Event, r.Body = envelope.Type, envelope.Data
	return r
}

// callsSince is what was asked since, and then what is told since.
func (w *environment) callsSince(asked, reported int) (list []Call) {
	for _, c := range w.asked[asked:] {
		list = append(list, requestOf(c, false))
	}
	for _, c := range w.queuedCalls()[reported:] {
		list = append(list, requestOf(c, true))
	}
	return list
}

// describe are how lists tell a request.
func (r Call) describe() string { return r.Target + " " + cmp.Or(r.Path, "/") }

func describeRequest(list []Call) []string {
	words := []string{}
	for _, r := range list {
		words = append(words, r.describe())
	}
	return words
}

// compareRequests looks at what is asked and told.
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
