package main

import (
	"strings"

	"github.com/alecthomas/kong"

	"github.com/postern-id/postern/schemas"
)

// memberHelp returns what the members of resources do, from their schemas, for the texts of flags:
// ${role_description} is the description of a role.
func memberHelp() kong.Vars {
	vars := kong.Vars{}
	for _, noun := range []string{"application", "group", "identity-provider", "organization-unit", "resource-server", "role", "user-type"} {
		for member, help := range schemas.Help(noun) {
			vars[strings.ReplaceAll(noun, "-", "_")+"_"+member] = help + "."
		}
	}
	return vars
}
