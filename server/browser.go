package server

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// # The session of the browser
//
// The hosted pages hold no token. Their requests are authenticated by the cookie of the browser's
// session, which scripts cannot read. Browsers add cookies to requests of other sites' pages too, so
// the cookie alone authorizes nothing: the request must have the header field Postern-Session, and
// must come from a page of this origin. Another origin can send that field only after a preflight,
// which no endpoint allows.
//
// The session stands for the user and not for an administrator: it carries no permission.
//
// A session of an application that manages accounts counts like the assertion of that sign-in. Any
// other session shows the account if the application of the account page would accept it, and
// counts as an old sign-in: changes that need a recent one need a sign-in to that application.

// sessionField is the header field of a request that the browser's session authenticates. Its value
// is the id of the user of the page, or anyUser.
const (
	sessionField = "Postern-Session"
	anyUser      = "1"
)

// Error codes of the browser's session, for the pages.
const (
	codeNoSession   = "no_session"
	codeWeakSession = "weak_session"
	codeOtherUser   = "other_user"
)

// isOwnPage reports whether a page of this origin sent the request with the session's header field.
// Browsers without Sec-Fetch-Site send an Origin with every change.
func (s *server) isOwnPage(r *http.Request) bool {
	if r.Header.Get(sessionField) == "" {
		return false
	}
	origin := r.Header.Get("Origin")
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case site != "":
		return site == "same-origin"
	case origin != "":
		u, err := url.Parse(origin)
		return origin == s.origin || err == nil && u.Host == r.Host
	}
	return slices.Contains([]string{http.MethodGet, http.MethodHead}, r.Method)
}

// sessionCaller returns the user of the browser's session as the sender of a request.
func (s *server) sessionCaller(r *http.Request) (*caller, error) {
	if s.OAuth == nil || s.Directory == nil || !s.isOwnPage(r) {
		return nil, schemas.Errorf(schemas.Unauthenticated, codeUnauthorized,
			"the header field %s is for the pages of this server: other callers send a token as Authorization: Bearer <token>", sessionField)
	}
	session, err := s.OAuth.BrowserSession(r)
	if err != nil {
		return nil, err
	}
	if session == nil {
		return nil, errNoSession()
	}
	if shown := r.Header.Get(sessionField); shown != anyUser && shown != session.UserID {
		return nil, schemas.Errorf(schemas.Conflict, codeOtherUser, "another user has signed in with this browser: load the page again")
	}
	call, err := s.sessionCall(r, session)
	if err != nil {
		return nil, err
	}
	call.TraceID = exchangeOf(r).traceID
	if origin := schemas.OriginOf(r.Context()); origin != nil {
		origin.SessionID = session.ID
	}
	return &caller{Call: call}, nil
}

// sessionCall returns the call of a session's user. If the class of the session is too weak for the
// account page, the error is weak_session, Class Unauthenticated.
func (s *server) sessionCall(r *http.Request, session *schemas.Session) (call directory.Call, err error) {
	manages, err := s.Directory.ManagesAccounts(r.Context(), session.ApplicationID)
	if err != nil {
		return call, err
	}
	call = directory.Call{
		Actor: schemas.Actor{Type: schemas.UserActor, ID: session.UserID}, Methods: session.AMR, ACR: session.ACR,
		AuthTime: session.AuthTime(session.ACR), Session: session.ID,
	}
	app, err := s.application(r, session.ApplicationID)
	if manages && err == nil && app != nil {
		err = s.checkAdmitted(r, app, session.UserID)
	}
	if !manages && err == nil {
		app, err = s.accountApplication(r, session)
		call.AuthTime = session.CreatedAt.AddDate(-1, 0, 0) // an old sign-in, however recent
	}
	if err == nil && app == nil {
		err = errNoSession()
	}
	if err != nil {
		return call, err
	}
	if err := s.useSession(r, app, session); err != nil {
		return call, err
	}
	call.Actor.Client = app.ID
	call.Token = &schemas.TokenRef{Session: session.ID, Application: app.ID, Generation: app.TokenGeneration}
	return call, nil
}

// useSession checks that the application accepts a session of this age, and as long unused, and records its use.
func (s *server) useSession(r *http.Request, app *schemas.Application, session *schemas.Session) (err error) {
	now := s.now()
	var used time.Time
	if app.SessionIdleTimeout > 0 && s.SessionUsed != nil {
		if used, err = s.SessionUsed(r.Context(), session.ID, app.ID); err != nil {
			return err
		}
	}
	switch signedIn := session.AuthTime(session.ACR); {
	case !app.AcceptsSession(signedIn, used, now):
		return errNoSession()
	case app.SessionIdleTimeout == 0 || now.Sub(used).Seconds() < float64(app.SessionIdleTimeout)/10:
		return nil
	}
	return s.Store.Apply(r.Context(), []schemas.Change{schemas.UseSession{SessionID: session.ID, ApplicationID: app.ID, At: now}})
}

// accountApplication returns the application of the account page if it would accept a session that
// began elsewhere: one of an allowed user, with the class that its flow proves on every path.
func (s *server) accountApplication(r *http.Request, session *schemas.Session) (*schemas.Application, error) {
	app, err := s.application(r, s.AccountApplication)
	if err != nil {
		return nil, err
	}
	if app == nil || app.AuthFlowID == "" {
		return nil, errNoSession()
	}
	graph, err := s.Runs.Catalog.Active(r.Context(), app.AuthFlowID)
	if err != nil {
		return nil, err
	}
	proven := graph.Guarantees()
	lacks := func(method string) bool { return !slices.Contains(session.AMR, method) }
	if !schemas.Satisfies(session.ACR, schemas.CombineACRs(schemas.ACRPassword, proven.Class())) ||
		slices.ContainsFunc(proven.Methods(), lacks) {
		return nil, errWeakSession()
	}
	return app, s.checkAdmitted(r, app, session.UserID)
}

// checkAdmitted returns an error if an application admits the user no longer, or never did.
func (s *server) checkAdmitted(r *http.Request, app *schemas.Application, userID string) error {
	user, err := s.Store.User(r.Context(), userID)
	if err == nil && !app.Admits(user.Type, user.IdentifierScope) {
		return errWeakSession()
	}
	return err
}

func errWeakSession() *schemas.Error {
	return schemas.Errorf(schemas.Unauthenticated, codeWeakSession,
		"the sign-in of this browser proved less than the account page needs: sign in to the account page")
}

// application returns the application with the id; nil if there is none.
func (s *server) application(r *http.Request, id string) (*schemas.Application, error) {
	if id == "" {
		return nil, nil
	}
	app, err := s.Runs.Applications.Application(r.Context(), id)
	if schemas.HasClass(err, schemas.NotFound) {
		return nil, nil
	}
	return app, err
}

func errNoSession() error {
	return schemas.Errorf(schemas.Unauthenticated, codeNoSession,
		"this browser has no session with which the account page can be used, or it has ended: sign in")
}

// keepSession signs the browser in with the session of a run that completed on a hosted page. The
// end of a run for an authorization request does so at its callback.
func (s *server) keepSession(w http.ResponseWriter, r *http.Request, step *schemas.Step) error {
	if step.FlowStatus != schemas.Complete || step.Assertion == "" || step.Data.RedirectURL != "" {
		return nil
	}
	claims, err := s.Tokens.Verify(r.Context(), step.Assertion, s.PublicURL)
	if err != nil || claims.Session == "" || claims.AuthRequest != "" {
		return err
	}
	return s.OAuth.SignIn(w, r, claims.Session)
}
