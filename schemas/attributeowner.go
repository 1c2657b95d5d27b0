package schemas

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Owners of attributes
//
// An attribute of a user, as stored, can have an owner, and only the owner changes it. Without one, users
// and administrators change it by the rules of the user type, and an identity provider does not. A provider
// becomes the owner of what its mapping refreshes; any other owner is set by an administrator.

// The kinds of owners.
const (
	OwnerProvider      = "provider"
	OwnerUser          = "user"
	OwnerAdministrator = "administrator"
	OwnerFlow          = "flow"
)

// OwnerKinds lists the kinds of owners.
func OwnerKinds() []string {
	return []string{OwnerProvider, OwnerUser, OwnerAdministrator, OwnerFlow}
}

// CodeAttributeOwned is the error code of a change of an attribute by another than its owner. Its class is
// Conflict.
const CodeAttributeOwned = "attribute_owned"

// AttributeOwner is the owner of an attribute of a user.
type AttributeOwner struct {
	Attribute string `json:"attribute"`
	Owner     string `json:"owner"`
	// ProviderID, ProviderHandle and ProviderName are of an identity provider.
	ProviderID     string    `json:"providerId,omitempty"`
	ProviderHandle string    `json:"providerHandle,omitempty"`
	ProviderName   string    `json:"providerName,omitempty"`
	Since          time.Time `json:"since"`
}

// Name returns the owner in words.
func (o *AttributeOwner) Name() string {
	if o.Owner == OwnerProvider {
		return fmt.Sprintf("the identity provider %q", o.ProviderName)
	}
	return map[string]string{OwnerUser: "the user", OwnerAdministrator: "an administrator", OwnerFlow: "a flow"}[o.Owner]
}

// Writer is who changes attributes. The zero value is the user.
type Writer struct {
	Kind       string // one of OwnerKinds; "" is OwnerUser
	ProviderID string
}

// Owns reports whether a writer may change what an owner has. A flow asks the user, so it changes what the user
// has too.
func (w Writer) Owns(o *AttributeOwner) bool {
	switch o.Owner {
	case OwnerProvider:
		return w.Kind == OwnerProvider && w.ProviderID == o.ProviderID
	case OwnerUser:
		return w.Kind == "" || w.Kind == OwnerUser || w.Kind == OwnerFlow
	}
	return w.Kind == o.Owner
}

// CheckOwners returns the problems of a change of attributes by a writer. Paths are the names of attributes. A
// statement about the verification of an attribute belongs to the owner of the attribute.
func CheckOwners(owners []AttributeOwner, changed []string, by Writer) (problems []Problem) {
	for _, attribute := range changed {
		i := slices.IndexFunc(owners, func(o AttributeOwner) bool { return o.Attribute == attribute })
		if verified, states := VerificationAttributes()[attribute]; i < 0 && states && !slices.Contains(changed, verified) {
			i = slices.IndexFunc(owners, func(o AttributeOwner) bool { return o.Attribute == verified })
		}
		if i >= 0 && !by.Owns(&owners[i]) {
			problems = append(problems, Problem{Path: MemberPath("", attribute), Message: owners[i].fault()})
		}
	}
	return problems
}

// fault returns why another than the owner cannot change the attribute.
func (o *AttributeOwner) fault() string {
	fix := "an administrator can become its owner, or release it (/users/{id}/attribute-owners)"
	if o.Owner == OwnerProvider {
		fix = "change it there, or " + fix
	}
	return fmt.Sprintf("this attribute belongs to %s; %s", o.Name(), fix)
}

// ErrOwned is the error of CheckOwners; nil without problems.
func ErrOwned(problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return Errorf(Conflict, CodeAttributeOwned, "the user was not changed: %s: %s", strings.TrimPrefix(problems[0].Path, "attributes."), problems[0].Message).WithProblems(problems)
}
