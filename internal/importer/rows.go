package importer

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// rows are the records of a list in JSON. A malformed one is kept apart, so that it does not keep the others
// back.
type rows[T any] struct {
	List []T
	bad  []badRow
}

// badRow is a record that cannot be read.
type badRow struct {
	place string
	err   error
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *rows[T]) UnmarshalJSON(text []byte) error {
	var all []json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	for i, raw := range all {
		var v T
		if err := json.Unmarshal(raw, &v); err != nil {
			l.bad = append(l.bad, badRow{placeOf(fmt.Sprintf("number %d", i+1), raw), withoutValue(err)})
			continue
		}
		l.List = append(l.List, v)
	}
	return nil
}

// element implements list.
func (l *rows[T]) element() reflect.Type { return reflect.TypeFor[T]() }

// list is implemented by rows.
type list interface{ element() reflect.Type }

// addBad reports a record that cannot be read.
func (r *Report) addBad(subject string, bad ...badRow) {
	for _, b := range bad {
		r.add(subject, b.place, "the record cannot be read and is left out: "+b.err.Error(), "correct it in the export, and import again")
	}
}

// naturalKeys are the members that name a record for people, the best first.
func naturalKeys() []string {
	return []string{"clientId", "client_id", "ClientId", "username", "Username", "alias", "name", "Name", "GroupName", "path", "id", "user_id", "localId"}
}

// placeOf returns a position with the natural key of a record. An address is personal, so that the ID stands for
// it if there is one.
func placeOf(at string, raw json.RawMessage) string {
	var object map[string]any
	_ = json.Unmarshal(raw, &object) // another value has no key
	if key := naturalKey(object); key != "" {
		at += " (" + key + ")"
	}
	return at
}

// naturalKey returns the natural key of an object with its ID, such as "username ann, id 0a7d…".
func naturalKey(object map[string]any) string {
	var parts []string
	for _, name := range naturalKeys() {
		value := object[name]
		switch value.(type) {
		case string, float64:
		default:
			continue
		}
		text := fmt.Sprint(value)
		isID := name == "id" || name == "user_id" || name == "localId"
		if text == "" || strings.Contains(text, "@") && !isID || len(parts) > 0 && !isID {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s %.200s", name, text))
	}
	return strings.Join(parts, ", ")
}

// unreadMembers finds the members of an export that no code reads: those that the Go type which decodes the
// export has no field for. So the types are the tables of what is imported. Members without content are not
// reported.
type unreadMembers struct {
	report *Report
	// ignored are paths that say nothing that could be lost, or that other code reports.
	ignored []string
}

// find reports the members of a value that a type has no field for. Path is that of the value, and place the
// record that contains it.
func (u unreadMembers) find(value any, t reflect.Type, path, place string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if l, ok := reflect.New(t).Interface().(list); ok {
		t = reflect.SliceOf(l.element())
	}
	switch v := value.(type) {
	case map[string]any:
		if place == "" {
			place = recordPlace(v, path, "")
		}
		for _, name := range slices.Sorted(maps.Keys(v)) { // so that a dry run finds the same
			inner := joinMember(path, name)
			if t.Kind() == reflect.Map {
				inner = path // the name is a value, such as that of a client
			}
			u.findMember(v[name], t, name, inner, place)
		}
	case []any:
		if t.Kind() == reflect.Slice {
			for _, item := range v {
				u.find(item, t.Elem(), path, recordPlace(item, path, place))
			}
		}
	}
}

// recordPlace returns the place of a record of a list: its natural key, after that of the record that contains it.
func recordPlace(item any, path, above string) string {
	object, _ := item.(map[string]any)
	key := naturalKey(object)
	if key == "" {
		return above
	}
	noun := singularOf(path)
	if strings.HasPrefix(path, "roles.") {
		noun = "role" // of a realm or a client
	}
	if strings.Contains(path, ".") && above != "" && !strings.HasPrefix(above, "realm ") {
		return above + ", " + noun + " " + key
	}
	return noun + " " + key
}

func (u unreadMembers) findMember(value any, t reflect.Type, name, path, place string) {
	if isEmpty(value) || slices.Contains(u.ignored, path) {
		return
	}
	switch t.Kind() {
	case reflect.Map:
		u.find(value, t.Elem(), path, place)
	case reflect.Struct:
		if field, ok := fieldOf(t, name); ok {
			u.find(value, field, path, place)
			return
		}
		u.add(value, path, place)
	}
}

// add reports a member, and each of its records.
func (u unreadMembers) add(value any, path, place string) {
	if items, isList := value.([]any); isList {
		keyed := false
		for _, item := range items {
			if at := recordPlace(item, path, ""); at != "" {
				keyed = true
				u.report.add("members that are not read", recordPlace(item, path, place), path, "")
			}
		}
		if keyed {
			return
		}
	}
	u.report.add("members that are not read", place, path, "")
}

// eachReadText calls each with every text that a type has a field for, and the last member name of its path.
func eachReadText(value any, t reflect.Type, member string, each func(member, text string)) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if l, ok := reflect.New(t).Interface().(list); ok {
		t = reflect.SliceOf(l.element())
	}
	switch v := value.(type) {
	case string:
		each(member, v)
	case []any:
		for _, item := range v {
			if t.Kind() == reflect.Slice {
				eachReadText(item, t.Elem(), member, each)
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if t.Kind() == reflect.Map {
				eachReadText(v[name], t.Elem(), member, each)
			} else if field, ok := fieldOf(t, name); ok {
				eachReadText(v[name], field, name, each)
			}
		}
	}
}

// fieldOf returns the type of the field that a member of an object is decoded to.
func fieldOf(t reflect.Type, name string) (reflect.Type, bool) {
	if t.Kind() != reflect.Struct {
		return nil, false
	}
	for field := range t.Fields() {
		tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if tag != "" && tag != "-" && strings.EqualFold(tag, name) {
			return field.Type, true
		}
	}
	return nil, false
}

func joinMember(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

// singularOf returns the last part of a path without the s of a plural.
func singularOf(path string) string {
	return strings.TrimSuffix(path[strings.LastIndex(path, ".")+1:], "s")
}

// isEmpty reports whether a value has no content: nothing is lost without it.
func isEmpty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == "" || v == "false"
	case bool:
		return !v
	case float64:
		return v == 0
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !isEmpty(item) })
	case map[string]any:
		for _, item := range v {
			if !isEmpty(item) {
				return false
			}
		}
		return true
	}
	return false
}

// looseBool is a truth value that some files have as a text.
type looseBool bool

// UnmarshalJSON implements json.Unmarshaler.
func (b *looseBool) UnmarshalJSON(text []byte) error {
	switch strings.ToLower(strings.Trim(string(text), `"`)) {
	case "true":
		*b = true
	case "false", "null", "":
		*b = false
	default:
		return &json.UnmarshalTypeError{Type: reflect.TypeFor[bool]()}
	}
	return nil
}

// isFalse reports whether a value is there, and false.
func isFalse(b *looseBool) bool { return b != nil && !bool(*b) }

// looseInt is a number that some files have as a text.
type looseInt int64

// UnmarshalJSON implements json.Unmarshaler.
func (n *looseInt) UnmarshalJSON(text []byte) error {
	if bare := strings.Trim(string(text), `"`); bare != "" && bare != "null" {
		value, err := strconv.ParseInt(bare, 10, 64)
		if err != nil {
			return &json.UnmarshalTypeError{Type: reflect.TypeFor[int64]()}
		}
		*n = looseInt(value)
	}
	return nil
}

// looseText is a text that some exports write as a number, a boolean or a list of one.
type looseText string

// UnmarshalJSON implements json.Unmarshaler.
func (t *looseText) UnmarshalJSON(text []byte) error {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	if items, isList := v.([]any); isList && len(items) > 0 {
		v = items[0]
	}
	switch v := v.(type) {
	case nil:
	case string:
		*t = looseText(v)
	case bool, float64:
		*t = looseText(strings.Trim(string(text), "[] "))
	default:
		return &json.UnmarshalTypeError{Type: reflect.TypeFor[string]()}
	}
	return nil
}

// looseTexts are texts, or one text.
type looseTexts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *looseTexts) UnmarshalJSON(text []byte) error {
	var all []looseText
	if err := json.Unmarshal(text, &all); err != nil {
		var one looseText
		if json.Unmarshal(text, &one) != nil {
			return err
		}
		all = []looseText{one}
	}
	for _, one := range all {
		*t = append(*t, string(one))
	}
	return nil
}
