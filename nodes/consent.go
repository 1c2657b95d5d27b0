package nodes

import (
	"bytes"
	"context"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

func consentKind(d Deps) declared {
	return configured[consent](d, engine.Kind{
		Name: "consent",
		Open: true,
		Doc: "Asks the user whether the client may have what it requests. It shows no step if " +
			"no consent is required: the run answers no authorization request, an administrator registered the " +
			"application without requireConsent, or the user has consented before. A client never receives " +
			"anything that requires consent without it, whatever the flow. An " +
			"untrusted client receives permissions to manage this service only if the user signed in for this request " +
			"within the last five minutes, and consents each time.",
		Asks: true,
		Needs: []engine.Need{{
			AnyOf: []engine.Fact{engine.Authenticated},
			Rule:  engine.RuleUnauthenticated,
			Why:   "it would ask an unauthenticated user for consent",
			Fix:   "put a node that authenticates, such as passkey-authenticate, on every path before it",
		}},
		Outcomes: []engine.Outcome{
			engine.On(grantedOutcome, engine.NoEffect(), engine.Outcome{Doc: "the user consents, has consented before, or need not be asked", Establishes: []engine.Fact{engine.Consented}}),
			engine.On(deniedOutcome, engine.NoEffect(), engine.Outcome{Doc: "the user denies. If its target is end, the run ends and the client gets access_denied"}),
			engine.On(otherOutcome, engine.NoEffect(), engine.Outcome{
				NewSubject: true,
				Doc: "the user wants to continue as another user, or must sign in again to approve what the client requests; " +
					"the outcome exists only if next has a target for it",
			}),
		},
	}, errorCodes{codeConsentDenied, codeConsentRequired, codeOtherBrowser, codePermissionsMissing, schemas.CodeStaleProof},
		row{"granted, denied, other (only if `next` names it)", "granted: the user's consent to what the client receives"})
}

// The outcomes of consent, and the actions that lead to them.
const (
	grantedOutcome = "granted"
	deniedOutcome  = "denied"
	otherOutcome   = "other"
	allowAction    = "allow"
	denyAction     = "deny"
)

type consent struct {
	node
	Title    string `json:"title,omitempty" min:"1" default:"Allow access?" doc:"The heading of the question. Default: 'Allow access?'."`
	Text     string `json:"text,omitempty" min:"1" doc:"A paragraph above the requested access."`
	Allow    string `json:"allow,omitempty" min:"1" default:"Allow" doc:"The label of the button that allows. Default: 'Allow'."`
	Deny     string `json:"deny,omitempty" min:"1" default:"Do not allow" doc:"The label of the button that denies. Default: 'Do not allow'."`
	Remember *bool  `json:"remember,omitempty" default:"true" doc:"Whether consent is remembered. If false, the user is asked at every sign-in. Default: true."`
	TTL      string `json:"ttl,omitempty" pattern:"^([0-9]{1,5}(\\.[0-9]{1,3})?(m|h)){1,2}$" expect:"a duration such as 720h" doc:"After how long the user is asked again, such as 720h. Default: never."`

	ttl  time.Duration // 0: without limit
	ends bool          // a denial ends the run
}

// prepare omits the outcome other if it is not wired.
func (c *consent) prepare(config *engine.Config) (found []schemas.Problem) {
	next := config.Node.Next
	c.ends = next.By[deniedOutcome] == schemas.End
	c.outcomes = withoutUnwired(config, c.outcomes, otherOutcome)
	switch {
	case c.TTL == "":
	case c.Remember != nil && !*c.Remember:
		found = append(found, problem("ttl", "with remember: false the user is asked every time; remove one of the two"))
	default:
		var err error
		if c.ttl, err = time.ParseDuration(c.TTL); err != nil || c.ttl <= 0 {
			found = append(found, problem("ttl", "expected a duration such as 720h, got %q", c.TTL))
		}
	}
	if next.To != "" || next.By != nil && next.By[grantedOutcome] == next.By[deniedOutcome] {
		found = append(found, problem("", "granted and denied lead to the same node, so the user's choice has no effect; "+
			"write next: {granted: <node id>, denied: end}"))
	}
	return found
}

// mayBeOtherUser reports whether the node offers to continue as another user.
func (c *consent) mayBeOtherUser() bool { return c.has(otherOutcome) }

// Execute asks, unless there is nothing to ask.
func (c *consent) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	due, err := c.deps.consentDue(ctx, v)
	switch {
	case err != nil:
		return nil, err
	case v.Answer != nil:
		return c.answer(ctx, v, due)
	case due.isFutile():
		return c.deps.refuseFutile(v, due.request.Scopes), nil
	case due == nil || !due.ask:
		return engine.LeaveBy(grantedOutcome), nil
	case !due.isFresh(v):
		return c.refuseStale(v), nil
	}
	q, err := c.question(ctx, v, due)
	if err != nil {
		return nil, err
	}
	return c.ask(q), nil
}

// refuseStale ends a run in which the user has not signed in for the request but must. It does not
// return to the sign-in: nothing has been asked yet, so a flow that leads back here without a step
// would never end.
func (c *consent) refuseStale(v *engine.Visit) *engine.Decision {
	return c.deps.refuse(v,
		schemas.Refusal{Code: schemas.RefusedLoginRequired, Description: "the client requests permissions that users can grant only right after signing in for this request; send the user again, with prompt=login"},
		errStaleApproval(v), consentMissing(v, schemas.ReasonStaleSignIn, nil))
}

func errStaleApproval(v *engine.Visit) *schemas.Error {
	return schemas.Errorf(schemas.Forbidden, schemas.CodeStaleProof,
		"%q requests permissions to manage this service, which you can grant only within %d minutes after signing in; sign in again", v.Application.Name, int(schemas.MaxProofAge.Minutes()))
}

// answer accepts an answer only from the browser of the request. Otherwise an attacker could make a
// user consent to a request that the attacker started.
func (c *consent) answer(ctx context.Context, v *engine.Visit, due *dueConsent) (*engine.Decision, error) {
	if due != nil && !bytes.Equal(v.Request.Browser, due.request.BrowserHash) {
		return nil, schemas.Errorf(schemas.Forbidden, codeOtherBrowser,
			"this sign-in was started in another browser, or without cookies. Go back to the application and sign in again")
	}
	switch action := v.Answer.Action; {
	case action == denyAction:
		return c.deny(v), nil
	case action == otherOutcome && c.mayBeOtherUser():
		return engine.LeaveBy(otherOutcome), nil
	case action != allowAction:
		return nil, schemas.Errorf(schemas.Invalid, schemas.CodeInvalidAction, "this step has no action %.64q", action)
	case due == nil:
		return engine.LeaveBy(grantedOutcome), nil
	case due.isFutile():
		return c.deps.refuseFutile(v, due.request.Scopes), nil
	case !due.isFresh(v) && c.mayBeOtherUser():
		d := engine.LeaveBy(otherOutcome)
		d.Notice = errStaleApproval(v)
		return d, nil
	case !due.isFresh(v):
		return c.refuseStale(v), nil
	}
	q, err := c.question(ctx, v, due)
	if err != nil {
		return nil, err
	}
	if !wasShown(v, q) {
		return c.ask(q), nil
	}
	return c.allow(v, due), nil
}

// codeOtherBrowser is the error code of an answer from another browser.
const codeOtherBrowser = "other_browser"

// allow stores the consent to everything that the client gets, including what earlier consents
// covered.
func (c *consent) allow(v *engine.Visit, due *dueConsent) *engine.Decision {
	change := schemas.GrantConsent{UserID: v.Subject.UserID, ApplicationID: applicationID(v), Scopes: due.scopes, Claims: due.released(), At: v.Now}
	switch {
	case c.Remember != nil && !*c.Remember:
		change.AskAgainAt = v.Now
	case c.ttl > 0:
		change.AskAgainAt = v.Now.Add(c.ttl)
	}
	d := engine.LeaveBy(grantedOutcome)
	d.Changes = []schemas.Change{change, consentEvent(v, "consent.granted", due.scopes)}
	if len(due.approve) > 0 {
		d.Changes = append(d.Changes, schemas.ApproveAuthRequest{
			ID: v.AuthRequestID, BrowserHash: v.Request.Browser, At: v.Now,
			Approval: schemas.Approval{UserID: v.Subject.UserID, Scopes: due.approve, At: v.Now},
		}, consentEvent(v, "consent.approved", due.approve))
	}
	return d
}

// deny takes the outcome denied, or ends the run.
func (c *consent) deny(v *engine.Visit) *engine.Decision {
	record := consentEvent(v, "consent.denied", nil)
	if !c.ends {
		d := engine.LeaveBy(deniedOutcome)
		d.Changes = []schemas.Change{record}
		return d
	}
	d := c.deps.refuse(v,
		schemas.Refusal{Code: schemas.RefusedAccessDenied, Description: "the user denied the client's request"},
		schemas.Errorf(schemas.Forbidden, codeConsentDenied, "you did not give %q access", v.Application.Name), record)
	d.Outcome = deniedOutcome
	return d
}

// codeConsentDenied is the error code of a run that ends because the user denied consent.
const codeConsentDenied = "consent_denied"
