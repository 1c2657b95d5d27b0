package nodes

import (
	"slices"

	"github.com/postern-id/postern/schemas"
)

// isEnterable reports whether users state this attribute about themselves. The server decides
// whether an address is verified.
func isEnterable(attribute string) bool {
	return slices.Contains(schemas.ProfileAttributes(), attribute) && !attestedAttribute(attribute)
}

func attestedAttribute(attribute string) bool {
	return attribute == "email_verified" || attribute == "phone_number_verified"
}
