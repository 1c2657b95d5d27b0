package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// readDocument reads a resource, or a part of one, in one of the media types. A syntax error has
// the code.
func readDocument(w http.ResponseWriter, r *http.Request, limit int64, code string, types ...string) (*schemas.Document, error) {
	text, kind, err := readBody(w, r, limit, types...)
	if err != nil {
		return nil, err
	}
	parse := schemas.ParseJSON
	if kind == yamlType {
		parse = schemas.ParseYAML
	}
	d, problems := parse(text)
	if len(problems) > 0 {
		return nil, schemas.Errorf(schemas.Invalid, code, "the request body is invalid: %s", problems[0]).WithProblems(problems)
	}
	return d, nil
}

// writeItem writes a resource: in YAML if the client prefers it, otherwise in JSON. Both have the
// same entity tag, so that a client can read one form and write the other; neither is cached.
func writeItem(w http.ResponseWriter, r *http.Request, status int, item *directory.Item) error {
	h := w.Header()
	h.Add("Vary", "Accept")
	h.Set("ETag", item.ETag)
	if !prefersYAML(r.Header.Values("Accept")) {
		return writeJSON(w, status, item.Value)
	}
	text, err := json.Marshal(item.Value)
	if err == nil {
		text, err = schemas.ToYAML(text)
	}
	if err != nil {
		h.Del("ETag")
		return fmt.Errorf("write the reply: %w", err)
	}
	writeBody(w, status, yamlType, text)
	return nil
}

// prefersYAML reports whether a client prefers YAML to JSON (RFC 9110 §12.5.1): it names YAML, and
// gives JSON less weight or does not name it.
func prefersYAML(accept []string) bool {
	yaml, json, any := -1.0, -1.0, -1.0
	for part := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		kind, params, _ := strings.Cut(part, ";")
		switch strings.ToLower(strings.TrimSpace(kind)) {
		case yamlType:
			yaml = qualityValue(params)
		case jsonType:
			json = qualityValue(params)
		case "*/*", "application/*":
			any = max(any, qualityValue(params))
		}
	}
	if json >= 0 {
		return yaml > json
	}
	return yaml > 0 && yaml >= any
}

// qualityValue returns the q of a media range; 1 by default.
func qualityValue(params string) float64 {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(param, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		if q, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil && 0 <= q && q <= 1 {
			return q
		}
	}
	return 1
}
