package claims

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/postern-id/postern/schemas"
)

// key identifies a claim in a consent. A declared claim has another key after its value is declared in another way: the
// user is asked again. A standard claim is known by its name.
func (d *declared) key() string {
	name := strings.Join(d.levels, "/")
	if d.short != "" {
		return name
	}
	if d.server != "" {
		name = d.server + " " + name
	}
	c := d.Claim
	c.Scopes, c.Targets, c.Authoritative = nil, nil, false
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // texts and lists of texts
	}
	sum := sha256.Sum256(text)
	return name + "#" + hex.EncodeToString(sum[:6])
}

// Released returns what a scope releases, as a consent identifies it: see schemas.ConsentedScope.
func (s *Set) Released(scope string) []string {
	keys := []string{}
	for i := range s.claims {
		if d := &s.claims[i]; s.isDocumentedBy(d, scope) && !slices.Contains(keys, d.key()) {
			keys = append(keys, d.key())
		}
	}
	slices.Sort(keys)
	return keys
}

// isDocumentedBy reports whether a scope releases a claim in any document. Assertions need no scope.
func (s *Set) isDocumentedBy(d *declared, scope string) bool {
	documents := slices.DeleteFunc(slices.Concat(d.targets, d.onRequest), func(t string) bool { return t == Assertion })
	return len(documents) > 0 && s.isReleasedBy(d, scope)
}

// Describe returns the claims that a scope releases, with the values of the user, for a question of consent.
func (s *Set) Describe(scope string, of *Subject) (list []schemas.ConsentClaim) {
	for i := range s.claims {
		d := &s.claims[i]
		if !s.isDocumentedBy(d, scope) {
			continue
		}
		c := schemas.ConsentClaim{Name: strings.Join(d.levels, "."), Text: Label(d.levels)}
		if value, found := d.evaluate(of); found {
			_, c.Boolean = value.(bool)
			c.Value = describe(value)
			if seconds, is := value.(int64); is && d.Attribute == schemas.UpdatedAt {
				c.Value = time.Unix(seconds, 0).UTC().Format(time.DateOnly)
			}
		}
		if !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

// Label returns a standard claim in words, or the name of another one.
func Label(levels []string) string {
	if words := labels()[levels[0]]; words != "" && len(levels) == 1 {
		return words
	}
	return strings.Join(levels, ".")
}

func labels() map[string]string {
	return map[string]string{
		"username": "Username", "preferred_username": "Username", "name": "Full name", "given_name": "Given name", "family_name": "Family name",
		"middle_name": "Middle name", "nickname": "Nickname", "profile": "Profile", "picture": "Picture", "website": "Website", "gender": "Gender",
		"birthdate": "Birthdate", "zoneinfo": "Time zone", "locale": "Locale", schemas.UpdatedAt: "Last change",
		"email": "Email address", schemas.EmailVerified: "Email address verified", "address": "Postal address",
		"phone_number": "Phone number", schemas.PhoneNumberVerified: "Phone number verified", schemas.GroupsClaim: "Groups", schemas.RolesClaim: "Roles",
		schemas.UnitIDClaim: "Organization", schemas.UnitNameClaim: "Organization", schemas.UnitHandleClaim: "Organization", schemas.UserTypeClaim: "User type",
	}
}

// Limits of a value in words.
const (
	maxShownItems      = 5
	maxShownCharacters = 100
)

// describe returns a value in words: of a long list the first items and the number of all.
func describe(value any) string {
	items, isList := listOf(value)
	if !isList {
		return describeOne(value)
	}
	var words []string
	for _, item := range items[:min(len(items), maxShownItems)] {
		words = append(words, describeOne(item))
	}
	if len(items) > maxShownItems {
		words = append(words, fmt.Sprintf("… (%d)", len(items)))
	}
	return strings.Join(words, ", ")
}

func describeOne(value any) string {
	text, is := value.(string)
	if on, isBoolean := value.(bool); isBoolean {
		return map[bool]string{true: "Yes", false: "No"}[on]
	}
	if !is {
		raw, err := json.Marshal(value)
		if err != nil {
			return ""
		}
		text = string(raw)
	}
	words := []rune(strings.Map(func(c rune) rune {
		if !unicode.IsGraphic(c) { // such as one that reverses the text
			return ' '
		}
		return c
	}, text))
	if len(words) > maxShownCharacters {
		words = append(words[:maxShownCharacters-1:maxShownCharacters-1], '…')
	}
	return string(words)
}
