package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// reply is what op writes to. What is well goes out; what is not is held back,
// for the server to answer with.
type reply struct {
	http.ResponseWriter
	status int
	held   bytes.Buffer
}

func (w *reply) failed() bool { return w.status >= http.StatusBadRequest }

// WriteHeader notes the status and lets that of a success out.
func (w *reply) WriteHeader(status int) {
	w.status = status
	if !w.failed() {
		w.ResponseWriter.WriteHeader(status)
	}
}

// Write lets the body of a success out.
func (w *reply) Write(b []byte) (int, error) {
	if w.failed() {
		return w.held.Write(b)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap gives http.ResponseController the writer below.
func (w *reply) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// verdict is the error that op found by itself.
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

// outcome carries the error of one of our methods past op to whoever called op.
type outcome struct{ err error }

type outcomeKey struct{}

// rejectWith notes the error that the request is to be answered with, and returns
// one for op, which says nothing.
func rejectWith(ctx context.Context, err error) error {
	if o, ok := ctx.Value(outcomeKey{}).(*outcome); ok {
		o.err = err
	}
	return errRefused
}

// handleWithLibrary has op handle the request.
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
