package config

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
)

// How long a request to a target may take, where it does not say and at most. A person
// waits for it.
const (
	defaultTargetTimeout = Duration(3 * time.Second)
	maxTargetTimeout     = Duration(10 * time.Second)
)

// complete gives targets the timeout that they leave out.
func (h *HTTP) complete() {
	for name, t := range h.Targets {
		if t.Timeout == 0 {
			t.Timeout = defaultTargetTimeout
		}
		h.Targets[name] = t
	}
}

// checkTargets checks each target by itself. The schema has accepted them.
func checkTargets(key string, value any) []schemas.Problem {
	var targets map[string]Target
	if text, err := json.Marshal(value); err != nil || json.Unmarshal(text, &targets) != nil {
		return []schemas.Problem{{Path: key, Message: "expected targets by name; timeouts are durations such as 3s"}}
	}
	var problems []schemas.Problem
	for _, name := range slices.Sorted(maps.Keys(targets)) {
		for member, fault := range targets[name].faults() {
			if fault != "" {
				problems = append(problems, schemas.Problem{Path: schemas.JoinPath(schemas.MemberPath(key, name), member), Message: fault})
			}
		}
	}
	slices.SortFunc(problems, func(a, b schemas.Problem) int { return strings.Compare(a.Path, b.Path) })
	return problems
}

// faults maps members of a target to what is wrong with them.
func (t Target) faults() map[string]string {
	found := map[string]string{"url": targetFault(t.URL)}
	if t.Timeout > maxTargetTimeout {
		found["timeout"] = fmt.Sprintf("expected at most %v, got %v: a user waits for the reply", maxTargetTimeout, t.Timeout)
	}
	if _, err := ParseSigningSecret(t.Secret); t.Secret != "" && err != nil {
		found["secret"] = err.Error()
	}
	if t.Secret != "" && t.SecretFile != "" {
		found["secret_file"] = "secret is already set: remove one of the two"
	}
	if !fieldValue(t.Authorization) {
		found["authorization"] = "expected the value of an HTTP header field: one line of printable ASCII, such as Bearer and a token"
	}
	if t.Authorization != "" && t.AuthorizationFile != "" {
		found["authorization_file"] = "authorization is already set: remove one of the two"
	}
	return found
}

// targetFault says what is wrong with the URL of a target, "" if nothing is. It shows
// none of it: some write a password into a URL.
func targetFault(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || !webScheme(u.Scheme) || !validHost(u):
		return "expected a URL such as https://crm.example.com/hooks"
	case u.User != nil:
		return "expected a URL without a user and a password: use authorization_file"
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#"):
		return "expected a URL without query and fragment: a flow sets the query with its path"
	case u.RawPath != "" || u.Path != "" && path.Clean(u.Path) != u.Path, strings.HasSuffix(u.Path, "/"):
		return "expected a path without a trailing slash, empty parts, . and .., and encoded slashes"
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return "expected https: plain http is only for a service on this machine"
	}
	return ""
}

// ParseSigningSecret returns the key of a secret as Standard Webhooks writes it:
// whsec_ and 24 to 64 bytes in base64. The error does not show it.
func ParseSigningSecret(text string) ([]byte, error) {
	const least, most = 24, 64
	encoded, ok := strings.CutPrefix(text, "whsec_")
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(key) < least || len(key) > most {
		return nil, fmt.Errorf("expected whsec_ and %d to %d random bytes in base64 (Standard Webhooks): `echo whsec_$(openssl rand -base64 32)` generates one", least, most)
	}
	return key, nil
}

// fieldValue reports whether a text may be the value of a header field: who could put
// a line break into it would add fields of their own (CWE-113).
func fieldValue(text string) bool {
	return strings.Trim(text, " ") == text && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

// FieldValue checks the value of a header field that was read from a file. The error
// does not show it.
func FieldValue(text string) error {
	if text == "" || !fieldValue(text) {
		return fmt.Errorf("expected one line of printable ASCII, such as Bearer and a token")
	}
	return nil
}
