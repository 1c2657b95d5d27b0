package federation

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/schemas"
)

// Limits of what a mapping takes. More is not a statement about a person.
const (
	maxValueLength    = 4096      // bytes of JSON
	maxGroupNames     = 2000      // in a claim
	maxStatementBytes = 128 << 10 // of the claims that a run keeps
)

// Document has the claims of an ID token or of userinfo.
type Document map[string]json.RawMessage

// Statement is what a provider states about a user. The documents are kept apart: that one of them states that
// an address is verified says nothing about the address of the other one.
type Statement struct {
	IDToken  Document `json:"idToken,omitempty"`
	Userinfo Document `json:"userinfo,omitempty"`
}

// Mapped is a statement in terms of attributes and groups.
type Mapped struct {
	// Values are the values by attribute. Unverified are the attributes with an address or a number that the provider
	// does not assert, or is not trusted to assert, to be verified.
	Values     map[string]any
	Unverified map[string]bool
	// Absent are the attributes that the provider does not state, and Missing those of them that are required, by
	// their claims.
	Absent, Missing []string
	// Skipped are the reasons why attributes with a claim have no value.
	Skipped map[string]string
	Groups  []schemas.MappedGroups
}

// For returns the part of the statement that a mapping reads, nil if it reads nothing or if that is too long.
func (s Statement) For(m *schemas.ProviderMapping) *Statement {
	if m.IsZero() {
		return nil
	}
	names := []string{claimNames, "hasgroups"}
	for _, a := range m.Attributes {
		names = append(names, a.From, outermost(a.From), a.VerifiedBy, outermost(a.VerifiedBy))
	}
	for _, g := range m.Groups {
		names = append(names, g.From, outermost(g.From))
	}
	part, size := &Statement{}, 0
	for _, d := range []struct{ from, to *Document }{{&s.IDToken, &part.IDToken}, {&s.Userinfo, &part.Userinfo}} {
		for _, name := range names {
			if raw := (*d.from)[name]; len(raw) > 0 && (*d.to)[name] == nil {
				if *d.to == nil {
					*d.to = Document{}
				}
				(*d.to)[name] = raw
				size += len(raw)
			}
		}
	}
	if size > maxStatementBytes {
		return part.withoutLong()
	}
	return part
}

// withoutLong replaces the longest claims by a value that no mapping accepts.
func (s *Statement) withoutLong() *Statement {
	for _, d := range []Document{s.IDToken, s.Userinfo} {
		for name, raw := range d {
			if len(raw) > maxValueLength {
				d[name] = json.RawMessage(tooLong)
			}
		}
	}
	return s
}

// tooLong stands for a claim that was too long to be kept.
const tooLong = `{"\u0000": "too long"}`

// claimNames is the claim with which a provider refers to claims elsewhere: OpenID Connect Core §5.6.2.
const claimNames = "_claim_names"

func outermost(claim string) string {
	first, _, _ := strings.Cut(claim, ".")
	return first
}

// find returns the value of a claim, null for none, and the document that has it.
func (s *Statement) find(claim string) (json.RawMessage, Document) {
	for _, d := range []Document{s.IDToken, s.Userinfo} {
		if raw := d.find(claim); raw != nil {
			return raw, d
		}
	}
	return nil, nil
}

// find returns the value of a claim, nil for none. A claim with the whole name comes before nested ones.
func (d Document) find(claim string) json.RawMessage {
	if raw := present(d[claim]); raw != nil || claim == "" || strings.Contains(claim, "://") {
		return raw
	}
	first, rest, nested := strings.Cut(claim, ".")
	if !nested {
		return nil
	}
	var inner Document
	if json.Unmarshal(d[first], &inner) != nil {
		return nil
	}
	return inner.find(rest)
}

func present(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return raw
}

// Map returns what a mapping makes of the statement. An attribute that is missing in the claims gets its
// default.
func (s *Statement) Map(m *schemas.ProviderMapping) *Mapped {
	mapped := &Mapped{Values: map[string]any{}, Unverified: map[string]bool{}, Skipped: map[string]string{}}
	for i := range m.Attributes {
		s.mapAttribute(&m.Attributes[i], mapped)
	}
	for _, g := range m.Groups {
		names, unknown := s.groupNames(&g)
		mapped.Groups = append(mapped.Groups, schemas.MappedGroups{Mapping: g, Names: names, Unknown: unknown})
	}
	return mapped
}

func (s *Statement) mapAttribute(a *schemas.AttributeMapping, to *Mapped) {
	value, document, reason := s.value(a)
	switch {
	case reason != "":
		to.Skipped[a.To] = reason
	case value != nil:
		to.Values[a.To] = value
	case a.Default != nil:
		to.Values[a.To] = a.Default
	default:
		to.Absent = append(to.Absent, a.To)
	}
	if to.Values[a.To] == nil && a.Required {
		to.Missing = append(to.Missing, a.From)
	}
	if text, _ := to.Values[a.To].(string); !isVerified(a, document, text) {
		to.Unverified[a.To] = true
	}
}

// value returns the value of an attribute, nil if the provider does not state it, or the reason why it cannot be
// taken.
func (s *Statement) value(a *schemas.AttributeMapping) (value any, from Document, reason string) {
	raw, from := s.find(a.From)
	switch {
	case raw == nil:
		return nil, nil, ""
	case len(raw) > maxValueLength || string(raw) == tooLong:
		return nil, nil, schemas.SkippedTooLong
	case json.Unmarshal(raw, &value) != nil:
		return nil, nil, schemas.SkippedType
	}
	value, fits := claims.Convert(&schemas.Claim{Type: a.Type, Separator: a.Separator}, value)
	if number, is := value.(json.Number); is {
		value, _ = number.Float64()
	}
	text, isText := value.(string)
	switch {
	case !fits || a.AddPrefix != "" && !isText:
		return nil, nil, schemas.SkippedType
	case !isStorable(value):
		return nil, nil, schemas.SkippedCharacters
	case isText && text == "":
		return nil, nil, ""
	case isText && len(text) > maxClaimLength:
		return nil, nil, schemas.SkippedTooLong
	case isText:
		return a.AddPrefix + text, from, ""
	}
	return value, from, ""
}

// isStorable reports whether all texts of a value can be stored.
func isStorable(value any) bool {
	isText := func(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }
	switch v := value.(type) {
	case string:
		return isText(v)
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !isStorable(item) })
	case map[string]any:
		for name, item := range v {
			if !isText(name) || !isStorable(item) {
				return false
			}
		}
	}
	return true
}

// isVerified reports whether the provider asserts, in the document of the value, that it has verified it, and is
// trusted to. Some providers write true as a text or as 1.
func isVerified(a *schemas.AttributeMapping, from Document, value string) bool {
	if a.VerifiedBy == "" || value == "" || !slices.Contains([]string{`true`, `"true"`, `1`, `"1"`}, string(from.find(a.VerifiedBy))) {
		return false
	}
	_, domain, isAddress := strings.Cut(value, "@")
	return len(a.Domains) == 0 || isAddress && slices.Contains(a.Domains, strings.ToLower(domain))
}

// groupNames returns the names of groups in a claim, or the reason why they are unknown. A provider that does not
// state the claim at all states that there are none, unless it refers to another place.
func (s *Statement) groupNames(g *schemas.GroupMapping) (names []string, unknown string) {
	raw, _ := s.find(g.From)
	switch {
	case raw == nil && s.refersElsewhere(g.From):
		return nil, schemas.SkippedOverage
	case raw == nil:
		return nil, ""
	case string(raw) == tooLong:
		return nil, schemas.SkippedTooLong
	}
	var all []string
	var one string
	if json.Unmarshal(raw, &one) == nil {
		all = []string{one}
	} else if json.Unmarshal(raw, &all) != nil {
		return nil, schemas.SkippedType
	}
	if len(all) > maxGroupNames {
		return nil, schemas.SkippedTooLong
	}
	chosen := map[string]bool{}
	for _, name := range all {
		if name, has := strings.CutPrefix(name, g.Prefix); has && isStorable(name) {
			if !g.RemovePrefix {
				name = g.Prefix + name
			}
			chosen[name] = true
		}
	}
	return slices.Sorted(maps.Keys(chosen)), ""
}

// refersElsewhere reports whether the provider states that a claim is too long for the token: OpenID Connect Core
// §5.6.2, and the claim hasgroups of Microsoft Entra ID.
func (s *Statement) refersElsewhere(claim string) bool {
	for _, d := range []Document{s.IDToken, s.Userinfo} {
		var elsewhere Document
		_ = json.Unmarshal(d[claimNames], &elsewhere)
		if elsewhere[claim] != nil || elsewhere[outermost(claim)] != nil || claim == "groups" && present(d["hasgroups"]) != nil {
			return true
		}
	}
	return false
}
