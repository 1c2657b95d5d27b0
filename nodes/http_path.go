package nodes

import (
	"regexp"
	"strings"
)

// pathForm is a path with an optional query, of unreserved and percent-encoded characters (RFC 3986
// sections 3.3 and 3.4).
var pathForm = regexp.MustCompile(`^(/(` + pathCharacter + `|/)*)?(\?(` + pathCharacter + `|[/?])*)?$`)

const pathCharacter = `[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2}`

// structureCharacters matches encoded characters with which some servers see a path of a different
// structure: slash, backslash, dot, a percent sign that is decoded again, the end of a string, and
// line breaks.
var structureCharacters = regexp.MustCompile(`(?i)%(2f|5c|2e|25|00|0a|0d)`)

// pathFault describes what is wrong with a path, "" if nothing. The path is appended to the URL of
// a target and must not leave it.
func pathFault(text string) string {
	path, _, _ := strings.Cut(text, "?")
	switch {
	case text == "":
		return ""
	case !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "?"):
		return "a path must begin with a slash, such as /sign-ups"
	case !pathForm.MatchString(text):
		return "expected a path such as /sign-ups, with an optional query and without a fragment; percent-encode other characters"
	case structureCharacters.MatchString(path):
		return "encoded slashes, backslashes, dots, percent signs and control characters could lead out of the target's URL; remove them"
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/"), "/") {
		shape, _, _ := strings.Cut(part, ";") // some servers drop path parameters
		if shape == "." || shape == ".." {
			return "the parts . and .. could lead out of the target's URL; remove them"
		}
		if part == "" && path != "/" && path != "" {
			return "two consecutive slashes are ambiguous; write one"
		}
	}
	return ""
}
