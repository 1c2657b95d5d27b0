package nodes

import (
	"slices"

	"github.com/postern-id/postern/schemas"
)

// isEnterable reports whether an attribute is one that people state about
// themselves. That an address was verified is for the server to find out.
func isEnterable(attribute string) bool {
	return slices.Contains(schemas.ProfileAttributes(), attribute) && !attestedAttribute(attribute)
}

func attestedAttribute(attribute string) bool {
	return attribute == "email_verified" || attribute == "phone_number_verified"
}
