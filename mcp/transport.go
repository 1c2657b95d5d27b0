package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/document"
	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/schemas"
)

const (
	// maxBody is the maximum size of a request in bytes: that of a request that writes a flow over
	// HTTP, and the overhead of the protocol.
	maxBody = 1<<20 + 1<<16
	// maxBatch is the maximum number of messages in a request. Protocol versions up to 2025-03-26
	// allow several, which are answered concurrently.
	maxBatch = 20
)

// Serve answers a POST of a caller who may use the tools. The call acts on behalf of that caller.
// An error means that nothing has been written: of class TooLarge, Throttled or Unavailable.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request, c directory.Call) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if over, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return schemas.Errorf(schemas.TooLarge, "payload_too_large", "the request body is too large: expected at most %d bytes", over.Limit)
	}
	if err != nil {
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "the request body broke off: %w", err)
	}
	leave, own := s.places.Acquire(cmp.Or(c.Actor.Client, c.Actor.ID))
	if leave == nil {
		return s.busyError(own)
	}
	defer leave()
	if refused := checkRequestBody(body); refused != nil {
		writeRefusal(w, http.StatusBadRequest, refused)
		return nil
	}
	r = r.WithContext(context.WithValue(r.Context(), callKey{}, c))
	r.Body = io.NopCloser(bytes.NewReader(body))
	reply := &document.HeldReply{ResponseWriter: w, Holds: isPlainError}
	s.handler().ServeHTTP(reply, r)
	if reply.Status == 0 {
		return nil
	}
	code := int64(jsonrpc.CodeInvalidRequest)
	if reply.Status == http.StatusNotFound {
		code = jsonrpc.CodeMethodNotFound
	}
	writeRefusal(w, reply.Status, &jsonrpc.Error{Code: code, Message: strings.TrimSpace(reply.Body.String())})
	return nil
}

// The maximum numbers of concurrent requests. Each takes about half a megabyte for a few
// milliseconds.
const (
	defaultMaxCalls          = 64
	defaultMaxCallsPerClient = 16
)

// busyError is the error of a request above a limit: that of the client's own requests, or of all.
func (s *Server) busyError(own bool) error {
	busy := schemas.Errorf(schemas.Unavailable, schemas.CodeOverloaded, "the tools are overloaded; try again in a second")
	if own {
		busy = schemas.Errorf(schemas.Throttled, throttle.CodeTooManyRequests,
			"you have %d requests in progress; wait for one to complete, then try again", cmp.Or(s.MaxCallsPerClient, defaultMaxCallsPerClient))
	}
	busy.RetryAfter = time.Second
	return busy
}

// checkRequestBody rejects a body that is not JSON, or that contains too many messages.
func checkRequestBody(body []byte) *jsonrpc.Error {
	if !json.Valid(body) {
		return &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the request body is not valid JSON"}
	}
	var batch []json.RawMessage
	if body[len(body)-len(bytes.TrimLeft(body, " \t\r\n"))] != '[' || json.Unmarshal(body, &batch) != nil {
		return nil
	}
	if len(batch) == 0 || len(batch) > maxBatch {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "expected a batch of 1 to " + strconv.Itoa(maxBatch) + " messages, got " + strconv.Itoa(len(batch))}
	}
	return nil
}

// isPlainError reports whether a reply is a refusal of the transport, which the library writes as
// plain text. No cache stores any reply: it can have a secret.
func isPlainError(status int, h http.Header) bool {
	h.Set("Cache-Control", "no-store")
	return status >= http.StatusBadRequest && document.IsPlainText(h)
}

// writeRefusal writes an error about a whole request. It has no id, because the message is unknown.
func writeRefusal(w http.ResponseWriter, status int, e *jsonrpc.Error) {
	text, err := json.Marshal(struct {
		Version string         `json:"jsonrpc"`
		Error   *jsonrpc.Error `json:"error"`
	}{"2.0", e})
	if err != nil {
		panic(err) // a number and a text
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // fails only if the client has gone
}
