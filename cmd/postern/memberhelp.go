package main

import (
	"fmt"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"github.com/postern-id/postern/schemas"
)

// membersHelp returns what the members of resources do, from their schemas, for the texts of flags:
// {{role_description}} is the description of a role. Variables of kong would do the same, but it copies all of them for
// each flag, and each command would start late.
var membersHelp = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}
	for _, noun := range []string{"application", "group", "identity-provider", "organization-unit", "resource-server", "role", "user-type"} {
		for member, help := range schemas.Help(noun) {
			texts[strings.ReplaceAll(noun, "-", "_")+"_"+member] = help + "."
		}
	}
	return texts
})

// fillHelp replaces the names of members in the help of all commands and flags.
func fillHelp(k *kong.Kong) error {
	return kong.Visit(k.Model, func(v kong.Visitable, next kong.Next) error {
		var err error
		switch v := v.(type) {
		case *kong.Node:
			v.Help, err = memberHelp(v.Help)
		case *kong.Value:
			v.Help, err = memberHelp(v.Help)
		case *kong.Flag:
			v.Help, err = memberHelp(v.Help)
		}
		return next(err)
	})
}

func memberHelp(text string) (string, error) {
	before, rest, found := strings.Cut(text, "{{")
	if !found {
		return text, nil
	}
	name, after, _ := strings.Cut(rest, "}}")
	help := membersHelp()[name]
	if help == "" {
		return "", fmt.Errorf("no schema has a member for the text {{%s}}", name)
	}
	after, err := memberHelp(after)
	return before + help + after, err
}
