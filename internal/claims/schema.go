package claims

import (
	"fmt"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Option is a member of a claim that configures its source.
type Option struct {
	Name, Title, Doc string
	// Schema is the JSON Schema of the member without its title and description.
	Schema string
}

// Options are all options of all sources.
func Options() []Option {
	const (
		text    = `"type": "string", "minLength": 1, "maxLength": 200`
		pattern = `"type": "string", "minLength": 1, "maxLength": 2000`
	)
	return []Option{
		{"attribute", "Attribute", "The name of the attribute.", text},
		{"resourceServer", "Resource server", "The handle of the resource server to which the roles or permissions are limited.", text},
		{"ancestor", "Below the group", "The name or id of a group: only the groups nested in it.", text},
		{"direct", "Direct members only", "Whether only the groups are listed that the user is a direct member of, and not those that contain them.", `"type": "boolean"`},
		{"filter", "Filter", "A regular expression: only the names that match it as a whole.", pattern},
		{"exclude", "Leave out", "A regular expression: not the names that match it as a whole.", pattern},
		{"prefix", "With prefix", "Only the names that begin with it.", text},
		{"removePrefix", "Remove the prefix", "Whether the names are without the prefix.", `"type": "boolean"`},
		{"remove", "Remove", "A regular expression: what matches it is removed from each name, such as .*/ for everything before the last slash.", pattern},
		{"addPrefix", "Add a prefix", "A text before each name, such as oidc:.", text},
		{"format", "Format", "The form of the organization unit. Default: id.", `"enum": ["id", "handle", "name", "path"]`},
		{"value", "Value", "The value. The type of the claim makes it a number, a boolean, a list or an object.", `"type": "string", "minLength": 1, "maxLength": 2000`},
		{"variable", "Value of the run", "The name of the value in expressions of the flow, such as inputs.department or replies.risk.level.", text},
		{"expression", "Expression", "An expression in CEL.", `"type": "string", "minLength": 1, "maxLength": 2000`},
	}
}

// Definition returns the JSON Schema of a claim: the definition claim in the schema of applications.
func Definition() string {
	var b strings.Builder
	b.WriteString(`{"type": "object", "required": ["source"], "additionalProperties": false, "properties": {
"name": {"title": "Name", "description": "The name of the claim. Dots nest it, as in realm_access.roles, except in a URL.", "type": "string", "minLength": 1, "maxLength": 500},
"path": {"title": "Path", "description": "The names of all levels instead of the name, for names with dots.", "type": "array", "minItems": 1, "maxItems": 5, "items": {"type": "string", "minLength": 1, "maxLength": 200}},
`)
	fmt.Fprintf(&b, `"source": {"title": "Source", "description": %s, "enum": [%s]},`+"\n", quote("Where the value comes from: "+list(Sources(), func(s Source) (string, string) { return s.Name, s.Doc })+"."), names(Sources(), func(s Source) string { return s.Name }))
	for _, o := range Options() {
		fmt.Fprintf(&b, `%s: {"title": %s, "description": %s, %s},`+"\n", quote(o.Name), quote(o.Title), quote(o.Doc+" For the sources "+strings.Join(sourcesWith(o.Name), ", ")+"."), o.Schema)
	}
	fmt.Fprintf(&b, `"type": {"title": "Type", "description": "The type of the value. Default: that of the source. A list becomes a string with the separator; a claim that cannot have the type is left out.", "enum": [%s]},`+"\n", names(typeNames(), func(t string) string { return t }))
	b.WriteString(`"separator": {"title": "Separator", "description": "What separates the items of a list that becomes a string. Default: a comma.", "type": "string", "minLength": 1, "maxLength": 20},
"first": {"title": "First item", "description": "Whether a list is reduced to its first item, before the type is applied.", "type": "boolean"},
"omitEmpty": {"title": "Leave out an empty list", "description": "Whether the claim is left out if its list has no items.", "type": "boolean"},
"scopes": {"title": "Scopes", "description": "One of them must be granted: standard scopes, those of scopeClaims, or permissions. Default: none is needed.", "type": "array", "minItems": 1, "maxItems": 20, "uniqueItems": true, "items": {"type": "string", "minLength": 1, "maxLength": 200}},
`)
	fmt.Fprintf(&b, `"targets": {"title": "Targets", "description": %s, "type": "array", "minItems": 1, "uniqueItems": true, "items": {"enum": [%s]}},
"authoritative": {"title": "Authoritative", "description": "Whether users must not be able to set the value. A flow, user type or application with which they could is rejected. An address has the value only once it is verified.", "type": "boolean"}`+"\n}}",
		quote("What contains the claim: "+list(Targets(), func(t Target) (string, string) { return t.Name, t.Doc })+". Default: "+strings.Join(defaultTargets(), " and ")+"."), names(Targets(), func(t Target) string { return t.Name }))
	return b.String()
}

// list describes items in words: name (what it is).
func list[T any](items []T, describe func(T) (name, doc string)) string {
	words := make([]string, len(items))
	for i, item := range items {
		name, doc := describe(item)
		words[i] = name + " (" + strings.ReplaceAll(doc, "`", "") + ")"
	}
	return strings.Join(words, ", ")
}

func names[T any](items []T, name func(T) string) string {
	quoted := make([]string, len(items))
	for i, item := range items {
		quoted[i] = quote(name(item))
	}
	return strings.Join(quoted, ", ")
}

// quote returns a text as JSON. The texts of this package have no characters that differ from Go's.
func quote(text string) string { return fmt.Sprintf("%q", text) }

// Tables returns the tables of docs/claims.md: of the sources, the targets, and the scopes.
func Tables() map[string]string {
	sources, targets, scopes := "| source | value | members |\n|---|---|---|\n", "| target | what it is |\n|---|---|\n", "| scope | claims |\n|---|---|\n"
	for _, s := range Sources() {
		sources += fmt.Sprintf("| `%s` | %s | %s |\n", s.Name, s.Doc, code(s.Options))
	}
	for _, t := range Targets() {
		targets += fmt.Sprintf("| `%s` | %s |\n", t.Name, t.Doc)
	}
	for _, s := range schemas.AllIdentityScopes() {
		if len(s.Claims) > 0 {
			scopes += fmt.Sprintf("| `%s` | %s |\n", s.Name, code(s.Claims))
		}
	}
	return map[string]string{"sources": sources, "targets": targets, "scopes": scopes}
}

func code(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = "`" + word + "`"
	}
	return strings.Join(quoted, ", ")
}
