package declare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// secretForm is the form of a reference to a secret in a file.
const secretForm = "{env: NAME} for an environment variable, or {file: PATH} for a file in the same folder"

// source is the source of a secret: one of the two.
type source struct {
	Env  string `json:"env,omitempty"`
	File string `json:"file,omitempty"`
}

// checkSecrets refuses secrets in clear.
func (r *Resource) checkSecrets() (faults Faults) {
	for _, path := range r.Noun.secrets {
		at := r.Document.At(path)
		if at == nil {
			continue
		}
		if _, clear := at.Text(); clear {
			faults = append(faults, r.fault(path, "expected a reference to the secret, got the secret in plain text; replace it with %s", secretForm))
			continue
		}
		if _, err := readSource(at); err != nil {
			faults = append(faults, r.fault(path, "%s", err))
		}
	}
	return faults
}

func readSource(d *schemas.Document) (s source, err error) {
	decoder := json.NewDecoder(bytes.NewReader(d.JSON()))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil || (s.Env == "") == (s.File == "") {
		return s, fmt.Errorf("expected %s", secretForm)
	}
	return s, nil
}

// secrets returns the edits that insert the secrets of a resource, and a fault for each
// missing one. The members of missing secrets are removed.
func (r *Resource) secrets(getenv func(string) string) (edits map[string]any, missing, faults Faults) {
	edits = map[string]any{}
	for _, path := range r.Noun.secrets {
		at := r.Document.At(path)
		if at == nil {
			continue
		}
		edits[path] = nil
		s, err := readSource(at)
		value := getenv(s.Env)
		if err == nil && s.File != "" {
			value, err = readSecret(filepath.Dir(r.File), s.File)
		}
		switch {
		case err != nil:
			faults = append(faults, r.fault(path, "%s", err))
		case value == "":
			missing = append(missing, r.fault(path, "the environment variable %s is not set; set it to the secret of the %s", s.Env, r.Name()))
		default:
			edits[path] = value
		}
	}
	return edits, missing, faults
}

// readSecret reads a secret from a file, without a trailing line break.
func readSecret(dir, path string) (string, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("the secret cannot be read: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxSecretSize+1))
	if err != nil {
		return "", fmt.Errorf("the secret cannot be read: %w", err)
	}
	value := strings.TrimRight(string(text), "\r\n")
	if value == "" || len(text) > maxSecretSize {
		return "", fmt.Errorf("expected a secret in %s, of at most %d bytes", path, maxSecretSize)
	}
	return value, nil
}

// maxSecretSize limits a file with a secret, in bytes.
const maxSecretSize = 10_000
