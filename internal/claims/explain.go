package claims

import (
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Explanation is a claim of an application for one user, and why it has its value.
type Explanation struct {
	// Path are the names of the levels, and Declared is the member of the application that declares the claim.
	Path     []string `json:"path"`
	Declared string   `json:"declared"`
	Source   string   `json:"source"`
	Targets  []string `json:"targets"`
	Scopes   []string `json:"scopes,omitempty"`
	Value    any      `json:"value,omitempty"`
	// Released are the targets that contain the claim, and Reason is why, or why none does.
	Released []string `json:"released"`
	Reason   string   `json:"reason"`
	// SetByUsers are the places where users can set the value: see Settings.
	SetByUsers []string `json:"setByUsers,omitempty"`
}

// Name returns the names of the levels, joined by dots.
func (e *Explanation) Name() string { return strings.Join(e.Path, ".") }

// Explain returns all claims of a set for a user, in the order of their declaration.
func (s *Set) Explain(of *Subject) []Explanation {
	list := make([]Explanation, len(s.claims))
	for i := range s.claims {
		d := &s.claims[i]
		e := Explanation{Path: d.levels, Declared: d.declaration(i), Source: d.Source, Targets: slices.Concat(d.targets, d.onRequest), Scopes: d.Scopes, Released: []string{}}
		if d.Source == "attribute" {
			e.Source = "attribute " + attributeOf(&d.Claim)
		}
		for _, target := range d.targets {
			if s.releases(d, target, of) {
				e.Released = append(e.Released, target)
			}
		}
		value, found := d.evaluate(of)
		switch {
		case len(e.Released) == 0:
			e.Reason = d.whyWithheld()
		case !found && len(readsOfRun(&d.Claim)) > 0:
			e.Reason, e.Released = "the value is that of a sign-in, which this report is not about", []string{}
		case !found:
			e.Reason, e.Released = d.whyAbsent(of), []string{}
		default:
			e.Value, e.Reason = value, d.whyReleased(of)
		}
		list[i] = e
	}
	return list
}

// declaration returns the member of an application that declares the claim with the index.
func (d *declared) declaration(index int) string {
	switch {
	case d.short != "":
		return d.short
	case d.server != "":
		return "claims of the resource server " + d.server
	}
	return fmt.Sprintf("claims[%d]", index)
}

func (d *declared) whyWithheld() string {
	switch {
	case len(d.targets) == 0:
		return "another claim replaces it, or a limit of the application leaves it out"
	case len(d.Scopes) == 0:
		return "the users of the application consent to scopes, and no scope releases the claim"
	}
	return "none of its scopes is granted: " + strings.Join(d.Scopes, ", ")
}

// whyAbsent returns why a released claim has no value.
func (d *declared) whyAbsent(of *Subject) string {
	name := attributeOf(&d.Claim)
	switch {
	case d.Source == "attribute" && (name == "email" || name == schemas.EmailVerified) && of.User.Text("email") != "" && !of.releasesUnverified(&d.Claim) && !of.User.Verified(schemas.EmailVerified):
		return "the address of the user is not verified: the application gets it when the user, or an administrator, has verified it"
	case d.Source == "attribute" && of.User.Attributes[name] == nil:
		return "the user has no attribute " + name
	}
	return "the user has no value, or one that cannot have the type of the claim"
}

func (d *declared) whyReleased(of *Subject) string {
	for _, scope := range d.Scopes {
		if slices.Contains(of.Scope, scope) {
			return "the scope " + scope + " releases it"
		}
	}
	return "it needs no scope"
}
