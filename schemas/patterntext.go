package schemas

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of the text of a regular expression. The parser expands a class of Unicode characters to
// hundreds of ranges, and a range without case to each of its characters, so that a short text could
// take seconds.
const (
	maxRegexLength  = 1000
	maxRegexClasses = 20
	// maxRegexFolded limits the characters in ranges of a pattern with the flag i, such as [а-я].
	maxRegexFolded = 30_000
)

// CheckPatternText returns an error for a pattern that may take long to parse.
func CheckPatternText(pattern string) error {
	if n := utf8.RuneCountInString(pattern); n > maxRegexLength {
		return fmt.Errorf("the regular expression has %d characters, expected at most %d; use a shorter one", n, maxRegexLength)
	}
	if n := strings.Count(pattern, `\p`) + strings.Count(pattern, `\P`); n > maxRegexClasses {
		return fmt.Errorf("the regular expression has %d classes of Unicode characters (\\p), expected at most %d; use fewer", n, maxRegexClasses)
	}
	if !flagI.MatchString(pattern) {
		return nil
	}
	if n := charactersInRanges(pattern); n > maxRegexFolded {
		return fmt.Errorf("the regular expression has the flag i and ranges of %d characters, expected at most %d; use shorter ranges, or write both cases instead of the flag", n, maxRegexFolded)
	}
	return nil
}

var (
	flagI      = regexp.MustCompile(`\(\?[a-zA-Z-]*i`)
	rangeStart = regexp.MustCompile(`(?s)(?:\\x\{([0-9a-fA-F]+)\}|.)$`)
	rangeEnd   = regexp.MustCompile(`(?s)^(?:\\x\{([0-9a-fA-F]+)\}|.)`)
)

// charactersInRanges returns no less than how many characters the ranges of a pattern have. Every hyphen
// counts as a range, because the parser accepts one in many places. The start of a range is searched for in a
// few characters only: a longer one, with leading zeros, counts as its last character.
func charactersInRanges(pattern string) (n int) {
	const few = 16
	for i, r := range pattern {
		if r == '-' {
			n += max(0, edge(rangeEnd, pattern[i+1:])-edge(rangeStart, pattern[max(0, i-few):i]))
		}
	}
	return n
}

// edge returns the character at an edge of a text: the one that a submatch names by its number, or the
// matched one.
func edge(at *regexp.Regexp, text string) int {
	found := at.FindStringSubmatch(text)
	if found == nil {
		return 0
	}
	if code, err := strconv.ParseUint(found[1], 16, 32); err == nil {
		return int(min(code, unicode.MaxRune))
	}
	r, _ := utf8.DecodeRuneInString(found[0])
	return int(r)
}
