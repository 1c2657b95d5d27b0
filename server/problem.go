package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// invalid is the error of a request body that has problems.
func invalid(problems ...schemas.Problem) error {
	return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "the request body is not as expected: %s", problems[0]).WithProblems(problems)
}

// missing is the problem of a member that must be there.
func missing(path, about string) schemas.Problem {
	name := path[strings.LastIndexByte(path, '.')+1:]
	return schemas.Problem{Path: path, Message: fmt.Sprintf("required member %q is missing: %s", name, about)}
}

// choice reports a value that is none of the known ones.
func choice(path, value string, known ...string) []schemas.Problem {
	if slices.Contains(known, value) {
		return nil
	}
	last := len(known) - 1
	message := fmt.Sprintf("expected %s or %s, got %.64q", strings.Join(known[:last], ", "), known[last], value)
	if near := schemas.Suggest(value, known); near != "" {
		message += fmt.Sprintf("; did you mean %s?", near)
	}
	return []schemas.Problem{{Path: path, Message: message}}
}

// withoutEchoes adds further problems to those found before, but none of a
// place that has its problem already: a value of the wrong type is not missing
// besides, and nothing is missing from one that should be an object.
func withoutEchoes(found, more []schemas.Problem) []schemas.Problem {
	all := slices.Clone(found)
	for _, p := range more {
		covers := func(f schemas.Problem) bool {
			rest, below := strings.CutPrefix(p.Path, f.Path)
			return below && (f.Path == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
		}
		if !slices.ContainsFunc(found, covers) {
			all = append(all, p)
		}
	}
	return all
}
