package nodes

import (
	"context"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

func userResolveKind(d Deps) *engine.Kind {
	return &engine.Kind{
		Name: "user-resolve",
		Doc: "Finds the user that a collected input identifies. The user is only identified: " +
			"another person may have entered the name.",
		With:     schemas.MustSchema("user-resolve", userResolveSchema),
		Outcomes: userResolveOutcomes(),
		New:      func(c *engine.Config) (engine.Executor, []schemas.Problem) { return newUserResolve(c, d.Users) },
	}
}

func userResolveOutcomes() []engine.Outcome {
	return []engine.Outcome{
		{Name: "found", Doc: "there is such a user", NewSubject: true, Establishes: []engine.Fact{engine.User}},
		{Name: "missing", Doc: "there is no such user", NewSubject: true},
	}
}

const userResolveSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["by", "from"],
  "properties": {
    "by": {
      "type": "array", "minItems": 1, "uniqueItems": true,
      "description": "The attributes to look the user up by; the first that matches counts.",
      "items": {"enum": ["username", "email"], "description": "An attribute that no two users share."}
    },
    "from": {"type": "string", "minLength": 1, "description": "The identifier of the input that names the user."},
    "conceal": {
      "type": "boolean",
      "default": false, "description": "Whether to keep from the client that there is no such user. Both outcomes must then lead to the same node, and everything after carries on as if there were one."
    }
  }
}`

type userResolveWith struct {
	By      []string `json:"by"`
	From    string   `json:"from"`
	Conceal bool     `json:"conceal,omitempty"`
}

type userResolve struct {
	userResolveWith
	users Users
}

func newUserResolve(c *engine.Config, users Users) (engine.Executor, []schemas.Problem) {
	with, found := configure[userResolveWith](c)
	found = append(found, checkInput(c, "from", with.From)...)
	next := c.Node.Next
	if with.Conceal && next.By != nil && next.By["found"] != next.By["missing"] {
		found = append(found, problem("conceal", "conceal hides whether the user exists, "+
			"but found leads to %q and missing to %q; lead both to one node, or leave conceal out",
			next.By["found"], next.By["missing"]))
	}
	return &userResolve{userResolveWith: with, users: users}, found
}

// Needs requires a value for the input.
func (r *userResolve) Needs() []engine.Need {
	return []engine.Need{{
		AnyOf: []engine.Fact{engine.InputFact(r.From)},
		Why:   "without it there is no user to look for",
		Fix:   "lead only actions here that submit the input, and make it required in its prompt",
		Path:  "with.from",
	}}
}

// Reveals reports that the outcome reveals whether the user exists.
func (r *userResolve) Reveals() string {
	if r.Conceal {
		return ""
	}
	return "whether the name is found; set conceal: true and lead both outcomes to one node"
}

// Outcomes establishes which input identified the user. If concealed, the run continues without a
// user as if there were one.
func (r *userResolve) Outcomes() []engine.Outcome {
	outcomes := userResolveOutcomes()
	for i := range outcomes {
		if outcomes[i].Name == "found" || r.Conceal {
			outcomes[i].Establishes = append(outcomes[i].Establishes, engine.ClaimFact(r.From))
		}
	}
	return outcomes
}

// Execute looks the user up.
func (r *userResolve) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	name := v.Inputs[r.From]
	user, err := r.find(ctx, identifierType(v.Application), name)
	if err != nil {
		return nil, err
	}
	if user != nil {
		d := engine.LeaveBy("found")
		d.Subject = &engine.Subject{UserID: user.ID, Input: r.From}
		if r.Conceal {
			d.Subject.Name = name
		}
		return d, nil
	}
	d := engine.LeaveBy("missing")
	d.Subject = &engine.Subject{}
	switch {
	case r.Conceal:
		d.Subject = &engine.Subject{Name: name, Input: r.From}
	case v.FlowType == schemas.Authentication:
		// A user who registers is not expected to exist yet: that is no error.
		d.Notice = schemas.Errorf(schemas.Invalid, schemas.CodeUserNotFound,
			"there is no user of this name; check the spelling, or sign up")
	}
	return d, nil
}

// find returns nil if there is no such user. If that is concealed, it does the same look-ups for
// every name, so that the time does not reveal it.
func (r *userResolve) find(ctx context.Context, userType, name string) (*schemas.User, error) {
	var found *schemas.User
	for _, attribute := range r.By {
		user, err := r.users.UserByAttribute(ctx, userType, attribute, name)
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
