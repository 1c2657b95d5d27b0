package nodes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

func attributesKind(d Deps) declared {
	return configured[attributes](d, engine.Kind{
		Name: "attributes",
		Acts: true,
		Doc: "Asks for attributes that the run's user does not have yet, as the schema of the user type defines them, " +
			"and stores them. If the user has them all, it shows no step. The user must be new in this run or have authenticated in it.",
		Asks: true,
		Needs: []engine.Need{{
			AnyOf: []engine.Fact{engine.Own},
			Rule:  engine.RuleTakeover,
			Why:   "it would change another user's account",
			Fix:   "create the user in this flow, or authenticate them before this node",
		}},
		Outcomes: []engine.Outcome{
			engine.On("done", engine.NoEffect(), engine.Outcome{Doc: "the user has the attributes"}),
			skipOutcome(),
		},
	}, errorCodes{schemas.CodeAttributeTaken, schemas.CodeInvalidIdentifier, schemas.CodeUserDoesNotFit, schemas.CodeUserTypeNotAllowed, schemas.CodeFactorRequired, schemas.CodeStaleProof},
		row{"done, skip (if `optional: true`)", "—"})
}

type attributes struct {
	node
	Attributes  []string `json:"attributes,omitempty" min:"1" unique:"true" doc:"The attributes to ask for, in order. Default: those that the user type requires. Attributes that the user type does not define, or that no form can ask for, are skipped." item.pattern:"^[A-Za-z_][A-Za-z0-9_.-]{0,63}$" item.expect:"an attribute name of letters, digits, dots, dashes and underscores" item.doc:"The name of an attribute."`
	Identifying bool     `json:"identifying,omitempty" default:"false" doc:"Whether the attributes may include username and email, whose values identify the user."`
	Title       string   `json:"title,omitempty" min:"1" default:"Tell us about yourself" doc:"The heading. Default: 'Tell us about yourself'."`
	Text        string   `json:"text,omitempty" min:"1" doc:"A paragraph below the heading."`
	Label       string   `json:"label,omitempty" min:"1" default:"Continue" doc:"The label of the button. Default: 'Continue'."`
	Optional    optional `json:"optional,omitempty"`
}

func (a *attributes) prepare(*engine.Config) (found []schemas.Problem) {
	for i, name := range a.Attributes {
		at := fmt.Sprintf("attributes[%d]", i)
		switch {
		case attestedAttribute(name):
			found = append(found, problem(at, "users cannot verify their own address: %s is set by a node that verifies it", name))
		case !a.Identifying && slices.Contains(schemas.IdentifyingAttributes(), name):
			found = append(found, problem(at, "%s identifies users; to let them set it here, set identifying: true", name))
		}
	}
	if a.Identifying && (len(a.Attributes) == 0 || slices.Contains(a.Attributes, "email")) {
		// A user without an address can enter one, which a later node verifies. A user who has one is not asked.
		a.outcomes[0] = a.outcomes[0].With(engine.Effect{Guarded: true, Given: []engine.Item{engine.NoAddress}, Adds: engine.Mailbox, Optional: true})
	}
	a.outcomes = a.Optional.outcomes(a.outcomes)
	a.reveals = "whether another user has the value of a unique attribute"
	return found
}

// AsksForAttributes implements engine.AttributeAsker.
func (a *attributes) AsksForAttributes() (names []string, identifying bool) {
	return a.Attributes, a.Identifying
}

// Execute asks until no attribute is missing.
func (a *attributes) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	user, err := a.deps.subjectUser(ctx, v)
	if err != nil {
		return nil, err
	}
	if a.Optional.isDeclined(v.Answer) {
		return engine.LeaveBy(skip), nil
	}
	lacking, err := a.lacking(ctx, v, user)
	switch {
	case err != nil:
		return failsOnUserType(err)
	case len(lacking) == 0:
		return engine.LeaveBy("done"), nil
	case v.Answer == nil:
		return a.ask(lacking, nil), nil
	}
	given, faults := acceptAttributes(lacking, v.Answer.Inputs)
	if len(faults) == 0 {
		if faults, err = a.check(ctx, user, given); err != nil {
			return nil, err
		}
	}
	if len(faults) > 0 {
		return a.ask(lacking, faults), nil
	}
	d := a.write(v, user, given)
	if !slices.ContainsFunc(d.Changes, func(c schemas.Change) bool { return schemas.ChangedAccount(c) != "" }) {
		return d, nil
	}
	refused, err := a.deps.refuseChange(ctx, v, false)
	if refused != nil || err != nil {
		return a.Optional.refuse(refused), err
	}
	return d, nil
}

func (a *attributes) ask(lacking []askedAttribute, faults []schemas.FieldError) *engine.Decision {
	f := form{title: cmp.Or(a.Title, "Tell us about yourself"), text: a.Text, buttons: []button{{ref: submitAction, label: cmp.Or(a.Label, "Continue")}}}
	for _, one := range lacking {
		f.fields = append(f.fields, one.field)
	}
	for _, b := range a.Optional.buttons() {
		b.event = schemas.TriggerEvent // otherwise pages insist on required inputs first
		f.buttons = append(f.buttons, b)
	}
	return &engine.Decision{Ask: f.ask(faults...)}
}

// lacking returns the attributes that the node asks for and the user does not have. Those of another owner, such as
// an identity provider, are not asked for: the store would refuse the answer.
func (a *attributes) lacking(ctx context.Context, v *engine.Visit, user *schemas.User) (list []askedAttribute, err error) {
	t, err := a.deps.Directory.UserType(ctx, user.Type)
	if err != nil {
		return nil, err
	}
	known, required, err := readUserType(t)
	if err != nil {
		return nil, err
	}
	names := a.Attributes
	if names == nil {
		names = required
	}
	wanted := map[string]any{}
	for _, name := range names {
		wanted[name] = true
	}
	owned, err := a.deps.ownedByOthers(ctx, v, wanted)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if slices.ContainsFunc(owned, func(p schemas.Problem) bool { return p.Path == schemas.MemberPath("", name) }) {
			continue
		}
		_, has := user.Attributes[name]
		identifies := slices.Contains(schemas.IdentifyingAttributes(), name)
		if one, askable := known[name]; askable && !has && !attestedAttribute(name) && (a.Identifying || !identifies) {
			list = append(list, one)
		}
	}
	return list, nil
}

// check returns the faults in the given attributes: values that do not fit the user's type, or that
// belong to another user. Faults in other attributes are not reported, because the user cannot fix
// them here.
func (a *attributes) check(ctx context.Context, user *schemas.User, given map[string]any) (faults []schemas.FieldError, err error) {
	changed := user.With(given)
	unfit, taken, err := a.deps.checkNames(ctx, changed, given)
	if err != nil {
		return nil, err
	}
	misfit, err := a.deps.checkType(ctx, changed)
	if err != nil && misfit == nil {
		return nil, err
	}
	found := slices.Concat(unfit, taken)
	for _, p := range misfit {
		if name := attributeAt(p.Path, maps.Keys(given)); name != "" {
			found = append(found, schemas.Problem{Path: name, Message: p.Message})
		}
	}
	for _, p := range firstOfEach(found) {
		faults = append(faults, schemas.FieldError{Identifier: p.Path, Message: p.Message})
	}
	return faults, nil
}

// write adds the attributes to the stored user, or to the user that the run is about to store.
func (a *attributes) write(v *engine.Visit, user *schemas.User, given map[string]any) *engine.Decision {
	d := engine.LeaveBy("done")
	if v.Subject.Draft != nil && !storesUser(v) {
		d.Subject = redrafted(v, user, given)
		return d
	}
	d.Changes = []schemas.Change{
		schemas.UpdateUser{UserID: user.ID, Attributes: given, At: v.Now, AddedBy: a.provenance(v), By: flowWriter()},
		event(v, "user.updated", user.ID, nil),
	}
	return d
}

// storesUser reports whether this step stores the user that the run creates.
func storesUser(v *engine.Visit) bool {
	return slices.ContainsFunc(v.Pending, func(change schemas.Change) bool {
		c, ok := change.(schemas.CreateUser)
		return ok && c.User.ID == v.Subject.UserID
	})
}
