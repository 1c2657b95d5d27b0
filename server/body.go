package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// How long bodies may be, in bytes. Passkeys with attestation certificates need
// the larger one.
const (
	smallBody = 64 << 10
	largeBody = 256 << 10
)

// readJSON decodes a request body of at most limit bytes strictly: see
// schemas.Strict.
//
// The media type must be JSON. A page of a foreign origin can send a form or
// plain text without asking (Fetch §2.2.2); JSON it may send only if CORS lets
// it.
func readJSON(w http.ResponseWriter, r *http.Request, limit int64, into any) error {
	if err := checkMediaType(r.Header.Get("Content-Type")); err != nil {
		return err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return schemas.Errorf(schemas.TooLarge, codeTooLarge, "the request body is too large: expected at most %d bytes", limit)
	case err != nil:
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "the request body broke off: %w", err)
	}
	return schemas.Strict(body, into)
}

func checkMediaType(field string) error {
	came := fmt.Sprintf("got %.100q", field)
	if field == "" {
		came = "got none"
	}
	kind, params, err := mime.ParseMediaType(field)
	if err != nil || kind != "application/json" {
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "expected Content-Type: application/json, %s", came)
	}
	if charset := params["charset"]; charset != "" && !strings.EqualFold(charset, "utf-8") {
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "expected Content-Type: application/json in UTF-8, %s", came)
	}
	return nil
}

// invalid is the error of a body whose members do not go together.
func invalid(problems ...schemas.Problem) error {
	return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "the request body is not as expected: %s", problems[0]).WithProblems(problems)
}

// missing is the problem of a member that must be there.
func missing(member, about string) schemas.Problem {
	return schemas.Problem{Path: member, Message: "required member " + strconv.Quote(member) + " is missing: " + about}
}

// writeJSON writes a reply. An error means that nothing was written.
func writeJSON(w http.ResponseWriter, status int, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write the reply: %w", err)
	}
	text = append(text, '\n')
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // fails when the client has gone, and then nobody listens
	return nil
}
