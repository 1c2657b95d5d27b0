package declare

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// formatter converts resources to their form in files.
type formatter struct {
	target  *Directory
	cache   *resourceCache
	omitted map[string]map[string]any // by plural: edits that remove derived members, times and secrets
	named   map[string]string         // used variables of secrets and their owners
}

func newFormatter(t *Directory, c *resourceCache) *formatter {
	f := &formatter{t, c, map[string]map[string]any{}, map[string]string{}}
	for _, n := range Nouns() {
		edits := map[string]any{}
		for _, path := range append(t.readOnlyMembers(n), n.secrets...) {
			edits[path] = nil
		}
		f.omitted[n.Plural] = edits
	}
	f.omitted["applications"]["clientId"] = nil // inboundAuthConfig contains it
	return f
}

// readAll reads all resources of a noun, oldest first.
func (f *formatter) readAll(ctx context.Context, n Noun) ([]*Entry, error) {
	all, err := f.target.list(ctx, n, directory.Query{Limit: math.MaxInt32})
	if err == nil {
		f.cache.fill(n, all)
	}
	return all, err
}

// format returns a resource as a file contains it: without derived members, with names for
// ids, and with a reference for its secret.
func (f *formatter) format(ctx context.Context, n Noun, d *schemas.Document) (*schemas.Document, error) {
	edits := maps.Clone(f.omitted[n.Plural])
	for _, m := range n.nameReferences(d) {
		name, err := f.name(ctx, m)
		if err != nil {
			return nil, err
		}
		edits[m.path] = name
	}
	if path, variable := f.secretOf(n, d); path != "" {
		edits[path] = source{Env: variable}
	}
	return d.Edited(edits), nil
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

// secretOf returns the path of a resource's hidden secret and the environment variable that
// a file names for it; "" if it has none.
func (f *formatter) secretOf(n Noun, d *schemas.Document) (path, variable string) {
	var owner, method string
	switch n.Plural {
	case "applications":
		path, variable, owner, method = oauthSecret, "POSTERN_SECRET_", d.TextAt("clientId"), d.TextAt("inboundAuthConfig[0].config.tokenEndpointAuthMethod")
	case "identityProviders":
		path, variable, owner, method = providerSecret, "POSTERN_SECRET_IDENTITY_PROVIDER_", d.TextAt("handle"), d.TextAt("tokenEndpointAuthMethod")
	}
	either := d.TextAt("inboundAuthConfig[0].type") != "" && method == schemas.AuthMethodEither
	if !either && method != schemas.AuthMethodBasic && method != schemas.AuthMethodPost {
		return "", ""
	}
	variable += strings.ToUpper(notInVariable.ReplaceAllString(owner, "_"))
	of := n.Plural + " " + owner
	for f.named[variable] != "" && f.named[variable] != of { // "a-b" conflicts with "a_b"
		variable += "_"
	}
	f.named[variable] = of
	return path, variable
}

// notInVariable matches the characters of names that environment variables replace.
var notInVariable = regexp.MustCompile(`[^A-Za-z0-9]`)

// isSame reports whether two resources, both with ids, are equal. It may return false for
// equal ones.
func (f *formatter) isSame(n Noun, was, is *schemas.Document) bool {
	if n.Plural == "applications" && is.At("clientId") != nil {
		return false // in its second place, where it may differ
	}
	omitted := f.omitted[n.Plural]
	return reflect.DeepEqual(n.canonical(was.Edited(omitted)), n.canonical(is.Edited(omitted)))
}

// canonical returns the value of a document, with principals sorted.
func (n Noun) canonical(d *schemas.Document) any {
	v := value(d)
	if top, ok := v.(map[string]any); ok {
		if list, ok := top[n.principals].([]any); ok {
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
		panic("declare: a document that is not JSON: " + err.Error()) // it was read as JSON
	}
	return v
}
