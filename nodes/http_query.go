package nodes

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// query sends the query and leaves by its result. A query whose body could not be built fails.
func (x *httpRequest) query(ctx context.Context, v *engine.Visit, body map[string]json.RawMessage, broken error) (*engine.Decision, error) {
	if broken != nil {
		return x.failed(v, "body"), nil
	}
	reply, err := x.deps.Targets.Call(ctx, x.question(v, body))
	switch known := schemas.AsError(err); {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err() // the client has gone
	case err != nil && known.Class == schemas.Internal:
		return nil, err
	case err != nil:
		return x.failed(v, known.Code), nil
	case reply.Status < 200 || reply.Status > 299:
		return x.failed(v, fmt.Sprintf("status %d", reply.Status)), nil
	case x.keeps == nil:
		return engine.LeaveBy(successOutcome), nil
	}
	values, reason := x.read(reply.JSON)
	if reason != "" {
		return x.failed(v, reason), nil
	}
	return &engine.Decision{Outcome: successOutcome, Replies: map[string]map[string]any{x.As: values}}, nil
}

// question returns the call of a query. Its id is a digest of the run, of the run's revision, and
// of the body: the receiver can recognize a repetition, but cannot derive the id of the run and
// continue it.
func (x *httpRequest) question(v *engine.Visit, body map[string]json.RawMessage) schemas.Call {
	call := schemas.Call{Target: x.Target, Method: cmp.Or(x.Method, "POST"), Path: x.Path}
	if call.Method == "POST" {
		call.Body = must(json.Marshal(body))
	}
	digest := sha256.New()
	fmt.Fprintf(digest, "%s\x00%d\x00%s\x00%s\x00%s\x00%s\x00", v.ExecutionID, v.Revision, x.id, call.Target, call.Method, call.Path)
	digest.Write(call.Body)
	const enough = 16
	call.ID = "q_" + hex.EncodeToString(digest.Sum(nil)[:enough])
	return call
}

// failed leaves by failure. The reason is for the audit log and contains no personal data.
func (x *httpRequest) failed(v *engine.Visit, reason string) *engine.Decision {
	about := ""
	if v.Subject.Draft == nil {
		about = v.Subject.UserID
	}
	return &engine.Decision{Outcome: failureOutcome, Changes: []schemas.Change{
		event(v, "http_request.failed", about, map[string]string{"node": x.id, "target": x.Target, "reason": reason}),
	}}
}

// replyValue is a value that a reply must contain.
type replyValue struct {
	At   string           `json:"at" max:"500" pattern:"^(/([^~/]|~[01])*)*$" expect:"a JSON pointer (RFC 6901) such as /score" doc:"The location of the value in the reply: a JSON pointer (RFC 6901), such as /score or /results/0/name."`
	Type engine.ReplyType `json:"type" enum:"string,number,integer,boolean" doc:"The type of the value. A string has at most 4096 characters."`
}

// read extracts the values of a reply, or returns a word for why it does not fit.
func (x *httpRequest) read(text json.RawMessage) (values map[string]any, reason string) {
	if text == nil {
		return nil, "not_json"
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var root any
	if err := decoder.Decode(&root); err != nil {
		return nil, "not_json"
	}
	values = make(map[string]any, len(x.Reply))
	for name, want := range x.Reply {
		found, ok := resolvePointer(root, want.At)
		if ok {
			values[name], ok = acceptReplyValue(want.Type, found)
		}
		if !ok {
			return nil, "does_not_fit"
		}
	}
	return values, ""
}

// resolvePointer evaluates a JSON pointer (RFC 6901 section 4).
func resolvePointer(value any, pointer string) (any, bool) {
	if pointer == "" {
		return value, true
	}
	for step := range strings.SplitSeq(pointer[1:], "/") {
		switch v := value.(type) {
		case map[string]any:
			member, ok := v[strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")]
			if !ok {
				return nil, false
			}
			value = member
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v) || strconv.Itoa(i) != step {
				return nil, false
			}
			value = v[i]
		default:
			return nil, false
		}
	}
	return value, true
}

// Limits of stored reply values: the length that expressions can handle, and the numbers that all
// languages represent exactly.
const (
	maxReplyText    = 4096
	maxReplyInteger = 1<<53 - 1
)

// acceptReplyValue returns a value as it is stored, if it has the type.
func acceptReplyValue(t engine.ReplyType, value any) (any, bool) {
	switch v := value.(type) {
	case string:
		return v, t == engine.StringReply && utf8.RuneCountInString(v) <= maxReplyText
	case bool:
		return v, t == engine.BooleanReply
	case json.Number:
		f, err := v.Float64()
		whole := f == math.Trunc(f) && math.Abs(f) <= maxReplyInteger
		return f, err == nil && (t == engine.NumberReply || t == engine.IntegerReply && whole)
	}
	return nil, false
}
