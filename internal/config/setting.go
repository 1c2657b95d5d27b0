package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Source is what determines the value of a key.
type Source string

// The sources. A later one takes precedence over an earlier one.
const (
	FromDefault     Source = "default"
	FromFile        Source = "file"
	FromEnvironment Source = "environment"
)

// Setting is the value of a key that is in effect. Secrets are replaced by the text "set".
type Setting struct {
	Key         string `json:"key"`      // server.port
	Variable    string `json:"variable"` // POSTERN_SERVER_PORT
	Value       any    `json:"value"`    // null for none
	Source      Source `json:"source"`
	Description string `json:"description"`
}

// Settings returns the settings of all keys, sorted by key.
func (c *Config) Settings() []Setting {
	var list []Setting
	for _, k := range keys() {
		s := Setting{Key: k.path, Variable: k.variable, Source: FromDefault, Description: k.member.Description}
		if source, configured := c.Sources[k.path]; configured {
			s.Source = source
		}
		s.Value = k.member.withoutSecrets(plain(c.valueOf(k.path)))
		if k.path == "database.dsn" && c.Database.Driver != "sqlite" {
			s.Value = secretSet // it can contain a password
		}
		list = append(list, s)
	}
	return list
}

// addSources records what configures the keys of a layer.
func (c *Config) addSources(source Source, values map[string]any) {
	for path := range values {
		if c.Sources == nil {
			c.Sources = map[string]Source{}
		}
		c.Sources[path] = source
	}
}

// secretSet stands for a secret.
const secretSet = "set"

// valueOf returns the value of a key: the member with these json tags.
func (c *Config) valueOf(path string) reflect.Value {
	at := reflect.ValueOf(c).Elem()
	for name := range strings.SplitSeq(path, ".") {
		member := memberOf(at, name)
		if !member.IsValid() {
			panic(fmt.Sprintf("config: %s has no member %s", at.Type(), name)) // the schema and the types disagree
		}
		at = member
	}
	return at
}

// memberOf returns a member of a struct, or of one that it embeds; the zero Value if there is none.
func memberOf(of reflect.Value, name string) reflect.Value {
	for i := range of.NumField() {
		f := of.Type().Field(i)
		if f.Anonymous {
			if member := memberOf(of.Field(i), name); member.IsValid() {
				return member
			}
		} else if nameOf(f) == name {
			return of.Field(i)
		}
	}
	return reflect.Value{}
}

// nameOf returns the name of a member in the configuration.
func nameOf(f reflect.StructField) string { return cmp.Or(f.Tag.Get("json"), strings.ToLower(f.Name)) }

// plain converts a value to JSON types, with durations as text and nil for an empty value of a text or
// a list.
func plain(v reflect.Value) any {
	if text, ok := v.Interface().(fmt.Stringer); ok { // a duration or a network, not its members
		return text.String()
	}
	switch v.Kind() {
	case reflect.Struct:
		members := map[string]any{}
		for i := range v.NumField() {
			members[nameOf(v.Type().Field(i))] = plain(v.Field(i))
		}
		return members
	case reflect.Map:
		members := map[string]any{}
		for _, key := range v.MapKeys() {
			members[key.String()] = plain(v.MapIndex(key))
		}
		return members
	case reflect.Slice:
		items := make([]any, v.Len())
		for i := range items {
			items[i] = plain(v.Index(i))
		}
		return items
	}
	if v.Kind() == reflect.String && v.Len() == 0 {
		return nil
	}
	return v.Interface()
}

// withoutSecrets replaces the values that the schema marks as writeOnly.
func (m member) withoutSecrets(value any) any {
	if m.WriteOnly && value != nil {
		return secretSet
	}
	members, ok := value.(map[string]any)
	if !ok {
		return value
	}
	var other member
	_ = json.Unmarshal(m.AdditionalProperties, &other) // false is no schema, and has no members
	for name := range members {
		below, known := m.Properties[name]
		if !known {
			below = other
		}
		members[name] = below.withoutSecrets(members[name])
	}
	return members
}
