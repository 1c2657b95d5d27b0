package schemas

import (
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

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
