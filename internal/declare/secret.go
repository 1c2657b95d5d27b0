package declare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/folder"
	"github.com/postern-id/postern/schemas"
)

// secretForm is the form of a reference to a secret in a file.
const secretForm = "{env: NAME} for an environment variable, or {file: PATH} for a file in the folder"

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

// Secrets are the sources of secrets that files may name.
type Secrets struct {
	// Getenv returns the values of environment variables; "" for an unset one. Nil for none.
	Getenv func(name string) string
	// Folders may contain secrets in addition to the folder of the files; absolute paths lead there.
	Folders []string
	// Private are folders that contain no secrets for files, such as that of the server's keys.
	Private []string
}

// secrets returns the edits that insert the secrets of a resource, and a fault for each
// missing one. The members of missing secrets are removed.
func (r *Resource) secrets(from Secrets) (edits map[string]any, missing, faults Faults) {
	edits = map[string]any{}
	for _, path := range r.Noun.secrets {
		at := r.Document.At(path)
		if at == nil {
			continue
		}
		edits[path] = nil
		s, err := readSource(at)
		value := ""
		switch {
		case err != nil:
		case s.File != "":
			value, err = from.readFile(r, s.File)
		default:
			value, err = from.variable(s.Env)
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

// secretVariables is how the variables start that exports name. They are for files, unlike the other
// variables of the program.
const secretVariables = "POSTERN_SECRET_"

// programVariables is how variables start that are for this program or a library in it. Files could send
// their values anywhere: a provider gets its client secret.
func programVariables() []string { return []string{"POSTERN_", "ADMIN_", "PG", "OTEL_"} }

// variable returns the value of an environment variable.
func (s Secrets) variable(name string) (string, error) {
	upper := strings.ToUpper(name) // Windows ignores case
	if !strings.HasPrefix(upper, secretVariables) && slices.ContainsFunc(programVariables(), func(p string) bool { return strings.HasPrefix(upper, p) }) {
		return "", fmt.Errorf("the environment variable %s is for the program itself; expected another name, such as %s…", name, secretVariables)
	}
	if s.Getenv == nil {
		return "", nil
	}
	return s.Getenv(name), nil
}

// readFile reads a secret from a file, without a trailing line break. The file is in the folder of the
// files, or in one of the other folders.
func (s Secrets) readFile(r *Resource, path string) (string, error) {
	folders, named := []string{r.Root}, path
	if filepath.IsAbs(path) {
		folders = s.Folders
	} else {
		path = filepath.Join(filepath.Dir(r.File), path)
	}
	err := fmt.Errorf("%s is an absolute path; expected one relative to the file, or one in a folder that --secrets names", named)
	for _, dir := range folders {
		var text []byte
		if text, err = s.readIn(dir, path); err == nil {
			value := strings.TrimRight(string(text), "\r\n")
			if value == "" {
				return "", fmt.Errorf("expected a secret in %s", named)
			}
			return value, nil
		}
	}
	return "", fmt.Errorf("the secret cannot be read: %w", err)
}

func (s Secrets) readIn(dir, path string) ([]byte, error) {
	for _, private := range s.Private {
		if folder.Contains(private, path) {
			return nil, fmt.Errorf("%s is in the folder of the server's data; expected a file elsewhere", path)
		}
	}
	return folder.ReadIn(dir, path, maxSecretSize)
}

// maxSecretSize limits a file with a secret, in bytes.
const maxSecretSize = 10_000
