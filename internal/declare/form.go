package declare

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// formatter converts resources to their form in files.
type formatter struct {
	target  *Directory
	cache   *resourceCache
	derived map[string][]string // by plural: derived members and times
	named   map[string]string   // used variables of secrets and their owners
}

func newFormatter(t *Directory, s *resourceCache) *formatter {
	return &formatter{t, s, map[string][]string{}, map[string]string{}}
}

// format returns a resource as a file contains it: without derived members, with names for
// ids, and with a reference for its secret.
func (f *formatter) format(ctx context.Context, n Noun, d *schemas.Document) (*schemas.Document, error) {
	edits := map[string]any{}
	for _, m := range n.nameReferences(d) {
		name, err := f.name(ctx, m)
		if err != nil {
			return nil, err
		}
		edits[m.path] = name
	}
	if path, owner := secretOf(n, d); path != "" {
		edits[path] = source{Env: f.variable(n, owner)}
	}
	return f.withoutDerived(n, d).Edited(edits), nil
}

// withoutDerived returns a resource without derived members and secrets.
func (f *formatter) withoutDerived(n Noun, d *schemas.Document) *schemas.Document {
	edits := map[string]any{}
	for _, member := range f.derivedOf(n) {
		edits[member] = nil
	}
	for _, path := range n.secrets {
		edits[path] = nil
	}
	if n.Plural == "applications" {
		edits["clientId"] = nil // inboundAuthConfig contains it
	}
	return d.Edited(edits)
}

// derivedOf lists the members that the noun's schema marks readOnly.
func (f *formatter) derivedOf(n Noun) []string {
	if known, ok := f.derived[n.Plural]; ok {
		return known
	}
	var schema struct {
		Properties map[string]struct {
			ReadOnly bool `json:"readOnly"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(f.target.schema(n).Raw(), &schema); err != nil {
		panic(fmt.Sprintf("declare: the schema of %s: %v", n.Plural, err)) // the schema is embedded
	}
	list := []string{}
	for name, member := range schema.Properties {
		if member.ReadOnly {
			list = append(list, name)
		}
	}
	f.derived[n.Plural] = list
	return list
}

// name returns how a file refers to a resource: by name if that finds it again, otherwise
// by id.
func (f *formatter) name(ctx context.Context, m nameReference) (string, error) {
	e, err := f.cache.get(ctx, m.noun, m.value)
	if err != nil || e == nil {
		return m.value, err
	}
	name := m.noun.label(e.Document)
	if name == "" || isID(name) {
		return m.value, nil
	}
	return name, nil
}

// secretOf returns the path of a resource's hidden secret, and the owner; "" if it has
// none.
func secretOf(n Noun, d *schemas.Document) (path, owner string) {
	method := ""
	switch n.Plural {
	case "applications":
		path, owner, method = oauthSecret, d.TextAt("clientId"), d.TextAt("inboundAuthConfig[0].config.tokenEndpointAuthMethod")
	case "identityProviders":
		path, owner, method = providerSecret, d.TextAt("handle"), d.TextAt("tokenEndpointAuthMethod")
	}
	either := d.TextAt("inboundAuthConfig[0].type") != "" && method == schemas.AuthMethodEither
	if !either && method != schemas.AuthMethodBasic && method != schemas.AuthMethodPost {
		return "", ""
	}
	return path, owner
}

// variable returns the name of the environment variable for the secret of a client or an
// identity provider.
func (f *formatter) variable(n Noun, owner string) string {
	name, of := "POSTERN_SECRET_", n.Plural+" "+owner
	if n.Plural == "identityProviders" {
		name += "IDENTITY_PROVIDER_"
	}
	name += strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z':
			return c - 'a' + 'A'
		case 'A' <= c && c <= 'Z' || '0' <= c && c <= '9':
			return c
		}
		return '_'
	}, owner)
	for f.named[name] != "" && f.named[name] != of { // "a-b" conflicts with "a_b"
		name += "_"
	}
	f.named[name] = of
	return name
}

// isSame reports whether two resources, both with ids, are equal. It may return false for
// equal ones.
func (f *formatter) isSame(n Noun, was, is *schemas.Document) bool {
	if n.Plural == "applications" && is.At("clientId") != nil {
		return false // in its second place, where it may differ
	}
	return reflect.DeepEqual(canonical(f.withoutDerived(n, was)), canonical(f.withoutDerived(n, is)))
}

// canonical returns the value of a document, with principals sorted.
func canonical(d *schemas.Document) any {
	v := value(d)
	top, _ := v.(map[string]any)
	for _, member := range []string{"members", "assignments"} {
		if list, ok := top[member].([]any); ok {
			slices.SortFunc(list, func(a, b any) int { return cmp.Compare(text(a), text(b)) })
		}
	}
	return v
}

// value returns the Go value of a document, with exact numbers.
func value(d *schemas.Document) (v any) {
	decoder := json.NewDecoder(bytes.NewReader(d.JSON()))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		panic("declare: a document that is no JSON: " + err.Error()) // it was read as JSON
	}
	return v
}
