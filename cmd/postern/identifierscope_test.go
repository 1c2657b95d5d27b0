package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

// scopes is a server with the user types Customer and Employee, which have their own identifier
// scopes, an application for each, and a user of each with the same username and address.
type scopes struct {
	*testApp
	token                        string
	customers, employees         string // types
	shop, intranet, unrestricted string // applications
	customer, employee           string // users
}

const (
	customerPassword = "Tarn-ferry-slate-41"
	employeePassword = "Moss-gable-orbit-58"
)

func newScopes(w *testApp) *scopes {
	s := &scopes{testApp: w, token: w.admin()}
	s.customers, s.employees = s.userType("Customer", "userType"), s.userType("Employee", "userType")
	s.shop, s.intranet = s.app("Shop", `["Customer"]`), s.app("Intranet", `["Employee"]`)
	s.unrestricted = s.app("Unrestricted", `[]`)
	s.customer = s.made("/users", user("Customer", "mara", customerPassword))
	s.employee = s.made("/users", user("Employee", "mara", employeePassword))
	return s
}

func user(userType, name, password string) string {
	return fmt.Sprintf(`{"type":%q,"attributes":{"username":%q,"email":"%s@example.org","email_verified":true,"password":%q}}`, userType, name, name, password)
}

func userTypeBody(name, scope string) string {
	return fmt.Sprintf(`{"name":%q,"identifierScope":%q,"schema":{"type":"object","properties":{
		"username":{"type":"string"},"email":{"type":"string","format":"email"},"badge":{"type":"string","x-unique":true},
		"password":{"type":"string","x-credential":true}}}}`, name, scope)
}

// made creates a resource and returns its id.
func (s *scopes) made(path, body string) string {
	s.t.Helper()
	var made struct{ ID string }
	s.send(http.StatusCreated, path, s.token, body, &made)
	return made.ID
}

func (s *scopes) userType(name, scope string) string {
	return s.made("/user-types", userTypeBody(name, scope))
}

func (s *scopes) app(name, types string) string {
	return s.made("/applications", fmt.Sprintf(`{"name":%q,"allowedUserTypes":%s}`, name, types))
}

// signIn signs in with a password and returns the user, "" if the password is rejected.
func (s *scopes) signIn(application, name, password string) string {
	s.t.Helper()
	step := s.answer(s.signInTo(application), "password", nil)
	step = s.answer(step, "continue", map[string]string{"username": name, "password": password})
	if step.FlowStatus != schemas.Complete {
		return ""
	}
	claims := s.claimsOf(step.Assertion)
	return claims.Subject
}

// Two users of different types have one name and one address. An application never signs in the user of
// the type that it does not allow, and no name identifies two users.
func TestIdentifiersOfUserTypes(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		s := newScopes(w)
		for _, tt := range []struct{ application, name, password, user string }{
			{s.shop, "mara", customerPassword, s.customer},
			{s.shop, "MARA@example.org", customerPassword, s.customer},
			{s.shop, "mara", employeePassword, ""},
			{s.intranet, "mara", employeePassword, s.employee},
			{s.intranet, "mara@example.org", employeePassword, s.employee},
			{s.intranet, "mara", customerPassword, ""},
			{s.unrestricted, "mara", customerPassword, ""},
			{s.unrestricted, "mara", employeePassword, ""},
			{s.shop, "Employee\x1fmara", employeePassword, ""},
			{s.unrestricted, "Employee\x1fmara", employeePassword, ""},
			{s.shop, "admin", adminPassword, ""},
			{s.unrestricted, "admin", adminPassword, s.userNamed("admin")},
		} {
			if got := s.signIn(tt.application, tt.name, tt.password); got != tt.user {
				t.Errorf("%q with %q signs in %q, expected %q", tt.name, tt.password, got, tt.user)
			}
		}
		for _, filter := range []string{`username eq "Mara"`, `email eq "mara@example.org"`} {
			rec := s.call("GET", "/users?filter="+strings.ReplaceAll(strings.ReplaceAll(filter, " ", "+"), `"`, "%22"), s.token, "")
			if !strings.Contains(rec.Body.String(), `"totalResults":2`) || !strings.Contains(rec.Body.String(), s.employee) {
				t.Errorf("%s: %s", filter, rec.Body)
			}
		}
	})
}

// Within a scope names, verified addresses and unique attributes belong to one user.
func TestIdentifiersAreUniqueInTheirScope(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		s := newScopes(w)
		s.made("/users", `{"type":"Customer","attributes":{"username":"nils","badge":"7"}}`)
		entered := s.made("/users", `{"type":"Employee","attributes":{"username":"olga","email":"olga@example.org"}}`)
		for _, tt := range []struct {
			name, body string
			status     int
		}{
			{"a name of the same type", `{"type":"Customer","attributes":{"username":"Mara"}}`, 409},
			{"an address as a name", `{"type":"Customer","attributes":{"username":"mara@example.org"}}`, 409},
			{"an address of the same type", `{"type":"Customer","attributes":{"username":"m2","email":"mara@example.org","email_verified":true}}`, 409},
			{"a unique attribute of the same type", `{"type":"Customer","attributes":{"username":"m3","badge":"7"}}`, 409},
			{"a unique attribute of another type", `{"type":"Employee","attributes":{"username":"m3","badge":"7"}}`, 201},
			{"a name of another type", `{"type":"Person","attributes":{"username":"mara"}}`, 201},
			{"the name of the administrator", `{"type":"Customer","attributes":{"username":"admin"}}`, 201},
			{"an address that another type has entered", `{"type":"Customer","attributes":{"username":"olga","email":"olga@example.org","email_verified":true}}`, 201},
		} {
			if rec := s.call("POST", "/users", s.token, tt.body); rec.Code != tt.status {
				t.Errorf("%s: %d %s", tt.name, rec.Code, rec.Body)
			}
		}
		if u, err := s.store.User(t.Context(), entered); err != nil || u.Text("email") == "" {
			t.Errorf("the employee lost an address that a customer verified: %+v %v", u, err)
		}
		if rec := s.call("PATCH", "/users/"+s.customer, s.token, `{"type":"Employee"}`); rec.Code != 409 {
			t.Errorf("moving a user to a scope where the name is taken: %d %s", rec.Code, rec.Body)
		}
	})
}

// The scope changes only where that leaves no name ambiguous, and collisions are reported with the ids of
// the users.
func TestIdentifierScopeChanges(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		s := newScopes(w)
		s.made("/users", user("Person", "mara", customerPassword))
		writer := s.holder("writer", "system:user-types", "system:users", "system:applications")
		both := s.app("Both", `["Person"]`)
		guest := s.userType("Guest", "global")
		s.made("/users", `{"type":"Guest","attributes":{"username":"gero"}}`)
		mixed := s.app("Mixed", `["Person","Guest"]`)
		for _, tt := range []struct {
			name, method, path, token, body string
			status                          int
			contains                        string
		}{
			{"two scopes in an application", "PATCH", "/applications/" + both, s.token, `{"allowedUserTypes":["Person","Customer"]}`, 400, "allowedUserTypes[1]"},
			{"two own scopes in an application", "PATCH", "/applications/" + both, s.token, `{"allowedUserTypes":["Employee","Customer"]}`, 400, "allowedUserTypes[0]"},
			{"a type that an application allows with others", "PATCH", "/user-types/" + guest, s.token, `{"identifierScope":"userType"}`, 409, "Mixed"},
			{"a type of administrators", "PATCH", "/user-types/" + s.userTypeNamed("Person"), s.token, `{"identifierScope":"userType"}`, 400, "identifierScope"},
			{"a partial administrator", "PATCH", "/user-types/" + s.customers, writer, `{"identifierScope":"global"}`, 403, "identifierScope"},
			{"an unknown scope", "PATCH", "/user-types/" + s.customers, s.token, `{"identifierScope":"galaxy"}`, 400, "identifierScope"},
			{"collisions", "PATCH", "/user-types/" + s.customers, s.token, `{"identifierScope":"global"}`, 409, s.customer},
			{"the application allows one type", "PATCH", "/applications/" + mixed, s.token, `{"allowedUserTypes":["Guest"]}`, 200, ""},
			{"then the type gets its scope", "PATCH", "/user-types/" + guest, s.token, `{"identifierScope":"userType"}`, 200, `"identifierScope":"userType"`},
			{"a name of the global scope", "POST", "/users", s.token, `{"type":"Guest","attributes":{"username":"mara"}}`, 201, ""},
			{"and loses it without collisions", "DELETE", "/users/" + s.employee, s.token, "", 204, ""},
			{"to the global scope", "PATCH", "/user-types/" + s.employees, s.token, `{"identifierScope":null}`, 200, ""},
			{"where a name is taken", "POST", "/users", s.token, `{"type":"Employee","attributes":{"username":"mara"}}`, 409, ""},
		} {
			rec := s.call(tt.method, tt.path, tt.token, tt.body)
			if rec.Code != tt.status || !strings.Contains(rec.Body.String(), tt.contains) {
				t.Errorf("%s: %d %s", tt.name, rec.Code, rec.Body)
			}
		}
		if got := s.signIn(s.shop, "mara", customerPassword); got != s.customer {
			t.Errorf("after a rejected change mara signs in %q", got)
		}
	})
}

// Guesses at the password of one user do not use up those of a user with the same name in another scope.
func TestGuessesAreCountedByScope(t *testing.T) {
	sequential(t)
	s := newScopes(newGuessingTest(t))
	rejected := false
	for i := range 60 {
		g := &guesser{testApp: s.testApp, application: s.shop, remote: fmt.Sprintf("203.0.%d.1", i)}
		status, _ := g.guess("mara", "wrong")
		rejected = rejected || status != http.StatusOK
	}
	if !rejected {
		t.Error("60 guesses at the customer were answered")
	}
	g := &guesser{testApp: s.testApp, application: s.intranet, remote: "198.51.100.1"}
	if status, step := g.guess("mara", employeePassword); status != http.StatusOK || step.FlowStatus != schemas.Complete {
		t.Errorf("the employee cannot sign in: %d %+v", status, step)
	}
}

func (s *scopes) userTypeNamed(name string) string {
	s.t.Helper()
	t, err := s.directory.UserType(s.t.Context(), name)
	if err != nil {
		s.t.Fatal(err)
	}
	return t.ID
}

// An application that lists no types admits users with global identifiers only: anyone who signs up as a
// customer can choose an employee's username.
func TestNoListedTypesAdmitGlobalIdentifiers(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		s := newScopes(w)
		s.made("/users", user("Person", "pia", customerPassword))
		for _, tt := range []struct {
			from, name, password, to string
			admitted                 bool
		}{
			{s.shop, "mara", customerPassword, s.shop, true},
			{s.shop, "mara", customerPassword, s.unrestricted, false},
			{s.shop, "mara", customerPassword, s.intranet, false},
			{s.intranet, "mara", employeePassword, s.unrestricted, false},
			{s.unrestricted, "pia", customerPassword, s.unrestricted, true},
			{s.unrestricted, "pia", customerPassword, s.shop, false},
		} {
			cookie := s.browserOf(tt.from, tt.name, tt.password)
			rec := s.call("PATCH", "/applications/"+tt.to, s.token, `{"inboundAuthConfig":[{"type":"oauth2","config":{"clientId":"`+tt.to+`","redirectUris":["https://app.example/back"],"scopes":["openid"]}}]}`)
			if rec.Code != http.StatusOK {
				t.Fatal(rec.Body)
			}
			rec = s.exchange("GET", "/oauth2/authorize?response_type=code&scope=openid&redirect_uri=https%3A%2F%2Fapp.example%2Fback&client_id="+tt.to, "", cookie)
			if to := rec.Header().Get("Location"); strings.HasPrefix(to, "https://app.example/back?code=") != tt.admitted {
				t.Errorf("the session of %s leads to %s, expected admitted: %v", tt.name, to, tt.admitted)
			}
			account := s.exchange("GET", "/users/me", "", cookie, "Postern-Session: 1", "Sec-Fetch-Site: same-origin")
			if got := account.Code == http.StatusOK; got != (tt.from == s.unrestricted) {
				t.Errorf("the account page of %s: %d %s", tt.name, account.Code, account.Body)
			}
		}
		var flows struct{ Flows []struct{ ID, Handle string } }
		datatest.Unmarshal(t, s.call("GET", "/flows?limit=100", s.token, "").Body.Bytes(), &flows)
		for _, f := range flows.Flows {
			if f.Handle == "invitation" {
				s.call("PATCH", "/applications/"+s.unrestricted, s.token, `{"invitationFlowId":"`+f.ID+`"}`)
			}
		}
		invited := s.made("/users", `{"type":"Customer","attributes":{"username":"ivo","email":"ivo@example.org"}}`)
		rec := s.call("POST", "/users/"+invited+"/invitation", s.token, `{"applicationId":"`+s.unrestricted+`"}`)
		if rec.Code != http.StatusConflict || !strings.Contains(rec.Body.String(), "allowedUserTypes") {
			t.Errorf("an invitation of the customer: %d %s", rec.Code, rec.Body)
		}
	})
}

// browserOf signs in, and returns the cookie of a browser with that session.
func (s *scopes) browserOf(application, name, password string) string {
	s.t.Helper()
	step := s.answer(s.signInTo(application), "password", nil)
	step = s.answer(step, "continue", map[string]string{"username": name, "password": password})
	value := schemas.NewSecret()
	bound, err := s.store.BindSession(s.t.Context(), schemas.SessionToken{SessionID: s.claimsOf(step.Assertion).Session, Hash: schemas.HashSecret(value), Browser: name})
	if err != nil || !bound {
		s.t.Fatal(bound, err)
	}
	return "Cookie: " + oauth.Cookie(s.origin, "postern-session", value).String()
}
