package nodes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

func userCreateKind(d Deps) declared {
	return configured[userCreate](d, engine.Kind{
		Name: "user-create",
		Doc: "Creates a user from collected inputs. The user is stored with the first change that " +
			"concerns them, or when the run completes: an abandoned registration leaves no data behind.",
		Outcomes: []engine.Outcome{
			engine.On("created", engine.Effect{User: engine.CreatesUser}, engine.Outcome{
				Doc:        "the run now has a new user. A user with only an email address cannot be found again until it is verified",
				NewSubject: true, Establishes: []engine.Fact{engine.User, engine.New},
			}),
			engine.On("taken", engine.NoEffect(), engine.Outcome{Doc: "another user has the username or the verified email address, or an input is invalid for the user type", NewSubject: true}),
		},
	}, errorCodes{schemas.CodeAttributeTaken, schemas.CodeInvalidIdentifier, schemas.CodeUserDoesNotFit, schemas.CodeUserTypeNotAllowed},
		row{"created, taken", "a new user; the attributes that come from required inputs"})
}

type userCreate struct {
	node
	Type         string            `json:"type,omitempty" min:"1" doc:"The user type. Default: Person, or the first that the application allows."`
	OUID         string            `json:"ouId,omitempty" min:"1" doc:"The organization unit. Default: that of the application."`
	Attributes   map[string]string `json:"attributes,omitempty" min:"1" doc:"The input that each attribute takes its value from. By default, every input with the name of a standard profile attribute (username, email, given_name …) becomes that attribute." item.min:"1" item.doc:"The identifier of an input." key.pattern:"^[A-Za-z_][A-Za-z0-9_.-]{0,63}$" key.expect:"an attribute name of letters, digits, dots, dashes and underscores"`
	IdentifiedBy string            `json:"identifiedBy,omitempty" enum:"username,email" doc:"The attribute that the user must have, so that they can be found. Default: username or email, whichever the inputs include."`

	// from is Attributes or its default.
	from map[string]string
	// identifying lists the attributes that identify a user, who must have at least one.
	identifying []string
	types       map[string]schemas.InputType
}

func (u *userCreate) prepare(c *engine.Config) (found []schemas.Problem) {
	u.from, u.types = u.Attributes, c.Collected().Inputs
	if u.from == nil {
		u.from = defaultAttributes(c)
	}
	for _, attribute := range slices.Sorted(maps.Keys(u.Attributes)) {
		path := schemas.JoinPath("attributes", attribute)
		if attestedAttribute(attribute) {
			found = append(found, problem(path, "users cannot verify their own address: %s is set by a node that verifies it", attribute))
		}
		found = append(found, checkInput(c, path, u.Attributes[attribute])...)
	}
	identifiers := "a username or an email address"
	u.identifying = schemas.IdentifyingAttributes()
	if u.IdentifiedBy != "" {
		u.identifying, identifiers = []string{u.IdentifiedBy}, "the attribute "+u.IdentifiedBy
	}
	u.identifying = slices.DeleteFunc(u.identifying, func(a string) bool { return u.from[a] == "" })
	if len(u.identifying) == 0 && !c.Collected().Partial {
		found = append(found, problem("", "a user without %s could never be found again; "+
			"collect it in a prompt before this node, or name its input under attributes", identifiers))
	}
	u.needs = u.requirements()
	u.reveals = "which names and addresses are taken; no flow that creates users can hide this"
	u.outcomes[0].EstablishesGiven = u.established()
	return found
}

// established returns what the value of each input makes certain of the new user.
func (u *userCreate) established() map[engine.Fact][]engine.Fact {
	given := map[engine.Fact][]engine.Fact{}
	for _, attribute := range slices.Sorted(maps.Keys(u.from)) {
		input := engine.InputFact(u.from[attribute])
		given[input] = append(given[input], engine.AttributeFact(attribute))
		if attribute == "username" { // a user with a username can be found again
			given[input] = append(given[input], engine.Findable)
		}
	}
	return given
}

// defaultAttributes maps the inputs that are named like profile attributes.
func defaultAttributes(c *engine.Config) map[string]string {
	from := map[string]string{}
	for identifier, t := range c.Collected().Inputs {
		if slices.Contains(schemas.ProfileAttributes(), identifier) && !attestedAttribute(identifier) && !t.Secret() {
			from[identifier] = identifier
		}
	}
	return from
}

// requirements are the inputs of the configuration, and one that identifies.
func (u *userCreate) requirements() []engine.Need {
	var needs []engine.Need
	for _, attribute := range slices.Sorted(maps.Keys(u.Attributes)) {
		needs = append(needs, engine.Need{
			AnyOf: []engine.Fact{engine.InputFact(u.Attributes[attribute])},
			Why:   "the user's " + attribute + " is taken from it",
			Fix:   "make the input required in a prompt that every path passes",
			Path:  schemas.JoinPath("with.attributes", attribute),
		})
	}
	if u.Attributes != nil || len(u.identifying) == 0 {
		return needs
	}
	identify := engine.Need{
		Why: "a user without one could never be found again",
		Fix: "make one of these inputs required in a prompt that every path passes",
	}
	for _, attribute := range u.identifying {
		identify.AnyOf = append(identify.AnyOf, engine.InputFact(u.from[attribute]))
	}
	return append(needs, identify)
}

// Execute drafts the user if it fits its type and its identifying attributes are free. Another user
// can still take them before the draft is stored; the store checks again.
func (u *userCreate) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	attributes := u.attributes(v)
	if err := u.checkIdentity(attributes); err != nil {
		return nil, err
	}
	userType, scope, err := u.userType(ctx, v.Application)
	if err != nil {
		return failsOnUserType(err)
	}
	draft := &schemas.User{
		ID: schemas.NewID(), Type: userType, IdentifierScope: scope, OUID: u.ouID(v.Application),
		Attributes: attributes, CreatedAt: v.Now, UpdatedAt: v.Now,
	}
	if draft, err = u.deps.mapDraft(ctx, v.Identity, draft); err != nil {
		return failsOnUserType(err)
	}
	refused, err := u.refuse(ctx, draft)
	if err != nil {
		return failsOnUserType(err)
	}
	if refused != nil {
		return &engine.Decision{Outcome: "taken", Subject: &engine.Subject{}, Notice: refused}, nil
	}
	d := engine.LeaveBy("created")
	d.Subject = &engine.Subject{UserID: draft.ID, Draft: draft}
	return d, nil
}

// refuse returns why the user cannot be created, at the inputs of the attributes; nil if it can. A
// fault that comes from no input is returned as the error, because the user cannot correct it.
func (u *userCreate) refuse(ctx context.Context, draft *schemas.User) (*schemas.Error, error) {
	unfit, taken, err := u.deps.checkNames(ctx, draft, draft.Attributes)
	if err != nil {
		return nil, err
	}
	misfit, err := u.deps.checkType(ctx, draft)
	if err != nil && misfit == nil {
		return nil, err
	}
	reported := slices.Concat(unfit, taken, misfit)
	for i := range reported {
		attribute := attributeAt(reported[i].Path, maps.Keys(u.from))
		if attribute == "" {
			return nil, err
		}
		reported[i].Path = u.from[attribute]
	}
	reported = firstOfEach(reported)
	switch {
	case len(unfit) > 0:
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidIdentifier,
			"this cannot be used as an account name; choose another").WithProblems(reported), nil
	case len(taken) > 0:
		return schemas.Errorf(schemas.Invalid, schemas.CodeAttributeTaken,
			"this is already taken; choose another, or sign in if it is yours").WithProblems(reported), nil
	case len(reported) > 0:
		return schemas.Errorf(schemas.Invalid, schemas.CodeUserDoesNotFit,
			"some values are invalid; correct the marked fields").WithProblems(reported), nil
	}
	return nil, nil
}

func (u *userCreate) attributes(v *engine.Visit) map[string]any {
	attributes := map[string]any{}
	for attribute, identifier := range u.from {
		value, ok := v.Inputs[identifier]
		if !ok || value == "" {
			continue
		}
		attributes[attribute] = value
		if u.types[identifier] == schemas.NumberInput {
			if n, err := strconv.ParseFloat(value, 64); err == nil {
				attributes[attribute] = n
			}
		}
	}
	return attributes
}

func (u *userCreate) checkIdentity(attributes map[string]any) error {
	for _, attribute := range u.identifying {
		if s, _ := attributes[attribute].(string); s != "" {
			return nil
		}
	}
	return fmt.Errorf("the run has no value for any of %v", u.identifying)
}

// userType returns the configured type, or that of the application, and its identifier scope. It must
// be one of the types that the application admits.
func (u *userCreate) userType(ctx context.Context, app *schemas.Application) (name, scope string, err error) {
	name = cmp.Or(u.Type, app.NewUserType())
	t, err := u.deps.Directory.UserType(ctx, name)
	if err != nil {
		return "", "", err
	}
	if !app.Admits(name, t.IdentifierScope) {
		return "", "", schemas.Errorf(schemas.Invalid, schemas.CodeUserTypeNotAllowed,
			"this flow creates users of type %q, which application %q does not allow; add it to allowedUserTypes, or use another flow", name, app.Name)
	}
	return name, t.IdentifierScope, nil
}

// CreatesUsers implements engine.UserCreator.
func (u *userCreate) CreatesUsers() (userType, unit string, inputs map[string]string, listed bool) {
	return u.Type, u.OUID, u.from, u.Attributes != nil
}

func (u *userCreate) ouID(app *schemas.Application) string {
	if u.OUID == "" && app != nil {
		return app.OUID
	}
	return u.OUID
}
