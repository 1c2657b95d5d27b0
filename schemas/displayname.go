package schemas

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxMarks limits the combining marks of one letter: scripts with stacked marks use no more.
const maxMarks = 4

// CheckDisplayName returns "" if a resource may have the name, else the reason why not. Names that
// look the same must be the same. Therefore a name has no invisible characters and no surrounding
// white space, and no word mixes scripts with similar letters. Different words may be in different
// scripts.
func CheckDisplayName(name string) string {
	switch {
	case !utf8.ValidString(name):
		return "expected text in UTF-8"
	case strings.TrimSpace(name) == "":
		return "expected a name that is not blank"
	case strings.TrimSpace(name) != name:
		return "expected a name that neither begins nor ends with white space; remove it"
	}
	if wrong := checkVisible([]rune(name)); wrong != "" {
		return wrong
	}
	isBreak := func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsMark(c) && !unicode.IsDigit(c) }
	for word := range strings.FieldsFuncSeq(norm.NFKC.String(name), isBreak) {
		if wrong := checkScripts(word); wrong != "" {
			return fmt.Sprintf("the word %q could be taken for another one. %s", word, wrong)
		}
	}
	return ""
}

// checkVisible rejects characters that are invisible, change how others look, or cover their
// neighbors. A variation selector is part of an emoji, and rejected elsewhere.
func checkVisible(name []rune) string {
	marks := 0
	for i, c := range name {
		if unicode.IsMark(c) {
			marks++
		} else {
			marks = 0
		}
		if marks > maxMarks {
			return fmt.Sprintf("expected at most %d marks on one letter", maxMarks)
		}
		if unicode.Is(unicode.Variation_Selector, c) && selectsEmoji(name, i) {
			continue
		}
		if isInvisible(c) {
			return fmt.Sprintf("expected visible characters, got %U; remove it", c)
		}
	}
	return ""
}

// selectsEmoji reports whether the variation selector at i follows a symbol, or makes a
// keycap of a digit.
func selectsEmoji(name []rune, i int) bool {
	const keycap = '\u20e3'
	return i > 0 && unicode.IsSymbol(name[i-1]) || i+1 < len(name) && name[i+1] == keycap
}
