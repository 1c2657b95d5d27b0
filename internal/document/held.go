package document

import (
	"bytes"
	"net/http"
	"strings"
)

// HeldReply is a ResponseWriter that holds some replies back, for the caller to write them in
// another form. It passes on the others.
type HeldReply struct {
	http.ResponseWriter
	// Holds selects the replies. It may change the header fields.
	Holds func(status int, h http.Header) bool
	// Status is that of the reply that is held back; 0 for none.
	Status int
	// Body is its body.
	Body bytes.Buffer

	begun bool
}

// WriteHeader passes the status on unless the reply is held back.
func (w *HeldReply) WriteHeader(status int) {
	w.begun = true
	if w.Holds(status, w.Header()) {
		w.Status = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write passes on a part of the body, or stores it.
func (w *HeldReply) Write(b []byte) (int, error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	if w.Status != 0 {
		return w.Body.Write(b)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap returns the inner writer for http.ResponseController.
func (w *HeldReply) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// IsPlainText reports whether a reply is plain text, as http.Error and http.ServeMux write errors.
func IsPlainText(h http.Header) bool { return strings.HasPrefix(h.Get("Content-Type"), "text/plain") }
