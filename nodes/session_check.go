package nodes

import (
	"cmp"
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
// A session is worth what its sign-in proved. One that began with a password must not
// open an application whose flow takes passkeys alone: whoever phished the password of
// one application would be in the other. So by itself the node demands of a session
// the class that all other paths through the flow prove (engine/session.go), unless
// what follows makes up for it, and at least a password: a session that began with a
// recovery code, or a code by mail, counts only if `acr` says so. An `acr` by which
// less would do than the other paths prove is a finding.
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
			"By itself it demands the class that every other path through the flow proves, unless what follows makes up for it, " +
			"at least urn:postern:acr:password, and what the flow guarantees. Set acr to demand another class, and methods to demand certain methods.",
		With:     schemas.MustSchema("session-check", sessionCheckSchema),
		Outcomes: sessionCheckOutcomes(),
		New: func(c *engine.Config) (engine.Executor, []schemas.Problem) {
			with, found := configure[sessionCheckWith](c)
			return newSessionCheck(with, c.Guarantees, d.Users), found
		},
	}
}

const activeOutcome = "active"

func sessionCheckOutcomes() []engine.Outcome {
	return []engine.Outcome{
		{
			Name: activeOutcome, Doc: "the browser has a session, and neither this node nor the authorization request asks for more",
			NewSubject: true, Establishes: []engine.Fact{engine.User, engine.Authenticated},
		},
		{
			Name: "none",
			Doc: "there is no session, or not one that will do: it is another user's than the run is about, or its user is gone, disabled or locked, " +
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
      "description": "What the session's sign-in must have proved, all of it: authentication methods of RFC 8176. pwd is a password; otp a code of an authenticator app; recovery a recovery code; email a code sent by mail; pop a passkey of any sort, hwk an attested one that stays in hardware, swk one that is synced; user says that the passkey verified who used it; mfa that there were two factors. By default none in particular.",
      "items": {"enum": ["pwd", "otp", "recovery", "email", "fed", "pop", "hwk", "swk", "user", "mfa"], "description": "A method."}
    },
    "acr": {
      "enum": ["urn:postern:acr:vouched", "urn:postern:acr:recovery", "urn:postern:acr:otp", "urn:postern:acr:password", "urn:postern:acr:mfa", "phr", "phrh", "urn:postern:acr:mfa-phr", "urn:postern:acr:mfa-phrh"],
      "description": "The class that the session's sign-in must satisfy: urn:postern:acr:vouched is a code sent by mail, or the word of another identity provider, urn:postern:acr:recovery a recovery code, urn:postern:acr:otp a one-time code alone, urn:postern:acr:password a password, or any passkey, urn:postern:acr:mfa two factors, phr a passkey, phrh an attested one that stays in hardware, urn:postern:acr:mfa-phr and urn:postern:acr:mfa-phrh two factors of which one is such a passkey. By default urn:postern:acr:password, or the class that every other path through the flow proves, if the run could else complete with less. A class by which it could is a finding of the rule session."
    }
  }
}`

type sessionCheckWith struct {
	Methods []string `json:"methods,omitempty"`
	ACR     string   `json:"acr,omitempty"`
}

type sessionCheck struct {
	methods  []string // all of which the session must rest on
	acr      string   // the class that the session must satisfy
	explicit bool     // the configuration says which class will do
	users    Users
}

// newSessionCheck demands what the node is configured to, and what the flow
// guarantees. If it is not configured which class will do, that is a password until
// RequireClass says what the other paths prove.
func newSessionCheck(with sessionCheckWith, g schemas.Guarantees, users Users) *sessionCheck {
	return &sessionCheck{
		methods: slices.Concat(with.Methods, g.Methods()), explicit: with.ACR != "",
		acr: schemas.CombineACRs(cmp.Or(with.ACR, schemas.ACRPassword), g.Class()), users: users,
	}
}

// ResumedOutcome returns the outcome that rests on an earlier sign-in.
func (c *sessionCheck) ResumedOutcome() string { return activeOutcome }

// RequireClass adds the class that the other paths prove, unless `acr` says which class
// will do.
func (c *sessionCheck) RequireClass(class string) engine.Executor {
	if c.explicit {
		return c
	}
	demanding := *c
	demanding.acr = schemas.CombineACRs(c.acr, class)
	return &demanding
}

// Outcomes tells what a session that will do has proved.
func (c *sessionCheck) Outcomes() []engine.Outcome {
	outcomes := sessionCheckOutcomes()
	for _, method := range c.methods {
		outcomes[0].Establishes = append(outcomes[0].Establishes, engine.AMRFact(method))
	}
	outcomes[0].Establishes = append(outcomes[0].Establishes, engine.ACRFacts(c.acr)...)
	return outcomes
}

// Execute never asks. Why a session did not do is not told: it is nobody's
// mistake.
func (c *sessionCheck) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	s := v.Request.Session
	if s == nil || !c.isAcceptable(s, v) {
		return engine.LeaveBy("none"), nil
	}
	user, err := c.users.User(ctx, s.UserID)
	switch {
	case schemas.HasCode(err, schemas.CodeUserNotFound):
		return engine.LeaveBy("none"), nil
	case err != nil:
		return nil, err
	case !allowsUserType(v.Application, user) || user.CheckActive(v.Now) != nil:
		return engine.LeaveBy("none"), nil
	}
	d := engine.LeaveBy(activeOutcome)
	d.Subject = &engine.Subject{UserID: s.UserID}
	d.Methods, d.ACR, d.At, d.Session = s.AMR, s.ACR, s.CreatedAt, s.ID
	d.Proofs = append(slices.Clone(s.Proofs), schemas.Proof{Kind: schemas.SessionProof, Of: s.ID})
	return d, nil
}

// isAcceptable reports whether the session is one that this sign-in may rest on. One
// that does not say how it began vouches for nothing.
func (c *sessionCheck) isAcceptable(s *schemas.Session, v *engine.Visit) bool {
	lacks := func(method string) bool { return !slices.Contains(s.AMR, method) }
	return v.Now.Before(s.ExpiresAt) && len(s.AMR) > 0 && !slices.ContainsFunc(c.methods, lacks) &&
		schemas.Satisfies(s.ACR, c.acr) &&
		checkHolder(v.Subject, s.UserID) == nil && v.Login.Accept(s, v.Now)
}
