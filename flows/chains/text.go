package chains

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// String describes the way in one line.
func (w Way) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "with %s", w.Means)
	if len(w.Conditions) > 0 {
		fmt.Fprintf(&b, ", if %s", strings.Join(w.Conditions, " and "))
	}
	fmt.Fprintf(&b, ", an attacker can get %s", w.Target)
	for i, r := range w.Chain {
		fmt.Fprintf(&b, ". Run %d: %s", i+1, r)
	}
	return b.String()
}

// joinClasses returns one way for those that differ only in the class, with the combined class.
func joinClasses(ways []Way) (joined []Way) {
	for _, w := range ways {
		same := func(v Way) bool {
			v.Target.Class = w.Target.Class
			return reflect.DeepEqual(v, w)
		}
		if i := slices.IndexFunc(joined, same); i >= 0 {
			joined[i].Target.Class = schemas.CombineACRs(joined[i].Target.Class, w.Target.Class)
		} else {
			joined = append(joined, w)
		}
	}
	return joined
}

func (t Target) String() string {
	if t.Credential != "" {
		return fmt.Sprintf("%s of the class %s", t.Credential, t.Class)
	}
	return fmt.Sprintf("tokens of the application %q of the class %s", t.Name, t.Class)
}

// String describes the run: the flow, its nodes with their outcomes, and what the attacker has
// afterwards.
func (r Run) String() string {
	at := r.Application + ", " + r.Flow
	for i, m := range r.Path {
		at += map[bool]string{true: ": ", false: " "}[i == 0] + m.Node
		if m.Outcome != "" {
			at += " —" + m.Outcome + "→"
		}
	}
	return at + ". The attacker gains: " + r.Gains
}

// Write writes the report for people: for each application the ways to its tokens, strongest class
// last, and then the ways to credentials.
func (r *Report) Write(to io.Writer) error {
	var b strings.Builder
	last := ""
	for _, w := range joinClasses(r.Ways) {
		if head := r.heading(w.Target); head != last {
			fmt.Fprintf(&b, "%s\n", head)
			last = head
		}
		fmt.Fprintf(&b, "  %s\n    with %s", w.Target.Class, w.Means)
		if len(w.Conditions) > 0 {
			fmt.Fprintf(&b, ", if %s", strings.Join(w.Conditions, " and "))
		}
		b.WriteString("\n")
		for i, run := range w.Chain {
			fmt.Fprintf(&b, "    %d. %s\n", i+1, run)
		}
	}
	if len(r.Ways) == 0 {
		b.WriteString("no application can be reached without a credential of the user\n")
	}
	for _, g := range r.Grants {
		writeGrant(&b, g)
	}
	r.writeClaims(&b)
	_, err := io.WriteString(to, b.String())
	return err
}

// writeGrant writes what accounts at an identity provider can get.
func writeGrant(b *strings.Builder, g schemas.ProviderGrant) {
	fmt.Fprintf(b, "accounts at the identity provider %q\n", g.Provider)
	if len(g.Permissions) > 0 {
		fmt.Fprintf(b, "  can get the permissions %s, through groups: who controls the provider decides which users have them\n", strings.Join(g.Permissions, ", "))
	}
	if g.Addresses {
		b.WriteString("  can have any address that the provider calls verified\n")
	}
}

// writeClaims writes the claims that users can set, for each application.
func (r *Report) writeClaims(b *strings.Builder) {
	last := ""
	for _, c := range r.Claims {
		if head := fmt.Sprintf("claims of %s that users can set", c.Application); head != last {
			fmt.Fprintf(b, "%s\n", head)
			last = head
		}
		authoritative := ""
		if c.Authoritative {
			authoritative = ", although it is authoritative"
		}
		fmt.Fprintf(b, "  %s (%s)%s\n    %s\n    fix: %s\n", c.Claim, c.Declared, authoritative, c.Where, c.Fix)
	}
}

// heading names what a way leads to, without the class.
func (r *Report) heading(t Target) string {
	if t.Credential != "" {
		return "a credential that outlives the run: " + t.Credential
	}
	names := r.Names[t.Application]
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names, ", ")
}
