package schemas

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Bounds of the attributes of one user.
const (
	maxAttributesSize = 32 << 10 // bytes of JSON
	maxAttributeParts = 2000     // values, including nested ones
)

// CompiledUserType checks the attributes of users. It is safe for concurrent
// use.
type CompiledUserType struct {
	name       string
	schema     *Schema
	unique     []string
	credential string
}

// CompileUserType compiles a user type. The error has Class Invalid and the problems of
// CheckDefinition.
func CompileUserType(t *UserType) (*CompiledUserType, error) {
	if problems := t.CheckDefinition(); len(problems) > 0 {
		return nil, Errorf(Invalid, CodeInvalidRequest,
			"the user type %q is not usable: %s", shortenName(t.Name), problems[0]).WithProblems(problems)
	}
	schema, err := CompileSchema("user type", withEmailVerified(t.Schema))
	if err != nil {
		return nil, err
	}
	return &CompiledUserType{name: t.Name, schema: schema, unique: t.UniqueAttributes(), credential: t.CredentialAttribute()}, nil
}

// UniqueAttributes returns the unique attributes of the type, sorted.
func (t *CompiledUserType) UniqueAttributes() []string { return slices.Clone(t.unique) }

// CredentialAttribute returns the credential attribute of the type, "" if it has none.
func (t *CompiledUserType) CredentialAttribute() string { return t.credential }

// Check returns the problems of a user's attributes, with paths relative to them ("given_name").
// With whole, the credential is required if the type requires it, as for a new user; otherwise it
// is stored elsewhere.
//
// Beyond the schema it checks the rules of all types: attributes are limited in size, identifying
// ones are valid text, unique ones can be compared, and no attribute named like a password is
// stored as plain data.
func (t *CompiledUserType) Check(attributes json.RawMessage, whole bool) []Problem {
	if len(attributes) > maxAttributesSize {
		return []Problem{{Message: fmt.Sprintf("expected at most %d bytes of attributes, got %d; store large data elsewhere", maxAttributesSize, len(attributes))}}
	}
	d, problems := ParseJSON(attributes)
	if len(problems) > 0 {
		return withoutLines(problems)
	}
	bounds := &sizeChecker{}
	bounds.check(d.root)
	if !bounds.isEmpty() {
		return withoutLines(bounds.listed())
	}
	found := t.schema.check(d.root)
	if !whole {
		found.kept = slices.DeleteFunc(found.kept, func(p Problem) bool { return p.missing && p.Path == t.credential })
	}
	for _, m := range d.root.members() {
		at := slices.IndexFunc(found.kept, func(p Problem) bool { return p.Path == m.name })
		if at >= 0 && (m.name != "email" || m.value.shape != stringShape) {
			continue
		}
		wrong := t.checkMember(m)
		if at >= 0 && wrong != "" { // its message is more precise than that of the format
			found.kept[at].Message = wrong
		} else if at < 0 && wrong != "" && found.acceptsMore() {
			found.addKept(m.value.problem(MemberPath("", m.name), wrong))
		}
	}
	return withoutLines(found.inPlace())
}

// checkMember returns the problems of an attribute that the schema allows.
func (t *CompiledUserType) checkMember(m member) string {
	identifies := slices.Contains(IdentifyingAttributes(), m.name)
	switch {
	case identifies && m.value.shape != stringShape:
		return "expected a string, got " + m.value.shape.words() + ": users sign in with it"
	case identifies:
		return CheckIdentifier(m.name, m.value.text)
	case m.isNull():
		return "expected a value, got null; leave it out"
	case m.name == passwordAttribute && t.credential == "":
		return fmt.Sprintf("users of the type %q have no password; remove it, or mark the attribute %q in the type", shortenName(t.name), credentialMark)
	case slices.Contains(t.unique, m.name) && m.value.shape == stringShape:
		return CheckIdentifier("", m.value.text)
	}
	return ""
}

// sizeChecker finds values that are too large, or that cannot be stored exactly.
type sizeChecker struct {
	findings
	parts int
}

func (b *sizeChecker) check(e *element) {
	if b.parts++; b.parts == maxAttributeParts+1 {
		b.addKept(Problem{Message: fmt.Sprintf("expected at most %d values in the attributes; store long lists elsewhere", maxAttributeParts)})
	}
	if e.shape == numberShape && !isExactInteger(e.text) {
		b.note(e.place, "this number has more digits than can be stored; put it in quotes")
	}
	for m := range b.children(e) {
		b.check(m.value)
	}
}

// isExactInteger reports whether a float64, as which numbers are stored, represents a whole number
// exactly.
func isExactInteger(number string) bool {
	if strings.ContainsAny(number, ".eE") {
		return true
	}
	const largest = 1 << 53
	n, err := strconv.ParseInt(number, 10, 64)
	return err == nil && -largest <= n && n <= largest
}

// WithoutValue returns the problem without the received value, for callers who may not see it.
func (p Problem) WithoutValue() Problem {
	reported := false
	for _, own := range []string{"expected ", "required member ", "unknown member "} {
		reported = reported || strings.HasPrefix(p.Message, own)
	}
	if !reported {
		p.Message = "does not fit"
	}
	p.Message, _, _ = strings.Cut(p.Message, ", got ")
	return p
}
