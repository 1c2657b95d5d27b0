package schemas

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/secure/precis"
	"golang.org/x/text/unicode/norm"
)

// MaxIdentifierBytes limits the length of an identifying value, in bytes, both as typed and as
// compared. An e-mail address has at most 254; an index entry of PostgreSQL holds 2,700.
const MaxIdentifierBytes = 1024

// IdentifierKey is the form in which identifying attributes are compared: two values with the same
// key are the same name. White space around a value does not count, nor do letter case, width,
// composition, and the shapes of letters that Unicode keeps for compatibility (normal form NFKC):
// 𝐚𝐝𝐚 and ＡＤＡ are ada. Beyond that it follows the UsernameCaseMapped profile of PRECIS (RFC 8265
// §3.3).
//
// The key of a value that no user can have is "": one that is empty, too long, not UTF-8, or
// contains NUL. The key of a key is the key itself.
func IdentifierKey(value string) string {
	value = strings.TrimSpace(value)
	if len(value) > MaxIdentifierBytes || !utf8.ValidString(value) || strings.IndexByte(value, 0) >= 0 {
		return ""
	}
	value = norm.NFKC.String(value)
	key, err := precis.UsernameCaseMapped.String(value)
	if err != nil { // such as a value with spaces inside
		key = norm.NFKC.String(strings.ToLower(value))
	}
	if key = strings.TrimSpace(key); len(key) > MaxIdentifierBytes {
		return "" // the normalized value may be longer
	}
	return key
}

// CheckIdentifier returns "" if the value may become an identifier of a new user, else the reason
// why not, in sentences for the user who typed it. No value may contain invisible characters,
// because it would look like another one. A username must also be one of PRECIS (RFC 8265 §3.3) and
// must not mix scripts whose letters look alike; an email must be an address by IsEmail, and must
// not mix scripts within one part.
//
// It does not apply to lookups: users who signed up under older rules are still found.
func CheckIdentifier(attribute, value string) string {
	if trimmed := strings.TrimSpace(value); attribute == "email" && trimmed != value && trimmed != "" {
		return "This begins or ends with a space. Remove it." // others would get it with the space
	}
	value = strings.TrimSpace(value)
	switch {
	case value == "":
		return "This is empty."
	case !utf8.ValidString(value):
		return "This is not text in UTF-8."
	case len(value) > MaxIdentifierBytes:
		return fmt.Sprintf("This is too long. Use at most %d bytes; non-English letters take two to four.", MaxIdentifierBytes)
	}
	if i := strings.IndexFunc(value, isInvisible); i >= 0 {
		c, _ := utf8.DecodeRuneInString(value[i:])
		return fmt.Sprintf("This contains an invisible character (%U). Remove it.", c)
	}
	key := IdentifierKey(value)
	if key == "" {
		return fmt.Sprintf("This is too long. Written in plain letters it has over %d bytes.", MaxIdentifierBytes)
	}
	switch attribute {
	case "username":
		return checkUsername(value, key)
	case "email":
		return checkEmail(value, key)
	}
	return ""
}

func checkUsername(value, key string) string {
	// PRECIS enforces a value that it first maps by width; the key is further
	// mapped, and must be a username too.
	for _, name := range []string{value, key} {
		if _, err := precis.UsernameCaseMapped.String(name); err != nil {
			return "A username may contain letters, digits and marks such as - _ . @ but no spaces, symbols or ornamental letters."
		}
	}
	return checkScripts(key)
}

func checkEmail(value, key string) string {
	if !IsEmail(value) {
		return "This is not an e-mail address. Expected one like name@example.com, without spaces, quotes or brackets."
	}
	// A name in one script at a domain in another is common and harmless.
	for part := range strings.FieldsFuncSeq(key, func(c rune) bool { return c == '@' || c == '.' }) {
		if wrong := checkScripts(part); wrong != "" {
			return wrong
		}
	}
	return ""
}

// checkScripts rejects a mix of scripts with similar letters: "аda" with a Cyrillic а is not
// "ada", and looks the same.
func checkScripts(key string) string {
	scripts := []struct {
		name    string
		letters *unicode.RangeTable
	}{
		{"Latin", unicode.Latin}, {"Cyrillic", unicode.Cyrillic}, {"Greek", unicode.Greek},
		{"Armenian", unicode.Armenian}, {"Cherokee", unicode.Cherokee},
	}
	var met []string
	for _, c := range key {
		for _, script := range scripts {
			if unicode.IsLetter(c) && unicode.Is(script.letters, c) && !slices.Contains(met, script.name) {
				met = append(met, script.name)
			}
		}
	}
	if len(met) < 2 {
		return ""
	}
	return "This mixes " + strings.Join(met, " and ") + " letters, and some of them look alike. Use the letters of one script."
}

// isInvisible reports whether a character is invisible, or changes how others are displayed:
// controls, format characters (the bidirectional ones among them), variation selectors, fillers,
// and what Unicode has not assigned.
func isInvisible(c rune) bool {
	const brailleBlank = '\u2800'
	return !unicode.IsGraphic(c) || c == brailleBlank ||
		unicode.In(c, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// CheckIdentifiers returns a problem for each identifying attribute of a new user that
// CheckIdentifier rejects; its path is the attribute. A missing or empty attribute identifies no
// user and is skipped.
func (u *User) CheckIdentifiers() []Problem {
	var problems []Problem
	for _, attribute := range IdentifyingAttributes() {
		value := u.Text(attribute)
		if value == "" {
			continue
		}
		if wrong := CheckIdentifier(attribute, value); wrong != "" {
			problems = append(problems, Problem{Path: attribute, Message: wrong})
		}
	}
	return problems
}
