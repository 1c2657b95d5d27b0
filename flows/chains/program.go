package chains

import (
	"fmt"
	"slices"

	"github.com/postern-id/postern/engine"
)

// program is a flow in the form that the search walks: settings are decoded, and targets are
// indexes.
type program struct {
	name      string
	guarantee proof
	nodes     []vertex
	providers []kind // the identities that the flow can link
	kinds     []kind // the items that its outcomes depend on
	shape     string // equal for flows that mean the same to the analysis
}

// vertex is a node.
type vertex struct {
	id       string
	kind     string
	waived   bool
	identity kind   // of federated-oidc
	mode     string // of passkey-authenticate
	class    proof  // that session-check requires
	collects bool   // an attributes node lets users without an address enter one
	edges    []arc
}

// arc is an outcome and its target, -1 for the end of the run. does is the kind of the node and the
// outcome.
type arc struct {
	outcome, does string
	target        int
}

func prepare(f *Flow) *program {
	p := &program{name: f.Name, guarantee: proofOf(f.Guarantee)}
	index := map[string]int{}
	for i := range f.Nodes {
		if _, known := index[f.Nodes[i].ID]; !known {
			index[f.Nodes[i].ID] = i
		}
	}
	for i := range f.Nodes {
		n := &f.Nodes[i]
		v := vertex{id: n.ID, kind: n.Kind, waived: isWaived(n)}
		v.configure(n, f.Classes[n.ID])
		for _, e := range n.Edges {
			target, ok := index[e.Target]
			if !ok {
				target = -1
			}
			v.edges = append(v.edges, arc{e.Outcome, n.Kind + " " + e.Outcome, target})
		}
		p.nodes = append(p.nodes, v)
	}
	p.summarize()
	return p
}

// configure decodes the settings that a kind has.
func (v *vertex) configure(n *engine.Node, class string) {
	switch v.kind {
	case "federated-oidc":
		v.identity = anIdentity + kind(setting(n, "provider"))
	case "passkey-authenticate":
		v.mode = setting(n, "mode")
	case "session-check":
		v.class = proofOf(class)
	case "attributes":
		v.collects = collectsEmail(n)
	}
}

// summarize notes what concerns the whole flow.
func (p *program) summarize() {
	var used []kind
	p.shape = fmt.Sprint(p.guarantee)
	for _, v := range p.nodes {
		if v.identity != "" {
			p.providers = append(p.providers, v.identity)
			used = append(used, v.identity)
		}
		used = append(used, dependsOn(v.kind)...)
		p.shape += fmt.Sprintf("\n%s %t %q %q %v %t", v.kind, v.waived, v.identity, v.mode, v.class, v.collects)
		for _, e := range v.edges {
			p.shape += fmt.Sprintf(" %q:%d", e.outcome, e.target)
		}
	}
	slices.Sort(used)
	p.kinds = slices.Compact(used)
}

// dependsOn lists the items that decide which outcomes of a kind of node are possible.
func dependsOn(node string) []kind {
	switch node {
	case "password-authenticate":
		return []kind{aPassword}
	case "passkey-authenticate":
		return []kind{aPasskey}
	case "totp":
		return []kind{anApp, noApp}
	case "recovery-code":
		return []kind{codes}
	case "email-otp":
		return []kind{aMailbox, noAddress}
	case "invitation":
		return []kind{aMailbox, invited}
	case "session-check":
		return []kind{aSession}
	case "password-set", "passkey-register", "email-change", "federated-link":
		return []kind{noApp, noCodes}
	case "totp-register":
		return []kind{hasApp}
	case "recovery-codes":
		return []kind{hasCodes}
	case "attributes":
		return []kind{noAddress, noApp, noCodes}
	case "authorization-code":
		return []kind{noApp, noCodes} // what a token can do: see operations
	}
	return nil
}
