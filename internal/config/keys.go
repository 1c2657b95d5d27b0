package config

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// key is a key of the configuration.
type key struct {
	path     string // passkey.allowed_origins
	variable string // POSTERN_PASSKEY_ALLOWED_ORIGINS
	typ      string // the JSON Schema type of its value, or "duration"
	standard any    // its default, nil if that depends on other keys
	member   member // the schema of its value
}

// member is the part of a JSON Schema that describes keys.
type member struct {
	Type       string            `json:"type"`
	Ref        string            `json:"$ref"`
	Default    any               `json:"default"`
	Properties map[string]member `json:"properties"`

	Description          string          `json:"description"`
	WriteOnly            bool            `json:"writeOnly"` // a secret
	AdditionalProperties json.RawMessage `json:"additionalProperties"`

	Enum    []any        `json:"enum"`
	Minimum *json.Number `json:"minimum"`
	Maximum *json.Number `json:"maximum"`
}

// keys returns all keys, from the schema, sorted by path.
var keys = sync.OnceValue(func() []key {
	var root member
	if err := json.Unmarshal([]byte(schemaText), &root); err != nil {
		panic(err)
	}
	found := keysBelow("", root)
	slices.SortFunc(found, func(a, b key) int { return strings.Compare(a.path, b.path) })
	return found
})

func keysBelow(path string, m member) []key {
	if len(m.Properties) == 0 {
		return []key{{path: path, variable: variableOf(path), typ: typeOf(m), standard: m.Default, member: m}}
	}
	var found []key
	for name, below := range m.Properties {
		found = append(found, keysBelow(strings.TrimPrefix(path+"."+name, "."), below)...)
	}
	return found
}

// typeOf returns the type of a member. A member without a type is an enum of strings.
func typeOf(m member) string {
	switch {
	case m.Ref != "":
		return strings.TrimPrefix(m.Ref, "#/$defs/")
	case m.Type == "":
		return "string"
	}
	return m.Type
}

// defaults returns the fixed defaults of the keys.
func defaults() map[string]any {
	values := make(map[string]any)
	for _, k := range keys() {
		if k.standard != nil {
			values[k.path], _ = readValue(k, k.standard)
		}
	}
	return values
}

// prefix is the prefix of all environment variables of keys.
const prefix = "POSTERN_"

// variableOf returns the environment variable of a key.
func variableOf(path string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

// isOther reports whether a variable with the prefix is not a key: a secret, which does not belong
// in a shared file, including one that resource files refer to; or a setting of the store tests.
func isOther(name string) bool {
	return strings.HasPrefix(name, "POSTERN_SECRET_") || slices.Contains(otherVariables(), name)
}

// keyVariable is the environment variable that may hold the key-encryption keys.
const keyVariable = "POSTERN_KEY_ENCRYPTION_KEY"

func otherVariables() []string {
	return []string{keyVariable, "POSTERN_TEST_POSTGRES_DSN", "POSTERN_STORETEST_DRIVER", "POSTERN_STORETEST_DSN"}
}
