package nodes

import (
	"context"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

func userResolveKind(d Deps) declared {
	return configured[userResolve](d, engine.Kind{
		Name: "user-resolve",
		Open: true,
		Doc: "Finds the user that a collected input identifies. The user is only identified: " +
			"another person may have entered the name.",
		Outcomes: []engine.Outcome{
			engine.On("found", engine.Effect{User: engine.FindsUser}, engine.Outcome{Doc: "there is such a user", NewSubject: true, Establishes: []engine.Fact{engine.User}}),
			engine.On("missing", engine.Effect{User: engine.LosesUser}, engine.Outcome{Doc: "there is no such user", NewSubject: true}),
		},
	}, errorCodes{schemas.CodeUserNotFound},
		row{"found, missing", "a user, identified but not authenticated; the attribute, if `by` is only one"})
}

type userResolve struct {
	node
	By      []string `json:"by" min:"1" unique:"true" doc:"The attributes to look up the user by. The first that matches is used." item.enum:"username,email" item.doc:"An attribute whose value is unique among users."`
	From    string   `json:"from" min:"1" doc:"The identifier of the input to look up the user by."`
	Conceal bool     `json:"conceal,omitempty" default:"false" doc:"Whether to hide from the client that there is no such user. Both outcomes must then lead to the same node, and all later nodes behave as if the user existed."`
}

// prepare declares which input identified the user, and that the outcome reveals whether the user
// exists. If that is concealed, the run continues without a user as if there were one.
func (r *userResolve) prepare(c *engine.Config) []schemas.Problem {
	found := checkInput(c, "from", r.From)
	r.needs = []engine.Need{{
		AnyOf: []engine.Fact{engine.InputFact(r.From)},
		Why:   "without it there is no user to look up",
		Fix:   "make the input required in its prompt, and route only actions that submit it to this node",
		Path:  "with.from",
	}}
	for i := range r.outcomes {
		if r.outcomes[i].Name() == "found" || r.Conceal {
			r.outcomes[i].Establishes = append(r.outcomes[i].Establishes, engine.ClaimFact(r.From))
		}
	}
	if len(r.By) == 1 {
		r.outcomes[0].Establishes = append(r.outcomes[0].Establishes, engine.AttributeFact(r.By[0]))
	}
	next := c.Node.Next
	if !r.Conceal {
		r.reveals = "whether the name is found; set conceal: true and lead both outcomes to one node"
	} else if next.By != nil && next.By["found"] != next.By["missing"] {
		found = append(found, problem("conceal", "conceal hides whether the user exists, "+
			"but found leads to %q and missing to %q; lead both to one node, or remove conceal",
			next.By["found"], next.By["missing"]))
	}
	return found
}

// Execute looks the user up.
func (r *userResolve) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	name := v.Inputs[r.From]
	user, err := r.find(ctx, identifierType(v.Application), name)
	if err != nil {
		return nil, err
	}
	d := &engine.Decision{Outcome: "missing", Subject: &engine.Subject{}}
	if r.Conceal {
		d.Subject.Name, d.Subject.Input = name, r.From
	}
	if user != nil {
		d.Outcome = "found"
		d.Subject.UserID, d.Subject.Input = user.ID, r.From
	} else if !r.Conceal && v.FlowType == schemas.Authentication {
		// A user who registers is not expected to exist yet: that is no error.
		d.Notice = schemas.Errorf(schemas.Invalid, schemas.CodeUserNotFound,
			"there is no user with this name; check the spelling, or sign up")
	}
	return d, nil
}

// find returns nil if there is no such user. If that is concealed, it does the same look-ups for
// every name, so that the time does not reveal it.
func (r *userResolve) find(ctx context.Context, userType, name string) (*schemas.User, error) {
	var found *schemas.User
	for _, attribute := range r.By {
		user, err := r.deps.Store.UserByAttribute(ctx, userType, attribute, name)
		switch {
		case schemas.HasCode(err, schemas.CodeUserNotFound):
		case err != nil:
			return nil, err
		case !r.Conceal:
			return user, nil
		case found == nil:
			found = user
		}
	}
	return found, nil
}

// identifierType returns the user type in whose identifier scope an application's sign-ins look for
// users, "" for the global scope. An application with a type that has its own scope allows no other
// type, so a name never identifies two users.
func identifierType(app *schemas.Application) string {
	if app == nil || len(app.AllowedUserTypes) != 1 {
		return ""
	}
	return app.AllowedUserTypes[0]
}
