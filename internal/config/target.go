package config

import (
	"cmp"
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

// The timeout of requests to a target by default, and at most. A user waits for the reply.
const (
	defaultTargetTimeout = 3 * time.Second
	maxTargetTimeout     = 10 * time.Second
)

// readTargets reads the targets, which the schema has accepted, and checks each by itself.
func readTargets(key string, value any) (map[string]Target, []schemas.Problem) {
	var given map[string]struct {
		Target
		Timeout Duration `json:"timeout"` // as text
	}
	if text, err := json.Marshal(value); err != nil || json.Unmarshal(text, &given) != nil {
		return nil, []schemas.Problem{{Path: key, Message: "expected targets by name; timeouts are durations such as 3s"}}
	}
	targets := map[string]Target{}
	var problems []schemas.Problem
	for _, name := range slices.Sorted(maps.Keys(given)) {
		t := given[name].Target
		t.Timeout = cmp.Or(time.Duration(given[name].Timeout), defaultTargetTimeout)
		for _, v := range t.violations() {
			if v.exists {
				problems = append(problems, schemas.Problem{Path: schemas.JoinPath(schemas.MemberPath(key, name), v.key), Message: v.message})
			}
		}
		targets[name] = t
	}
	return targets, problems
}

// violations returns what may be wrong with each member.
func (t Target) violations() []violation {
	urlFault := targetFault(t.URL)
	_, secretFault := ParseSigningSecret(t.Secret)
	return []violation{
		{"url", urlFault != "", urlFault},
		{"timeout", t.Timeout > maxTargetTimeout, fmt.Sprintf("expected at most %v, got %v: a user waits for the reply", maxTargetTimeout, t.Timeout)},
		{"secret", t.Secret != "" && secretFault != nil, fmt.Sprint(secretFault)},
		{"secret_file", t.Secret != "" && t.SecretFile != "", "secret is already set: remove one of the two"},
		{"authorization", !fieldValue(t.Authorization), "expected the value of an HTTP header field: one line of printable ASCII, such as Bearer and a token"},
		{"authorization_file", t.Authorization != "" && t.AuthorizationFile != "", "authorization is already set: remove one of the two"},
	}
}

// targetFault describes the fault of the URL of a target, "" if it is valid. It does not show the
// URL, which may contain a password.
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

// ParseSigningSecret returns the key of a secret in the form of Standard Webhooks: whsec_ and 24 to
// 64 bytes in base64. The error does not show it.
func ParseSigningSecret(text string) ([]byte, error) {
	const least, most = 24, 64
	encoded, ok := strings.CutPrefix(text, "whsec_")
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(key) < least || len(key) > most {
		return nil, fmt.Errorf("expected whsec_ and %d to %d random bytes in base64 (Standard Webhooks): `echo whsec_$(openssl rand -base64 32)` generates one", least, most)
	}
	return key, nil
}

// fieldValue reports whether a text may be the value of a header field: a line break in it
// would add further fields (CWE-113).
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
