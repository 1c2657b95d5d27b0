package schemas

import (
	"encoding/json"
	"slices"
	"strings"
)

// PersonID is the id of the user type that every store begins with.
const PersonID = "01900000-0000-7000-8000-000000000020"

// PersonName is its name, and the default type of users.
const PersonName = "Person"

// builtinIDs precedes the last part of the ids of what every store begins with.
const builtinIDs = "01900000-0000-7000-8000-"

// IsBuiltinID reports whether an id is reserved for the resources that every store begins with, such
// as the role of the administrators. Nothing that another product has can have one.
func IsBuiltinID(id string) bool { return strings.HasPrefix(strings.ToLower(id), builtinIDs) }

// Person returns the user type that every store begins with: a human being, by the standard claims
// of OpenID Connect Core §5.1, with a username and a password. It has neither times nor a unit.
func Person() UserType {
	return UserType{
		ID: PersonID, Name: PersonName, Description: "A human being.",
		Schema: slices.Clone(personText()),
	}
}

func personText() json.RawMessage {
	text, err := files.ReadFile("person.schema.json")
	if err != nil {
		panic(err)
	}
	return text
}
