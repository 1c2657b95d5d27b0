package nodes

import (
	"context"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// One sign-in serves many applications
//
// The node finds the session that the person's browser has from an earlier
// sign-in, to whatever application, and lets the run go on as that sign-in left
// it: the same user, by the same proofs, at the time they were given. Nobody is
// asked anything, so what stands in for a proof here must be worth as much.
//
// A session is worth what its sign-in proved. One that began with a password
// must not open an application whose flow takes passkeys alone: whoever phished
// the password of one application would be in the other. So a flow whose other
// ways demand more than a password says so in `methods`, and a session that
// lacks one of them counts for nothing. A flow that takes a password as well as
// a passkey need not: no session counts that is worth less than a password, such
// as one that began with a recovery code, unless `acr` says that it does.
//
// What the flow guarantees it demands of the session by itself, so that the
// guarantee holds for those who are not asked anything too.
//
// What is asked by the application for this sign-in comes on top: prompt,
// max_age, acr_values and whom it means by id_token_hint (OpenID Connect Core
// §3.1.2.1).
//
// A run that knows of somebody already goes on by a session of theirs only.
// The session of another is as good as none: a run must not ask one person for
// proofs and end as another's.

func sessionCheckKind(d Deps) *engine.Kind {
	return &engine.Kind{
		Name: "session-check",
		Doc: "Signs in by the session that the browser has from an earlier sign-in, to whatever application. " +
			"The user counts as authenticated by what they proved then, at the time they did. It asks nothing. " +
			"Without configuration any session will do that is worth a password, also one that began with a password alone: where the other " +
			"ways of the flow demand more, say in methods or acr what the session must rest on. What the flow guarantees it demands by itself.",
		With:     schemas.MustSchema("session-check", sessionCheckSchema),
		Outcomes: sessionCheckOutcomes(),
		New: func(c *engine.Config) (engine.Executor, []schemas.Problem) {
			with, found := configure[sessionCheckWith](c)
			return newSessionCheck(with, c.Guarantees, d.Users), found
		},
	}
}

func sessionCheckOutcomes() []engine.Outcome {
	return []engine.Outcome{
		{
			Name: "active", Doc: "the browser has a session, and neither this node nor the authorization request asks for more",
			NewSubject: true, Establishes: []engine.Fact{engine.User, engine.Authenticated},
		},
		{
			Name: "none",
			Doc: "there is no session, or not one that will do: it is another user's than the run is about, or its user is gone " +
				"or of a type that the application does not serve, or it lacks a method, or the authorization request " +
				"asks for somebody else, for a fresh sign-in, or for a later or stronger one",
		},
	}
}

const sessionCheckSchema = `{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "methods": {
      "type": "array", "minItems": 1, "uniqueItems": true, "x-unordered": true,
      "description": "What the session's sign-in must have proved, all of it: authentication methods of RFC 8176. pwd is a password; otp a code of an authenticator app; recovery a recovery code; email a code sent by mail; pop a passkey of any sort, hwk one that stays on its device, swk one that is synced; user says that the passkey verified who used it; mfa that there were two factors. By default any session will do.",
      "items": {"enum": ["pwd", "otp", "recovery", "email", "fed", "pop", "hwk", "swk", "user", "mfa"], "description": "A method."}
    },
    "acr": {
      "enum": ["urn:postern:acr:vouched", "urn:postern:acr:recovery", "urn:postern:acr:otp", "urn:postern:acr:password", "urn:postern:acr:mfa", "phr", "phrh"],
      "description": "The weakest class that the session's sign-in may be of: urn:postern:acr:vouched is a code sent by mail, or the word of another identity provider, urn:postern:acr:recovery a recovery code, urn:postern:acr:otp a one-time code alone, urn:postern:acr:password a password, urn:postern:acr:mfa something known with something held, phr a passkey, phrh one that stays on its device. By default that which the flow guarantees, or else a password."
    }
  }
}`

type sessionCheckWith struct {
	Methods []string `json:"methods,omitempty"`
	ACR     string   `json:"acr,omitempty"`
}

type sessionCheck struct {
	methods []string // all of which the session must rest on
	acr     string   // the weakest class that will do, "" for any
	users   Users
}

// newSessionCheck demands what the node is configured to, and what the flow
// guarantees.
func newSessionCheck(with sessionCheckWith, g schemas.Guarantees, users Users) *sessionCheck {
	c := &sessionCheck{methods: slices.Concat(with.Methods, g.Methods()), acr: with.ACR, users: users}
	if schemas.ACRStrength(g.Class()) > schemas.ACRStrength(c.acr) {
		c.acr = g.Class()
	}
	return c
}

// Outcomes tells what a session that will do has proved.
func (c *sessionCheck) Outcomes() []engine.Outcome {
	outcomes := sessionCheckOutcomes()
	for _, method := range c.methods {
		outcomes[0].Establishes = append(outcomes[0].Establishes, engine.AMRFact(method))
	}
	if c.acr != "" {
		outcomes[0].Establishes = append(outcomes[0].Establishes, engine.ACRFact(c.acr))
	}
	return outcomes
}

// Execute never asks. Why a session did not do is not told: it is nobody's
// mistake.
func (c *sessionCheck) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	s := v.Request.Session
	if s == nil || !c.does(s, v) {
		return engine.Leave("none"), nil
	}
	user, err := c.users.User(ctx, s.UserID)
	switch {
	case schemas.HasCode(err, schemas.CodeUserNotFound):
		return engine.Leave("none"), nil
	case err != nil:
		return nil, err
	case !serves(v.Application, user):
		return engine.Leave("none"), nil
	}
	d := engine.Leave("active")
	d.Subject = &engine.Subject{UserID: s.UserID}
	d.Methods, d.ACR, d.At, d.Session = s.AMR, s.ACR, s.CreatedAt, s.ID
	d.Proofs = append(slices.Clone(s.Proofs), schemas.Proof{Kind: schemas.SessionProof, Of: s.ID})
	return d, nil
}

// does reports whether the session is one that this sign-in may rest on. One
// that does not say how it began vouches for nothing.
func (c *sessionCheck) does(s *schemas.Session, v *engine.Visit) bool {
	lacks := func(method string) bool { return !slices.Contains(s.AMR, method) }
	return v.Now.Before(s.ExpiresAt) && len(s.AMR) > 0 && !slices.ContainsFunc(c.methods, lacks) &&
		!weaker(s.ACR, c.acr) &&
		checkHolder(v.Subject, s.UserID) == nil && v.Login.Accept(s, v.Now)
}

// weaker reports whether a session of a class will not do where one of class
// wanted would. Where none is wanted it is that which is worth less than a
// password; a class that is none of ours is another program's to order.
func weaker(acr, wanted string) bool {
	if wanted == "" {
		strength := schemas.ACRStrength(acr)
		return strength >= 0 && strength < schemas.ACRStrength(schemas.ACRPassword)
	}
	return !schemas.Satisfies(acr, wanted)
}
