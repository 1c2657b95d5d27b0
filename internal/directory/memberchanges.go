package directory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

const (
	maxChangedValue   = 500 // bytes of JSON; longer values are digests
	maxChangedMembers = 60

	singleList = "inboundAuthConfig" // a list that has at most one element
)

// memberChanges returns the members that differ between two resources, nil for none. For a list,
// From has the removed elements and To the added ones. Secrets and the data of users are keyed
// digests.
func (d *Directory) memberChanges(n Noun, old, v any) (changes []schemas.MemberChange) {
	before, after := membersOf(old), membersOf(v)
	names := slices.Collect(maps.Keys(after))
	for name := range before {
		if _, in := after[name]; !in {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		from, to := before[name], after[name]
		if bytes.Equal(from, to) {
			continue
		}
		if len(changes) == maxChangedMembers {
			return append(changes, schemas.MemberChange{Member: "…", To: fmt.Sprintf("%q", "there are further changes")})
		}
		if !isConcealed(n, name) {
			from, to = withoutCommon(from, to)
		}
		changes = append(changes, schemas.MemberChange{Member: name, From: d.changedValue(n, name, from), To: d.changedValue(n, name, to)})
	}
	return changes
}

// changedValue returns the value of a member as it appears in the audit log.
func (d *Directory) changedValue(n Noun, name string, value json.RawMessage) string {
	if len(value) == 0 || len(value) <= maxChangedValue && !isConcealed(n, name) {
		return string(value)
	}
	return "hmac:" + d.digest(value)
}

// isConcealed reports whether a member is a secret or personal data.
func isConcealed(n Noun, name string) bool {
	if n.isUser && strings.HasPrefix(name, "attributes") {
		return true
	}
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"secret", "password", "contacts"}, func(part string) bool { return strings.Contains(name, part) })
}

// membersOf returns the members of a resource by their paths, in JSON. A list is one member,
// except the OAuth configuration of an application. An absent value has none.
func membersOf(v any) map[string]json.RawMessage {
	members := map[string]json.RawMessage{}
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("directory: %T has no JSON: %v", v, err)) // all resource types marshal
	}
	addMembers(members, "", text)
	for _, always := range []string{"id", "createdAt", "updatedAt"} {
		delete(members, always)
	}
	return members
}

func addMembers(members map[string]json.RawMessage, path string, text json.RawMessage) {
	var object map[string]json.RawMessage
	var list []map[string]json.RawMessage
	switch {
	case json.Unmarshal(text, &object) == nil && object != nil:
		for name, member := range object {
			addMembers(members, strings.TrimPrefix(path+"."+name, "."), member)
		}
	case path == singleList && json.Unmarshal(text, &list) == nil && len(list) == 1:
		for name, member := range list[0] {
			addMembers(members, path+"[0]."+name, member)
		}
	case !slices.Contains([]string{"null", `""`, "[]", "false", "0"}, string(text)):
		members[path] = text
	}
}

// withoutCommon removes the common elements from two lists; other values it returns unchanged.
func withoutCommon(from, to json.RawMessage) (removed, added json.RawMessage) {
	var old, now []json.RawMessage
	if len(from) == 0 || len(to) == 0 || json.Unmarshal(from, &old) != nil || json.Unmarshal(to, &now) != nil {
		return from, to
	}
	removed, added = listWithout(old, now), listWithout(now, old)
	if bytes.Equal(removed, added) { // the order differs
		return from, to
	}
	return removed, added
}

func listWithout(list, others []json.RawMessage) json.RawMessage {
	left := slices.DeleteFunc(slices.Clone(list), func(e json.RawMessage) bool {
		return slices.ContainsFunc(others, func(o json.RawMessage) bool { return bytes.Equal(e, o) })
	})
	if len(left) == 0 {
		return nil
	}
	text, _ := json.Marshal(left) // they were JSON
	return text
}
