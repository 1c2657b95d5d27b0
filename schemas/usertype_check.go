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
	maxAttributeParts = 2000     // values, those within others too
)

// CompiledUserType checks the attributes of users. It is safe for concurrent
// use.
type CompiledUserType struct {
	name       string
	schema     *Schema
	unique     []string
	credential string
}

// CompileUserType compiles a user type. The error has Class Invalid, and what
// CheckDefinition says.
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

// UniqueAttributes are those of the type, sorted.
func (t *CompiledUserType) UniqueAttributes() []string { return slices.Clone(t.unique) }

// CredentialAttribute is that of the type, "" if it has none.
func (t *CompiledUserType) CredentialAttribute() string { return t.credential }

// Check returns what is wrong with the attributes of a user, with paths relative to them
// ("given_name"). Whole requires the credential, if the type does, as for a new user: otherwise it
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
		if at >= 0 && wrong != "" { // it says more than that the format does not fit
			found.kept[at].Message = wrong
		} else if at < 0 && wrong != "" && found.acceptsMore() {
			found.addKept(m.value.problem(MemberPath("", m.name), wrong))
		}
	}
	return withoutLines(found.inPlace())
}

// checkMember returns what is wrong with an attribute that the schema allows.
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

// sizeChecker looks for what is too much, or cannot be kept as it is.
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

// isExactInteger reports whether a whole number is the same as a float64, which is what
// it is kept as.
func isExactInteger(number string) bool {
	if strings.ContainsAny(number, ".eE") {
		return true
	}
	const largest = 1 << 53
	n, err := strconv.ParseInt(number, 10, 64)
	return err == nil && -largest <= n && n <= largest
}

// WithoutValue returns the problem for a caller who may not see the value: without what was
// received.
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
