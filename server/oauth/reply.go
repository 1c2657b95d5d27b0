package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// reply is the ResponseWriter for op. It passes on successes and holds errors back, for the server
// to write.
type reply struct {
	http.ResponseWriter
	status int
	held   bytes.Buffer
}

func (w *reply) failed() bool { return w.status >= http.StatusBadRequest }

// WriteHeader records the status and passes on a success.
func (w *reply) WriteHeader(status int) {
	w.status = status
	if !w.failed() {
		w.ResponseWriter.WriteHeader(status)
	}
}

// Write passes on the body of a success.
func (w *reply) Write(b []byte) (int, error) {
	if w.failed() {
		return w.held.Write(b)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap returns the inner writer for http.ResponseController.
func (w *reply) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// verdict is an error that op found itself.
func (w *reply) verdict(r *http.Request) error {
	var reported struct {
		Code        string `json:"error"`
		Description string `json:"error_description"`
	}
	if err := json.Unmarshal(w.held.Bytes(), &reported); err != nil || reported.Code == "" {
		return fmt.Errorf("op answered %d: %.200s", w.status, w.held.Bytes())
	}
	switch reported.Code {
	case codeServerError:
		return fmt.Errorf("op answered %d: %s", w.status, reported.Description)
	case codeInvalidClient:
		return errClient(triedBasic(r.Header), "%s", reported.Description)
	}
	return errorf(reported.Code, "%s", reported.Description)
}

// outcome carries the error of one of our methods through op to its caller.
type outcome struct{ err error }

type outcomeKey struct{}

// rejectWith records the error for the reply, and returns one without details for op.
func rejectWith(ctx context.Context, err error) error {
	if o, ok := ctx.Value(outcomeKey{}).(*outcome); ok {
		o.err = err
	}
	return errRefused
}

// handleWithLibrary lets op handle the request.
func (p *Provider) handleWithLibrary(w http.ResponseWriter, r *http.Request) error {
	o := &outcome{}
	kept := &reply{ResponseWriter: w}
	p.protocol.ServeHTTP(kept, r.WithContext(context.WithValue(r.Context(), outcomeKey{}, o)))
	switch {
	case o.err != nil:
		return o.err
	case kept.failed():
		return kept.verdict(r)
	}
	return nil
}
