package nodes

import (
	"cmp"
	"encoding/json"
	"errors"
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
	return fmt.Sprintf("a member of the body is a string, a number, true or false, or a list or map of these, but this is a %s; name the member of it that is to be sent", t)
}

// body evaluates the members. It leaves out a member that reads an attribute which the user does
// not have. The error describes another fault in general terms.
func (x *httpRequest) body(values map[string]any) (map[string]any, error) {
	body := make(map[string]any, len(x.names))
	for i, name := range x.names {
		result, _, err := x.expressions[i].program.Eval(values)
		if err != nil && strings.HasPrefix(err.Error(), "no such key") {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("the member %q of the body: %s", name, evalFault(err))
		}
		if body[name], err = plain(result); err != nil {
			return nil, fmt.Errorf("the member %q of the body: %w", name, err)
		}
	}
	return body, nil
}

var errNotJSON = errors.New("its value is none of JSON")

// plain converts a CEL value to a JSON value.
func plain(value ref.Val) (any, error) {
	switch v := value.(type) {
	case types.Bool, types.Int, types.Uint, types.String:
		return v.Value(), nil
	case types.Null:
		return nil, nil
	case types.Double:
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, errNotJSON
		}
		return float64(v), nil
	case traits.Mapper:
		return plainMap(v)
	case traits.Lister:
		list := []any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			item, err := plain(it.Next())
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		return list, nil
	}
	return nil, errNotJSON
}

func plainMap(m traits.Mapper) (any, error) {
	object := map[string]any{}
	for it := m.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		name, ok := key.(types.String)
		if !ok {
			return nil, errNotJSON
		}
		value, err := plain(m.Get(key))
		if err != nil {
			return nil, err
		}
		object[string(name)] = value
	}
	return object, nil
}

// notification returns the call of a notification: the envelope of Standard Webhooks, with the
// event and its time, around the data.
func (x *httpRequest) notification(v *engine.Visit, data map[string]any) (schemas.Call, error) {
	body, err := json.Marshal(struct {
		Type      string         `json:"type"`
		Timestamp time.Time      `json:"timestamp"`
		Data      map[string]any `json:"data"`
	}{cmp.Or(x.Event, x.id), v.Now.UTC(), data})
	return schemas.Call{ID: schemas.NewID(), Target: x.Target, Method: "POST", Path: x.Path, Body: body}, err
}
