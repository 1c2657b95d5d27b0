package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Describe returns the fact in words: "an authenticated user".
func (f Fact) Describe() string {
	switch sort, name := f.split(); sort {
	case inputSort:
		return fmt.Sprintf("a value for the input %q", name)
	case acrSort:
		return fmt.Sprintf("a proof of at least the class %q", name)
	case amrSort:
		return fmt.Sprintf("an authentication by the method %q", name)
	case claimSort:
		return fmt.Sprintf("a user identified by the input %q", name)
	case attributeSort:
		if name == "" {
			return "a value that the user has"
		}
		return fmt.Sprintf("the user's attribute %s", name)
	case replySort, userReplySort:
		return fmt.Sprintf("the service reply %q", name)
	}
	words := map[Fact]string{
		User:          "a user",
		New:           "a user that this run creates",
		Authenticated: "an authenticated user",
		Own:           "a user that this run creates or has authenticated",
		Credential:    "a credential that this run added",
		Enrolled:      "a second factor that this run added",
		Findable:      "an account that can be found at the next sign-in",
		Federated:     "an unlinked identity of another provider",
		Consented:     "a user who consented to what the application asks for",
	}
	return cmp.Or(words[f], string(f))
}

// factNames returns alternative facts in words. The inputs that may have identified a user are only
// named if nothing else is.
func factNames(facts []Fact) string {
	others := slices.DeleteFunc(slices.Clone(facts), claimSort.includes)
	if len(others) == 0 {
		others = facts
	}
	return joinFacts(others, " or ")
}

func joinFacts(facts []Fact, separator string) string {
	words := make([]string, len(facts))
	for i, f := range facts {
		words[i] = f.Describe()
	}
	// The facts of one reply, about a user or not, have the same words.
	return strings.Join(slices.Compact(words), separator)
}
