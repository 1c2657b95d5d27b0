package schemas

import (
	"slices"
	"strings"
)

// BrowserStrength is what a sign-in in a browser has proved. A browser is known to a user for a
// strength: an attacker with a password can sign in where it is enough, and must not gain anything by
// it elsewhere.
type BrowserStrength struct {
	ACR     string
	Secrets []GuessedSecret
}

// BrowserEmail is the strength of a browser in which the user has entered a mailed code, besides the
// classes: a mailed code that follows a password does not change the class.
const BrowserEmail = "email"

const acrPrefix = "urn:postern:acr:"

// KnownFor lists what a browser can be known for, as flows name it: mailed codes and the classes
// from a password on. A password satisfies the classes below it, which are codes alone: as a name of
// a second factor they would be misleading.
func KnownFor() []string {
	names := []string{BrowserEmail}
	for _, acr := range ACRs() {
		if Satisfies(acr, ACRPassword) {
			names = append(names, strings.TrimPrefix(acr, acrPrefix))
		}
	}
	return names
}

// ParseKnownFor returns what a browser is known for by its name in flows: BrowserEmail or a class,
// in its short or its full form.
func ParseKnownFor(name string) (strength string, ok bool) {
	short := strings.TrimPrefix(name, acrPrefix)
	if !slices.Contains(KnownFor(), short) || short == BrowserEmail && name != short {
		return "", false
	}
	if name == BrowserEmail || KnownACR(name) {
		return name, true
	}
	return acrPrefix + name, KnownACR(acrPrefix + name)
}
