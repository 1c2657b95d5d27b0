package flowtest

import (
	"cmp"
	"context"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Fixed IDs of the browser's request and session, so that scenarios can name them.
const (
	requestID = "request"
	sessionID = "session"
)

// browser sends the requests of a scenario. It can have an authorization request and a
// session.
type browser struct {
	asked   *schemas.AuthRequest
	session *schemas.Session
}

// open creates the scenario's browser, and stores its authorization request, session and
// consents.
func (p *scenarioRun) open(ctx context.Context) error {
	s, b := p.scenario, browser{}
	var changes []schemas.Change
	for name, scopes := range s.Consents {
		changes = append(changes, schemas.GrantConsent{UserID: userID(name), ApplicationID: p.app.ID, Scopes: scopes, At: p.now})
	}
	if s.Session != nil {
		began := p.now.Add(-duration(s.Session.Age))
		b.session = &schemas.Session{
			ID: sessionID, UserID: userID(s.Session.User), ApplicationID: "another application",
			AMR: s.Session.AMR, ACR: cmp.Or(s.Session.ACR, class(s.Session.AMR)), CreatedAt: began, ExpiresAt: began.Add(12 * time.Hour),
		}
		changes = append(changes, schemas.StartSession{Session: *b.session})
	}
	if s.Request.Bound || s.Request.LoginHint != "" || s.Request.Scopes != nil || s.Login != nil {
		b.asked = &schemas.AuthRequest{
			ID: requestID, ApplicationID: p.app.ID, LoginHint: s.Request.LoginHint, Login: *cmp.Or(s.Login, &schemas.LoginRules{}),
			ClientID: "client", RedirectURI: "https://client.example/back", Scopes: s.Request.Scopes,
			BrowserHash: []byte("browser"), CreatedAt: p.now, ExpiresAt: p.now.Add(time.Hour),
		}
		if err := p.CreateAuthRequest(ctx, *b.asked); err != nil {
			return err
		}
	}
	p.browser = b
	return p.Apply(ctx, changes)
}

// class returns the assurance class of a sign-in by the methods, "" if they determine
// none.
func class(methods []string) string {
	classes := map[string]string{
		"fed": schemas.ACRVouched, "email": schemas.ACRVouched, "recovery": schemas.ACRRecovery, "otp": schemas.ACROneTimeCode, "pwd": schemas.ACRPassword,
		"pop": schemas.ACRPhishingResistant, "hwk": schemas.ACRPhishingResistantProtected, "user": schemas.ACRMultiFactor, "mfa": schemas.ACRMultiFactor,
	}
	return schemas.CombineACRs(namesOf(methods, func(method string) string { return classes[method] })...)
}

// request returns the properties of a request from the browser.
func (b browser) request(now time.Time) engine.Request {
	r := engine.Request{Origin: origin}
	if b.asked != nil {
		r.AuthRequest, r.Browser = b.asked, b.asked.BrowserHash
	}
	if b.session != nil && now.Before(b.session.ExpiresAt) {
		r.Session = b.session
	}
	return r
}
