package directory

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// misfitKind is the way in which a flow does not fit its users.
type misfitKind int

const (
	unsetAttribute     misfitKind = iota // the type requires the attribute, and the flow does not set it
	unsetPassword                        // the type requires a password, and the flow does not set one
	undefinedAttribute                   // the flow sets an attribute that the type does not have
	undefinedType                        // the flow names a type that does not exist
	refusedType                          // the application allows no type that the flow creates users of
	unknownQuestion                      // the flow asks for an attribute that no type has
	settableClaim                        // users can set the attribute of an authoritative claim of the application
	unproducedValue                      // a claim of the application reads a value that none of its flows has
)

// misfitKey identifies a misfit across a change. It does not contain the node, which a new version
// of the flow can rename.
type misfitKey struct {
	kind                                       misfitKind
	flowID, applicationID, userType, attribute string
}

// misfit describes a misfit for messages.
type misfit struct {
	misfitKey
	flow, application string // the handle and the name
	member            string // the member of the application that names the flow, "" for none
	node, path, form  string // of the flow
	listed            bool   // the configuration of the node lists the attributes
	hint              string // a similar name, as a question
	claim             *schemas.SettableClaim
}

// typeDefinition is what misfits need to know of a user type.
type typeDefinition struct {
	credential string
	required   []string
	known      []string
	scope      string
	open       bool // it allows attributes that it does not name
}

func defineType(t *schemas.UserType) typeDefinition {
	var schema struct {
		Required []string `json:"required"`
	}
	_ = json.Unmarshal(t.Schema, &schema) // it was checked when it was stored
	names, open := t.AttributeNames()
	return typeDefinition{credential: t.CredentialAttribute(), required: schema.Required, known: names, scope: t.IdentifierScope, open: open}
}

func (t typeDefinition) defines(attribute string) bool {
	return t.open || slices.Contains(t.known, attribute)
}

// misfitSearch finds the misfits of a system.
type misfitSearch struct {
	uses   func(*schemas.Flow) schemas.AttributeUses
	starts map[string][]flowStart
	types  map[string]typeDefinition
	found  []misfit
}

// introducedMisfits returns the misfits of the state after a change that the state before it did not have.
func (d *Directory) introducedMisfits(before, after *systemState, c *systemChange) []misfit {
	// Both are of the same flows: a new application can start a flow that already is a misfit for another.
	starts := after.flowStarts()
	concerned := func(flowID string) bool { return c.concerns(flowID, starts[flowID]) }
	claimed := concerned
	if c.readsRuns() {
		claimed = nil // any of its flows can have the value of a new claim
	}
	uses := rememberUses(d.AttributeUses)
	list := func(system *systemState) []misfit {
		s := newMisfitSearch(system, uses)
		s.addFlows(system, concerned)
		s.addSettable(d, system)
		s.addUnproduced(system, claimed)
		return s.found
	}
	known := map[misfitKey]bool{}
	for _, m := range list(before) {
		known[m.misfitKey] = true
	}
	return slices.DeleteFunc(list(after), func(m misfit) bool { return known[m.misfitKey] })
}

// rememberUses returns a function that compiles each flow once.
func rememberUses(uses func(*schemas.Flow) schemas.AttributeUses) func(*schemas.Flow) schemas.AttributeUses {
	known := map[*schemas.Flow]schemas.AttributeUses{}
	return func(f *schemas.Flow) schemas.AttributeUses {
		found, is := known[f]
		if !is {
			found = uses(f)
			known[f] = found
		}
		return found
	}
}

// addFlows adds the misfits of the concerned flows; nil is all flows.
func (s *misfitSearch) addFlows(system *systemState, concerned func(flowID string) bool) {
	for _, id := range slices.Sorted(maps.Keys(system.flows)) {
		if concerned == nil || concerned(id) {
			s.addFlow(system.flows[id])
		}
	}
}

func newMisfitSearch(system *systemState, uses func(*schemas.Flow) schemas.AttributeUses) *misfitSearch {
	s := &misfitSearch{uses: uses, starts: system.flowStarts(), types: map[string]typeDefinition{}}
	for _, t := range system.types {
		s.types[t.Name] = defineType(t)
	}
	return s
}

// concerns reports whether a change can introduce a misfit of a flow that applications start.
func (c *systemChange) concerns(flowID string, starts []flowStart) bool {
	if len(c.types) > 0 {
		return true
	}
	_, changed := c.flows[flowID]
	return changed || slices.ContainsFunc(starts, func(s flowStart) bool {
		_, changed := c.applications[s.application.ID]
		return changed
	})
}

// newMisfits returns the misfits that a flow would introduce if it were stored, in the place of the
// stored flow of its type and handle if there is one, and warnings about claims that users could set with it.
func (d *Directory) newMisfits(ctx context.Context, c Call, f *schemas.Flow) ([]schemas.Problem, error) {
	if d.AttributeUses == nil {
		return nil, nil
	}
	r := d.reader(c)
	stored, err := store.Flows().Find(ctx, r, f.FlowType, f.Handle)
	if err != nil {
		return nil, err
	}
	candidate := *f
	system, err := readStarts(ctx, r)
	if err == nil && stored != nil && system.readsRunOf(stored.ID) {
		system, err = readSystem(ctx, r)
	}
	if err != nil {
		return nil, err
	}
	if stored != nil {
		candidate.ID, system.flows[stored.ID] = stored.ID, stored
	}
	change := newSystemChange()
	change.flows[candidate.ID] = &candidate
	after := system.with(change)
	problems := d.describeMisfits(c, "flow", d.introducedMisfits(system, after, change))
	return append(problems, d.claimWarnings(c, after, candidate.ID)...), nil
}

// flowStart is an application that can start a flow.
type flowStart struct {
	application *schemas.Application
	member      string // that names the flow
}

// flowStarts returns the applications that can start each flow, by the ids of the flows.
func (s *systemState) flowStarts() map[string][]flowStart {
	starts := map[string][]flowStart{}
	for _, applicationID := range slices.Sorted(maps.Keys(s.applications)) {
		a := s.applications[applicationID]
		if isUntrusted(a) {
			continue
		}
		for _, id := range a.StartedFlows() {
			var member string
			for _, f := range a.Flows() {
				if id == *f.ID {
					member = f.Path
				}
			}
			starts[id] = append(starts[id], flowStart{a, member})
		}
	}
	return starts
}

// writesAttributes reports whether a flow or one of its parts has a node that sets attributes.
func writesAttributes(f *schemas.Flow) bool {
	for _, part := range f.Parts {
		if writesAttributes(part) {
			return true
		}
	}
	return slices.ContainsFunc(f.Nodes, func(n schemas.Node) bool { return n.Use == "user-create" || n.Use == "attributes" })
}

// addFlow adds the misfits of a flow that can be started.
func (s *misfitSearch) addFlow(f *schemas.Flow) {
	if f.FlowType == schemas.Subflow || !writesAttributes(f) {
		return
	}
	uses, starts := s.uses(f), s.starts[f.ID]
	for _, q := range uses.Questions {
		for _, attribute := range q.Attributes {
			s.checkQuestion(misfit{
				misfitKey: misfitKey{kind: unknownQuestion, flowID: f.ID, attribute: attribute}, flow: f.Handle, node: q.Node, path: q.Path,
			})
		}
	}
	if len(starts) == 0 {
		starts = []flowStart{{}} // without an application only explicit types are known
	}
	for _, start := range starts {
		at := misfit{misfitKey: misfitKey{flowID: f.ID}, flow: f.Handle, member: start.member}
		if start.application != nil {
			at.applicationID, at.application = start.application.ID, start.application.Name
		}
		s.addStart(at, start.application, uses.Creations)
	}
}

// checkQuestion adds the misfit if no user type has its attribute.
func (s *misfitSearch) checkQuestion(m misfit) {
	var known []string
	for _, t := range s.types {
		if t.defines(m.attribute) {
			return
		}
		known = append(known, t.known...)
	}
	m.hint = schemas.Hint(m.attribute, known)
	s.found = append(s.found, m)
}

// addStart adds the misfits of a flow that an application starts; nil is no application.
func (s *misfitSearch) addStart(at misfit, app *schemas.Application, creations []schemas.UserCreation) {
	allowed := 0
	for _, c := range creations {
		if c.Type == "" && app == nil {
			continue
		}
		at.node, at.path, at.form, at.listed, at.userType = c.Node, c.Path, c.Form, c.Listed, c.Type
		if c.Type == "" {
			at.userType = app.NewUserType()
		}
		if app.Admits(at.userType, s.types[at.userType].scope) {
			allowed++
			s.addCreation(at, c)
		}
	}
	if len(creations) > 0 && allowed == 0 && app != nil {
		at.kind = refusedType
		s.found = append(s.found, at)
	}
}

// addCreation adds the misfits of a node that creates users of the type.
func (s *misfitSearch) addCreation(at misfit, c schemas.UserCreation) {
	add := func(kind misfitKind, attribute, hint string) {
		at.kind, at.attribute, at.hint = kind, attribute, hint
		s.found = append(s.found, at)
	}
	t, exists := s.types[at.userType]
	if !exists {
		add(undefinedType, "", schemas.Hint(at.userType, slices.Collect(maps.Keys(s.types))))
		return
	}
	for _, attribute := range t.required {
		switch {
		case attribute == t.credential && !c.Password:
			add(unsetPassword, attribute, "")
		case attribute != t.credential && c.Inputs[attribute] == "":
			add(unsetAttribute, attribute, "")
		}
	}
	for _, attribute := range slices.Sorted(maps.Keys(c.Inputs)) {
		if !t.defines(attribute) {
			add(undefinedAttribute, attribute, schemas.Hint(attribute, t.known))
		}
	}
}

// misfitReader words misfits for a caller who may read some of the resources.
type misfitReader struct{ flows, types, applications bool }

// message returns what is wrong, and how to fix it.
func (r misfitReader) message(m misfit) string {
	flow, node := "a flow", ""
	if r.flows {
		flow, node = fmt.Sprintf("the flow %q", m.flow), fmt.Sprintf(" at the node %q", m.node)
	}
	users := fmt.Sprintf("users of the type %q", m.userType)
	if m.application != "" && r.applications {
		users += fmt.Sprintf(", as for the application %q,", m.application)
	}
	switch m.kind {
	case settableClaim:
		return r.settable(m.claim)
	case unproducedValue:
		return r.unproduced(m)
	}
	attribute := "an attribute"
	if r.types || r.flows && m.kind != unsetAttribute {
		attribute = fmt.Sprintf("the attribute %q", m.attribute)
	}
	switch m.kind {
	case unsetAttribute:
		return fmt.Sprintf("%s creates %s%s without %s, which the type requires; %s", flow, users, node, attribute, r.fixUnset(m))
	case unsetPassword:
		return fmt.Sprintf("%s creates %s%s without a password, which the type requires; add a node password-set to the flow, or make the password optional in the type", flow, users, node)
	case undefinedAttribute:
		return fmt.Sprintf("%s creates %s%s with %s, which the type does not define%s", flow, users, node, attribute, r.orElse(m, "add it to the schema of the type, or remove it from the flow"))
	case undefinedType:
		return fmt.Sprintf("%s creates %s%s, and there is no such type%s", flow, users, node, r.orElse(m, "create it first, or name another one"))
	case refusedType:
		return fmt.Sprintf("%s creates %s%s, which the application does not allow; add the type to allowedUserTypes, or use another flow", flow, users, node)
	}
	return fmt.Sprintf("%s asks%s for %s, which no user type defines%s", flow, node, attribute, r.orElse(m, "add it to the schema of a type, or remove it from the node"))
}

// orElse returns the fix after a suggestion, which only a caller gets who may read the user types.
func (r misfitReader) orElse(m misfit, fix string) string {
	if m.hint == "" || !r.types {
		return "; " + fix
	}
	return m.hint + " Otherwise " + fix
}

// fixUnset describes how to set a required attribute.
func (r misfitReader) fixUnset(m misfit) string {
	if !r.flows {
		return "let a user who may change flows add it to the flow first, or make it optional"
	}
	name := m.attribute
	if !r.types {
		return "ask a user who may read the user types which attribute it is, and collect it in a prompt before the node"
	}
	form := "a prompt before the node"
	if m.form != "" {
		form = fmt.Sprintf("the prompt %q", m.form)
	}
	if !m.listed && slices.Contains(schemas.ProfileAttributes(), name) {
		return fmt.Sprintf("add an input %q to %s, or make the attribute optional in the type", name, form)
	}
	list := "add it to"
	if !m.listed {
		list = "list it, with the other attributes, under"
	}
	return fmt.Sprintf("collect an input for it in %s and %s `with.attributes` of the node %q (%s: <input>), or make the attribute optional in the type", form, list, m.node, name)
}
