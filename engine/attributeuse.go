package engine

import (
	"maps"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// UserCreator is an Executor that creates users.
type UserCreator interface {
	// CreatesUsers returns the user type and the unit, "" for those of the application, and the inputs with
	// the values of the attributes. Listed reports whether the configuration lists them.
	CreatesUsers() (userType, unit string, inputs map[string]string, listed bool)
}

// AttributeAsker is an Executor that asks for attributes by the names in its configuration; nil means those that
// the user type requires. Identifying reports whether they may identify users.
type AttributeAsker interface {
	AsksForAttributes() (names []string, identifying bool)
}

// ClaimReader is a Collector whose inputs are claims of an identity provider, not of the client: by input.
type ClaimReader interface {
	ReadsClaims() map[string]string
}

// PasswordSetter is an Executor that sets the password of the run's user.
type PasswordSetter interface {
	SetsPassword()
}

// AttributeUses lists the nodes that set attributes of users.
func (g *Graph) AttributeUses() schemas.AttributeUses {
	uses := schemas.AttributeUses{Values: g.values(), Entered: g.entered()}
	setsPassword := slices.ContainsFunc(g.nodes, func(n node) bool { _, sets := n.exec.(PasswordSetter); return sets })
	for i, n := range g.nodes {
		if creator, ok := n.exec.(UserCreator); ok {
			creation := g.userCreation(i, creator)
			creation.Password = setsPassword
			uses.Creations = append(uses.Creations, creation)
		}
		if asker, ok := n.exec.(AttributeAsker); ok {
			names, identifying := asker.AsksForAttributes()
			uses.Questions = append(uses.Questions, schemas.AttributeQuestion{Node: n.id, Path: g.definitionPath(i), Attributes: names, Identifying: identifying})
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
	userType, unit, inputs, listed := creator.CreatesUsers()
	forms, byUsers := g.formsBefore(i)
	inputs = maps.Clone(inputs)
	maps.DeleteFunc(inputs, func(_, input string) bool { return forms[input] == "" })
	c := schemas.UserCreation{Node: g.nodes[i].id, Path: g.definitionPath(i), Type: userType, Unit: unit, Inputs: inputs, Listed: listed}
	for _, attribute := range sortedKeys(inputs) {
		c.Form = forms[inputs[attribute]]
		if input := inputs[attribute]; !byUsers[input] && !slices.Contains(c.Stated, input) {
			c.Stated = append(c.Stated, input)
		}
	}
	return c
}

// formsBefore returns the nodes that collect inputs on a path to node i, by input, and the inputs whose values
// users state, here or at an identity provider.
func (g *Graph) formsBefore(i int) (forms map[string]string, byUsers map[string]bool) {
	before := make([][]int, len(g.nodes))
	for from, n := range g.nodes {
		for _, to := range n.targets() {
			before[to] = append(before[to], from)
		}
	}
	forms, byUsers = map[string]string{}, map[string]bool{}
	for j, leads := range closure([]int{i}, before) {
		collector, ok := g.nodes[j].exec.(Collector)
		if !ok || !leads {
			continue
		}
		for input := range collector.Collects() {
			forms[input] = g.nodes[j].id
			byUsers[input] = byUsers[input] || isByUsers(g.nodes[j].exec, input)
		}
	}
	return forms, byUsers
}

// isByUsers reports whether users state the value of an input that a node collects, here or at an identity provider.
func isByUsers(exec Executor, input string) bool {
	reader, reads := exec.(ClaimReader)
	return !reads || schemas.StatedByUsers(reader.ReadsClaims()[input])
}

// entered lists the values of runs that users state, and those in replies of services that depend on them.
func (g *Graph) entered() (list []schemas.EnteredValue) {
	for i, n := range g.nodes {
		var names []string
		if collector, ok := n.exec.(Collector); ok {
			for input, t := range collector.Collects() {
				if !t.Secret() && isByUsers(n.exec, input) {
					names = append(names, schemas.InputVariable(input))
				}
			}
		}
		if r := replyOf(n.exec); r != nil && len(r.Inputs) > 0 {
			for value := range r.Types {
				names = append(names, schemas.ReplyVariable(r.Name, value))
			}
		}
		slices.Sort(names)
		for _, name := range names {
			list = append(list, schemas.EnteredValue{Name: name, Node: n.id, Path: g.definitionPath(i)})
		}
	}
	return list
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
