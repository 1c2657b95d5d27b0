package nodes

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Single sign-on
//
// The node finds the session of the user's browser from an earlier sign-in to any application, and
// continues the run with it: the same user, the same proofs, at the time of that sign-in. The user
// enters nothing, so the session must be worth as much as what it replaces.
//
// A session is worth what its sign-in proved. A session that started with a password must not open
// an application whose flow accepts only passkeys: an attacker who phished the password of one
// application would be in the other. So by default the node requires the class that all other paths
// through the flow prove (engine/session.go), unless the nodes after it prove the rest, and at
// least a password: a session that started with a recovery code or a mailed code counts only if
// `acr` allows it. An `acr` that accepts less than the other paths prove is a finding.
//
// The node also requires what the flow guarantees, so that the guarantee holds for resumed
// sessions.
//
// The application's requirements for this sign-in apply as well: prompt, max_age, acr_values and
// id_token_hint (OpenID Connect Core section 3.1.2.1).
//
// A run that already has a user continues only with a session of that user: a run must not ask one
// user for proofs and end as another.

func sessionCheckKind(d Deps) declared {
	return configured[sessionCheck](d, engine.Kind{
		Name: "session-check",
		Open: true,
		Doc: "Signs in with the browser's session from an earlier sign-in, to any application. The user counts " +
			"as authenticated with the methods and at the time of that sign-in. It shows no step. By default " +
			"it requires the class that every other path through the flow proves, unless later nodes make up for it, at least " +
			"urn:postern:acr:password, and what the flow guarantees. Set acr to require another class, and methods to require particular methods.",
		Outcomes: []engine.Outcome{
			engine.On(activeOutcome, engine.Effect{Resumes: schemas.ACRPassword}, engine.Outcome{
				Doc:        "the browser has a session that satisfies this node and the authorization request",
				NewSubject: true, Establishes: []engine.Fact{engine.User, engine.Authenticated},
			}),
			engine.On("none", engine.NoEffect(), engine.Outcome{
				Doc: "there is no session that the run can use. A session cannot be used if its user is not the user of the run, is deleted, disabled or " +
					"locked, or has a type that the application does not allow; if it is older or longer unused than the application accepts " +
					"(sessionLifetime, sessionIdleTimeout); if its sign-in lacks a required method or class; or if the " +
					"authorization request requires another user, a new sign-in, or a more recent one",
			}),
		},
	}, errorCodes{},
		row{"active, none", "active: an authenticated user"})
}

const activeOutcome = "active"

type sessionCheck struct {
	node
	Methods []string `json:"methods,omitempty" min:"1" unique:"true" unordered:"true" doc:"The authentication methods (RFC 8176) that the session's sign-in must have used, all of them: pwd is a password; otp a code of an authenticator app; recovery a recovery code; email a code sent by email; pop any passkey, hwk an attested, hardware-bound one, swk a synced one; user means that the passkey verified the user; mfa that there were two factors. Default: none." item.enum:"pwd,otp,recovery,email,fed,pop,hwk,swk,user,mfa" item.doc:"A method."`
	ACR     string   `json:"acr,omitempty" enum:"urn:postern:acr:vouched,urn:postern:acr:recovery,urn:postern:acr:otp,urn:postern:acr:password,urn:postern:acr:mfa,phr,phrh,urn:postern:acr:mfa-phr,urn:postern:acr:mfa-phrh" doc:"The class that the session's sign-in must satisfy: urn:postern:acr:vouched is a code sent by email or an assertion by an identity provider, urn:postern:acr:recovery a recovery code, urn:postern:acr:otp a one-time code alone, urn:postern:acr:password a password or any passkey, urn:postern:acr:mfa two factors, phr a passkey, phrh an attested, hardware-bound passkey, urn:postern:acr:mfa-phr and urn:postern:acr:mfa-phrh two factors that include such a passkey. Default: urn:postern:acr:password, or the class that every other path through the flow proves, if the run could otherwise complete with less. A class that allows this is a finding of the rule session."`

	methods []string // the session must contain all of them
	acr     string   // the class that the session must satisfy
}

// prepare requires what the configuration and the flow's guarantees require. Without a configured
// class that is a password until RequireClass adds what the other paths prove.
func (c *sessionCheck) prepare(config *engine.Config) []schemas.Problem {
	c.methods = slices.Concat(c.Methods, config.Guarantees.Methods())
	c.acr = schemas.CombineACRs(cmp.Or(c.ACR, schemas.ACRPassword), config.Guarantees.Class())
	return nil
}

// ResumedOutcome returns the outcome that continues an earlier sign-in.
func (c *sessionCheck) ResumedOutcome() string { return activeOutcome }

// RequireClass adds the class that the other paths prove, unless `acr` sets the class.
func (c *sessionCheck) RequireClass(class string) engine.Executor {
	if c.ACR != "" {
		return c
	}
	demanding := *c
	demanding.acr = schemas.CombineACRs(c.acr, class)
	return &demanding
}

// Outcomes establishes what an accepted session has proved.
func (c *sessionCheck) Outcomes() []engine.Outcome {
	outcomes := slices.Clone(c.outcomes)
	outcomes[0] = outcomes[0].With(engine.Effect{Resumes: c.acr})
	for _, method := range c.methods {
		outcomes[0].Establishes = append(outcomes[0].Establishes, engine.AMRFact(method))
	}
	outcomes[0].Establishes = append(outcomes[0].Establishes, engine.ACRFacts(c.acr)...)
	return outcomes
}

// Execute never asks. It does not reveal why a session was not accepted.
func (c *sessionCheck) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	s := v.Request.Session
	if s == nil || !c.isAcceptable(s, v) {
		return engine.LeaveBy("none"), nil
	}
	user, err := c.deps.Store.User(ctx, s.UserID)
	switch {
	case schemas.HasCode(err, schemas.CodeUserNotFound):
		return engine.LeaveBy("none"), nil
	case err != nil:
		return nil, err
	case !allowsUserType(v.Application, user) || user.CheckActive(v.Now) != nil:
		return engine.LeaveBy("none"), nil
	}
	current, err := c.isCurrent(ctx, s, v)
	if err != nil {
		return nil, err
	}
	if !current {
		return engine.LeaveBy("none"), nil
	}
	d := engine.LeaveBy(activeOutcome)
	d.Subject = &engine.Subject{UserID: s.UserID}
	d.Proofs, d.Session = s.Evidence(), s.ID
	return d, nil
}

// isCurrent reports whether the application accepts a session of this age, and as long unused.
func (c *sessionCheck) isCurrent(ctx context.Context, s *schemas.Session, v *engine.Visit) (bool, error) {
	app := v.Application
	if app == nil {
		return true, nil
	}
	var used time.Time
	if app.SessionIdleTimeout > 0 && c.deps.SessionUsed != nil {
		var err error
		if used, err = c.deps.SessionUsed(ctx, s.ID, app.ID); err != nil {
			return false, err
		}
	}
	return app.AcceptsSession(s.AuthTime(s.ACR), used, v.Now), nil
}

// isAcceptable reports whether this sign-in can continue the session. A session without recorded
// methods proves nothing.
func (c *sessionCheck) isAcceptable(s *schemas.Session, v *engine.Visit) bool {
	lacks := func(method string) bool { return !slices.Contains(s.AMR, method) }
	return v.Now.Before(s.ExpiresAt) && len(s.AMR) > 0 && !slices.ContainsFunc(c.methods, lacks) &&
		schemas.Satisfies(s.ACR, c.acr) &&
		!isAboutOther(v.Subject, s.UserID) && v.Login.Accept(s, v.Now)
}
