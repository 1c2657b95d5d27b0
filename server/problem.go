package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// invalidBody returns the error of a request body with problems.
func invalidBody(problems ...schemas.Problem) error {
	return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "the request body is not as expected: %s", problems[0]).WithProblems(problems)
}

// missingMember returns the problem of a missing member.
func missingMember(path, about string) schemas.Problem {
	name := path[strings.LastIndexByte(path, '.')+1:]
	return schemas.Problem{Path: path, Message: fmt.Sprintf("required member %q is missing: %s", name, about)}
}

// checkChoice reports a value that is none of the known ones.
func checkChoice(path, value string, known ...string) []schemas.Problem {
	if slices.Contains(known, value) {
		return nil
	}
	message := fmt.Sprintf("expected %s, got %.64q%s", schemas.OneOf(known), value, schemas.Hint(value, known))
	return []schemas.Problem{{Path: path, Message: message}}
}
