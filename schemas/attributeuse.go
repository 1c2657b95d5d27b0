package schemas

import (
	"fmt"
	"slices"
)

// AttributeUses lists the nodes of a flow, and of its sub-flows, that set attributes of users.
type AttributeUses struct {
	Creations []UserCreation
	Questions []AttributeQuestion
	// Values are the names of the values of runs that claims can read (see RunValues), nil if they are not known.
	Values []string
	// Entered are those of Values that users state, or that services reply to what users state.
	Entered []EnteredValue
}

// EnteredValue is a value of a run that users state, and a node that has it.
type EnteredValue struct{ Name, Node, Path string }

// UserCreation describes a node that creates users.
type UserCreation struct {
	// Node is the id of the node, and Path its path in the flow, or that of the node that uses its
	// sub-flow.
	Node, Path string
	// Type is the user type, "" for the NewUserType of the application, and Unit the id of the organization unit,
	// "" for that of the application.
	Type, Unit string
	// Inputs maps attributes to the inputs of their values. It contains only inputs that a form
	// before the node can collect. Listed reports whether the configuration of the node lists them.
	Inputs map[string]string
	Listed bool
	// Stated are the inputs whose values only an identity provider states, and not its users: see StatedByUsers.
	Stated []string
	// Form is the id of a node before it that collects one of the inputs, "" if there is none.
	Form string
	// Password reports whether the flow sets a password.
	Password bool
}

// AttributeQuestion describes a node that asks for attributes by their names.
type AttributeQuestion struct {
	Node, Path string
	// Attributes are those that the configuration lists. Nil: those that the user type requires.
	Attributes []string
	// Identifying states that the node also asks for attributes that identify users.
	Identifying bool
}

// AsksFor reports whether users of the type can set an attribute at the node.
func (q *AttributeQuestion) AsksFor(t *UserType, attribute string) bool {
	if _, attested := VerificationAttributes()[attribute]; attested || !q.Identifying && slices.Contains(IdentifyingAttributes(), attribute) {
		return false
	}
	if q.Attributes == nil {
		return t.Requires(attribute) && slices.Contains(t.FormAttributes(), attribute)
	}
	return slices.Contains(q.Attributes, attribute) && slices.Contains(t.FormAttributes(), attribute)
}

// StatedByUsers reports whether the users of an identity provider state a claim about themselves there, such as their
// name: the claims of OpenID Connect Core §5.1, whatever the provider has verified.
func StatedByUsers(claim string) bool { return slices.Contains(ProfileAttributes(), claim) }

// NewUserType returns the type of the users that flows without a type of their own create for the
// application; a nil application allows all types.
func (a *Application) NewUserType() string {
	if a == nil || len(a.AllowedUserTypes) == 0 || slices.Contains(a.AllowedUserTypes, PersonName) {
		return PersonName
	}
	return a.AllowedUserTypes[0]
}

// Admits reports whether users of the type, with its identifier scope, may use the application. An
// application that lists no types admits those with global identifiers: it may identify users by a
// username, which a user of a type with its own identifiers can share.
func (a *Application) Admits(userType, identifierScope string) bool {
	if a == nil {
		return true
	}
	if len(a.AllowedUserTypes) == 0 {
		return identifierScope == ""
	}
	return slices.Contains(a.AllowedUserTypes, userType)
}

// CheckAttribute returns a problem about an attribute that users may not have; nil if they may. The
// types are those that the users can be of. Without types, a name that resembles a standard claim is
// a warning, because the actual types are not known.
func CheckAttribute(path, attribute string, types []UserType) *Problem {
	if len(types) == 0 {
		standard, _ := new(Person()).AttributeNames()
		if near := Suggest(attribute, standard); near != "" && !slices.Contains(standard, attribute) {
			return &Problem{Path: path, Warning: true, Message: fmt.Sprintf("%q is not a standard attribute; did you mean %q?", attribute, near)}
		}
		return nil
	}
	var known []string
	for i := range types {
		attributes, open := types[i].AttributeNames()
		if open || slices.Contains(attributes, attribute) {
			return nil
		}
		known = append(known, attributes...)
	}
	which := "no user type has"
	if len(types) == 1 {
		which = fmt.Sprintf("the user type %q does not have", types[0].Name)
	}
	return &Problem{Path: path, Message: fmt.Sprintf("%s an attribute %q%s", which, attribute, Hint(attribute, known))}
}
