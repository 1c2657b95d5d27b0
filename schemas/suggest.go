package schemas

import (
	"strconv"
	"strings"
	"unicode"
)

// maxSuggestionLength is the longest word for which Suggest searches: the cost of a comparison is
// the product of the lengths, and the word may be untrusted.
const maxSuggestionLength = 64

// Suggest returns the known word that is closest to the given one, or "" if none is near. Near
// means few insertions, deletions, replacements and swaps of neighboring letters
// (Damerau-Levenshtein distance): one for a short word, up to three for a long one. Letter case, -
// and _ do not count. Of several equally near words the first wins.
//
// The cost grows with the number of known words, so call it only for a message that is reported.
func Suggest(word string, known []string) string {
	if word == "" || len(word) > maxSuggestionLength {
		return ""
	}
	from := foldWord(word)
	best, nearest := "", tolerance(len(from))+1
	for _, candidate := range known {
		if candidate == word || len(candidate) > maxSuggestionLength {
			continue
		}
		to := foldWord(candidate)
		if absInt(len(from)-len(to)) >= nearest {
			continue
		}
		if d := distance(from, to); d < nearest {
			best, nearest = candidate, d
		}
	}
	return best
}

// Hint is what to add to a message about an unknown word: "; did you mean "name"?",
// or nothing if no known word is near. See Suggest.
func Hint(word string, known []string) string {
	if near := Suggest(word, known); near != "" {
		return "; did you mean " + quote(near) + "?"
	}
	return ""
}

// tolerance returns how many differences a word of n letters may have.
func tolerance(n int) int {
	switch {
	case n < 3:
		return 0
	case n < 6:
		return 1
	case n < 9:
		return 2
	}
	return 3
}

// foldWord removes characters that the comparison ignores.
func foldWord(word string) []rune {
	folded := make([]rune, 0, len(word))
	for _, c := range word {
		if c != '-' && c != '_' {
			folded = append(folded, unicode.ToLower(c))
		}
	}
	return folded
}

// distance is the optimal string alignment distance: Damerau-Levenshtein with
// no substring edited twice. It keeps three rows of the usual table.
func distance(a, b []rune) int {
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, above, row = above, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}

func absInt(n int) int { return max(n, -n) }

// unknown is the message for a name that is not among the known ones. What
// says what it names: "member", "node kind".
func unknown(what, name string, known []string) string {
	message := "unknown " + what + " " + quote(name)
	if hint := Hint(name, known); hint != "" {
		return message + hint
	}
	if len(known) == 0 {
		return message + "; none is known here"
	}
	return message + "; known: " + strings.Join(known, ", ")
}

// maxNameLength is how many characters of a name are shown.
const maxNameLength = 64

const ellipsis = "…"

// quote quotes a name for a message, shortened if it is very long.
func quote(name string) string { return strconv.Quote(shortenName(name)) }

// shortenName cuts a name from outside that is very long.
func shortenName(name string) string { return truncate(name, maxNameLength) }

// truncate returns at most n characters of a text.
func truncate(text string, most int) string {
	if len(text) <= most {
		return text
	}
	shown := 0
	for i := range text {
		if shown == most {
			return text[:i] + ellipsis
		}
		shown++
	}
	return text
}
