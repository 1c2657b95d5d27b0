package schemas

import (
	"fmt"
	"strings"
	"sync"
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

// lookalikes maps each English letter to the letters and digits that are compared as that letter
// because they look like it. The selection is from the confusables of Unicode Technical Standard
// #39, and i, l and 1 are one, as they are in many fonts.
func lookalikes() map[rune]string {
	return map[rune]string{
		'a': "аАαΑɑᎪⲁ", 'b': "ВвΒЬьᏏᏴƅ", 'c': "сСϲϹᏟᴄⲥ", 'd': "ԁԀɗᎠժđĐ", 'e': "еЕΕεᎬєЄҽ", 'f': "ƒϜքҒ", 'g': "ɡցԌԍᏀ",
		'h': "һҺΗНнհᎻħĦ", 'j': "јЈϳͿʝᎫյ", 'k': "κΚкКᏦĸ", 'l': "iI1|іІӏӀιΙıɩᎥǀᏞʟԼłŁ", 'm': "мМΜᎷᴍ", 'n': "ոռпηΝᴎ",
		'o': "0оОοΟօՕσᴏᎾөɵøØ", 'p': "рРρΡᏢᴩƿ", 'q': "ԛԚգզ", 'r': "гᴦᏒᎡɾ", 's': "ѕЅՏꜱᏚᏕ", 't': "тТτΤᎢᴛŧ", 'u': "υսՍцᴜ",
		'v': "νѵѴᏙᴠ", 'w': "ԝԜωѡѠաшᎳᏔᴡ", 'x': "хХχΧ×", 'y': "уУүҮγΥყᎩʏ", 'z': "ΖᏃᴢʐ",
	}
}

var plainLetters = sync.OnceValue(func() map[rune]rune {
	plain := map[rune]rune{}
	for letter, list := range lookalikes() {
		for _, c := range list {
			plain[c] = letter
		}
	}
	return plain
})

// NameSkeleton returns a form of a name for comparison: names with the same skeleton look alike.
// Case, accents, spaces and punctuation are ignored, and so is the script of letters with the same
// shape.
func NameSkeleton(name string) string {
	plain := plainLetters()
	kept := strings.Map(func(c rune) rune {
		if letter := plain[c]; letter != 0 {
			return letter
		}
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return -1
		}
		if letter := plain[unicode.ToLower(c)]; letter != 0 {
			return letter
		}
		return unicode.ToLower(c)
	}, norm.NFKD.String(name))
	return strings.NewReplacer("rn", "m", "vv", "w").Replace(kept)
}
