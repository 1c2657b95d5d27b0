package oauth

import "unicode"

// mostMarks is how many marks one letter may have: scripts that pile them up have no
// more.
const mostMarks = 4

// misleading reports whether a name has what is not seen, changes how the rest looks,
// or is painted over what stands around it: a stranger's name is shown beside where
// it sends people, and that nobody knows it.
func misleading(name string) bool {
	marks := 0
	for _, c := range name {
		if unicode.IsMark(c) {
			marks++
		} else {
			marks = 0
		}
		if marks > mostMarks || !unicode.IsGraphic(c) || isBlank(c) {
			return true
		}
	}
	return false
}

// isBlank reports whether a character that counts as a letter or a sign is none that
// anybody sees.
func isBlank(c rune) bool {
	const brailleBlank = '\u2800'
	return c == brailleBlank || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c)
}
