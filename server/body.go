package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Maximum lengths of bodies, in bytes. Passkeys with attestation certificates need the larger of
// the first two. The others are for resources: a flow has up to 2,000 nodes, a group or a role up
// to 10,000 members.
const (
	smallBody    = 64 << 10
	largeBody    = 256 << 10
	resourceBody = 1 << 20
	membersBody  = 2 << 20
)

// checked is a request body with rules beyond the types of its members.
type checked interface {
	// check reports all members that are missing, invalid or inconsistent.
	check() []schemas.Problem
}

// readJSON decodes a request body of at most limit bytes (see schemas.Document.Decode) and checks
// it. The error lists all faults; the readable members are decoded nevertheless.
func readJSON(w http.ResponseWriter, r *http.Request, limit int64, into checked) error {
	body, _, err := readBody(w, r, limit, jsonType)
	if err != nil {
		return err
	}
	return decode(body, into)
}

// readBody reads a body of at most limit bytes, and returns its media type.
//
// The media type must be one of types. A page of another origin can send a form or plain text
// without a preflight request (Fetch §2.2.2), but JSON and YAML only if CORS allows it.
func readBody(w http.ResponseWriter, r *http.Request, limit int64, types ...string) ([]byte, string, error) {
	kind, err := mediaType(r.Header.Get("Content-Type"), types)
	if err != nil {
		return nil, "", err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, "", schemas.Errorf(schemas.TooLarge, codeTooLarge, "the request body is too large: expected at most %d bytes", limit)
	case err != nil:
		return nil, "", schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "the request body broke off: %w", err)
	}
	return body, kind, nil
}

func decode(body []byte, into checked) error {
	document, problems := schemas.ParseJSON(body)
	if document == nil { // two readers could disagree about its members
		return invalidBody(problems...)
	}
	// A member of the wrong type counts as sent: encoding/json sets a pointer before it finds that
	// the value does not fit.
	problems = document.DecodeLoosely(nil, into)
	problems = slices.Concat(problems, schemas.WithoutDuplicates(into.check(), problems))
	if len(problems) == 0 {
		return nil
	}
	return invalidBody(document.Locate(problems)...)
}

// Media types of bodies: RFC 8259 §11, RFC 9512 §2.1 and RFC 7396 §4.
const (
	jsonType       = "application/json"
	yamlType       = "application/yaml"
	mergePatchType = "application/merge-patch+json"
)

// mediaType returns the one of the types that a Content-Type field names.
func mediaType(field string, types []string) (string, error) {
	expected, came := strings.Join(types, " or "), fmt.Sprintf("got %.100q", field)
	if field == "" {
		came = "got none"
	}
	kind, params, err := mime.ParseMediaType(field)
	if err != nil || !slices.Contains(types, kind) {
		return "", schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "expected Content-Type: %s, %s", expected, came)
	}
	if charset := params["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return "", schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "expected Content-Type: %s in UTF-8, %s", expected, came)
	}
	return kind, nil
}

// writeJSON writes a reply. An error means that nothing was written.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	text, err := encodeJSON(v)
	if err != nil {
		return fmt.Errorf("write the reply: %w", err)
	}
	writeBody(w, status, jsonType, text)
	return nil
}

// encodeJSON is json.Marshal without escaping & and <. Escaping is for JSON in HTML; replies
// declare their type and forbid sniffing.
func encodeJSON(v any) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return text.Bytes(), err
}

func writeBody(w http.ResponseWriter, status int, kind string, text []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // fails only if the client has gone
}
