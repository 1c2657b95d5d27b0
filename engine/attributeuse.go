package engine

import (
	"maps"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// UserCreator is an Executor that creates users.
type UserCreator interface {
	// CreatesUsers returns the user type, "" for that of the application, and the inputs with the
	// values of the attributes. Listed reports whether the configuration lists them.
	CreatesUsers() (userType string, inputs map[string]string, listed bool)
}

// AttributeAsker is an Executor that asks for attributes by the names in its configuration.
type AttributeAsker interface {
	AsksForAttributes() []string
}

// ClaimCollector is a Collector whose inputs have the claims of an identity provider, which users do not enter.
type ClaimCollector interface {
	CollectsClaims()
}

// PasswordSetter is an Executor that sets the password of the run's user.
type PasswordSetter interface {
	SetsPassword()
}

// AttributeUses lists the nodes that set attributes of users.
func (g *Graph) AttributeUses() schemas.AttributeUses {
	uses := schemas.AttributeUses{Values: g.values()}
	setsPassword := slices.ContainsFunc(g.nodes, func(n node) bool { _, sets := n.exec.(PasswordSetter); return sets })
	for i, n := range g.nodes {
		if creator, ok := n.exec.(UserCreator); ok {
			creation := g.userCreation(i, creator)
			creation.Password = setsPassword
			uses.Creations = append(uses.Creations, creation)
		}
		if asker, ok := n.exec.(AttributeAsker); ok && len(asker.AsksForAttributes()) > 0 {
			uses.Questions = append(uses.Questions, schemas.AttributeQuestion{Node: n.id, Path: g.definitionPath(i), Attributes: asker.AsksForAttributes()})
		}
	}
	return uses
}

// values returns the names of the values of runs that claims can read: all but secrets.
func (g *Graph) values() []string {
	names := []string{}
	for identifier, t := range g.inputs {
		if !t.Secret() {
			names = append(names, schemas.InputVariable(identifier))
		}
	}
	for _, n := range g.nodes {
		if r := replyOf(n.exec); r != nil {
			for value := range r.Types {
				names = append(names, schemas.ReplyVariable(r.Name, value))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (g *Graph) userCreation(i int, creator UserCreator) schemas.UserCreation {
	userType, inputs, listed := creator.CreatesUsers()
	forms, entered := g.formsBefore(i)
	inputs = maps.Clone(inputs)
	maps.DeleteFunc(inputs, func(_, input string) bool { return forms[input] == "" })
	c := schemas.UserCreation{Node: g.nodes[i].id, Path: g.definitionPath(i), Type: userType, Inputs: inputs, Listed: listed}
	for _, attribute := range sortedKeys(inputs) {
		c.Form = forms[inputs[attribute]]
		if input := inputs[attribute]; !entered[input] && !slices.Contains(c.Stated, input) {
			c.Stated = append(c.Stated, input)
		}
	}
	return c
}

// formsBefore returns the nodes that collect inputs on a path to node i, by input, and the inputs that users enter.
func (g *Graph) formsBefore(i int) (forms map[string]string, entered map[string]bool) {
	before := make([][]int, len(g.nodes))
	for from, n := range g.nodes {
		for _, to := range n.targets() {
			before[to] = append(before[to], from)
		}
	}
	forms, entered = map[string]string{}, map[string]bool{}
	for j, leads := range closure([]int{i}, before) {
		if collector, ok := g.nodes[j].exec.(Collector); ok && leads {
			_, claims := g.nodes[j].exec.(ClaimCollector)
			for input := range collector.Collects() {
				forms[input] = g.nodes[j].id
				entered[input] = entered[input] || !claims
			}
		}
	}
	return forms, entered
}

// definitionPath returns the path of node i in the definition, or of the node there that uses its
// sub-flow.
func (g *Graph) definitionPath(i int) string {
	for g.nodes[i].within != "" {
		i, _ = g.find(g.nodes[i].within)
	}
	id := g.nodes[i].id
	return nodePath(slices.IndexFunc(g.flow.Nodes, func(n schemas.Node) bool { return n.ID == id }), "")
}
