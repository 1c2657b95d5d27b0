package nodes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// notJSON names a type that JSON does not have, "" for the others.
func notJSON(t *cel.Type) string {
	switch t.Kind() {
	case types.BoolKind, types.DoubleKind, types.DynKind, types.IntKind, types.NullTypeKind, types.StringKind, types.UintKind:
		return ""
	case types.ListKind:
		return notJSON(t.Parameters()[0])
	case types.MapKind:
		if key := t.Parameters()[0].Kind(); key == types.StringKind || key == types.DynKind {
			return notJSON(t.Parameters()[1])
		}
	}
	return fmt.Sprintf("a member of the body must be a string, number, boolean, list or map, but this is a %s; select the member of it to send", t)
}

// body evaluates the members as JSON. It leaves out a member that reads an attribute without a guard
// which the user does not have: flows that were stored before guards were required rely on it. The error describes another fault in general terms.
func (x *httpRequest) body(values map[string]any) (map[string]json.RawMessage, error) {
	body := make(map[string]json.RawMessage, len(x.names))
	for i, name := range x.names {
		result, _, err := x.expressions[i].program.Eval(values)
		if err != nil && strings.HasPrefix(err.Error(), "no such key") {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("the member %q of the body: %s", name, evalFault(err))
		}
		if body[name], err = json.Marshal(plain(result)); err != nil {
			return nil, fmt.Errorf("the member %q of the body: its value is not JSON", name)
		}
	}
	return body, nil
}

// plain converts a CEL value to a Go value, whose encoding as JSON fails if JSON has no such value.
func plain(value ref.Val) any {
	switch v := value.(type) {
	case types.Bool, types.Int, types.Uint, types.Double, types.String:
		return v.Value()
	case types.Null:
		return nil
	case traits.Mapper:
		object := map[string]any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			name, ok := key.(types.String)
			if !ok {
				return math.NaN()
			}
			object[string(name)] = plain(v.Get(key))
		}
		return object
	case traits.Lister:
		list := []any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			list = append(list, plain(it.Next()))
		}
		return list
	}
	return math.NaN() // which JSON does not have
}

// notify queues a notification: the envelope of Standard Webhooks, with the event and its time,
// around the data.
func (x *httpRequest) notify(v *engine.Visit, data map[string]json.RawMessage) (*engine.Decision, error) {
	body := must(json.Marshal(struct {
		Type      string                     `json:"type"`
		Timestamp time.Time                  `json:"timestamp"`
		Data      map[string]json.RawMessage `json:"data"`
	}{cmp.Or(x.Event, x.id), v.Now.UTC(), data}))
	call := schemas.Call{ID: schemas.NewID(), Target: x.Target, Method: "POST", Path: x.Path, Body: body}
	delivery, err := x.deps.Targets.NewDelivery(call, v.Now)
	if err != nil {
		return nil, err
	}
	return &engine.Decision{Outcome: queuedOutcome, Changes: []schemas.Change{schemas.QueueDelivery{Delivery: delivery}}}, nil
}
