package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// These tests are named after finding 10 of the security audit of November 2026: what
// was forbidden while a request waited happened all the same.

// paused is a request that has been admitted, and of which the body has yet to come.
type paused struct {
	reached, proceed chan struct{}
	once             sync.Once
	body             *bytes.Reader
	reply            chan *httptest.ResponseRecorder
}

// Read implements io.Reader: it waits.
func (p *paused) Read(b []byte) (int, error) {
	p.once.Do(func() {
		close(p.reached)
		<-p.proceed
	})
	return p.body.Read(b)
}

// pause sends a request and returns once the server waits for its body.
func (w *rig) pause(method, path, token, body string) *paused {
	w.t.Helper()
	p := &paused{reached: make(chan struct{}), proceed: make(chan struct{}), body: bytes.NewReader([]byte(body)), reply: make(chan *httptest.ResponseRecorder, 1)}
	r := httptest.NewRequest(method, path, io.NopCloser(p))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+token)
	r.ContentLength = int64(len(body))
	go func() {
		rec := httptest.NewRecorder()
		w.http.ServeHTTP(rec, r)
		p.reply <- rec
	}()
	select {
	case <-p.reached:
	case rec := <-p.reply:
		w.t.Fatalf("%s %s was not admitted: %d %s", method, path, rec.Code, rec.Body)
	}
	return p
}

// finish has the body come, and returns the reply.
func (p *paused) finish() *httptest.ResponseRecorder {
	close(p.proceed)
	return <-p.reply
}

// partial is an administrator whose permissions can be taken away in several ways.
type partial struct {
	user, role, group, client, clientRole string
	person, machine                       string // tokens
	session                               string
}

// newPartial makes one with every permission: a user by a group, and a client.
func newPartial(t *testing.T, w *rig) (p partial) {
	t.Helper()
	p.user = w.userNamed("pat")
	p.group = w.create(w.directory.Groups, `{"name":"Operators","members":[{"type":"user","id":"`+p.user+`"}]}`).ID
	p.role = w.create(w.directory.Roles, `{"name":"Operator","permissions":["system"],"assignments":[{"type":"group","id":"`+p.group+`"}]}`).ID
	app := w.client("system:users:read")
	p.client = app.ID
	p.clientRole = w.create(w.directory.Roles, `{"name":"Machine","permissions":["system"],"assignments":[{"type":"application","id":"`+app.ID+`"}]}`).ID
	var err error
	if p.person, err = w.issue(t.Context(), "pat", []string{"system"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	p.session = w.liveSessions(p.user)[0].ID
	rec := w.askToken(app.ClientID, app.ClientSecret, "&scope=system")
	if _, p.machine, _ = strings.Cut(rec.Body.String(), `"access_token":"`); p.machine == "" {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	p.machine, _, _ = strings.Cut(p.machine, `"`)
	return p
}

// takings are the ways to take permissions from the actor of a token.
func (p partial) takings() map[string]struct {
	token, method, path, body string
	status                    int
} {
	type taking = struct {
		token, method, path, body string
		status                    int
	}
	return map[string]taking{
		"the member leaves the group":       {p.person, "DELETE", "/groups/" + p.group + "/members/user/" + p.user, "", 403},
		"the role is not assigned any more": {p.person, "DELETE", "/roles/" + p.role + "/assignments/group/" + p.group, "", 403},
		"the role loses the permission":     {p.person, "PUT", "/roles/" + p.role, `{"name":"Operator","permissions":["system:users:read"],"assignments":[{"type":"group","id":"` + p.group + `"}]}`, 403},
		"the role is deleted":               {p.person, "DELETE", "/roles/" + p.role, "", 403},
		"the user is deleted":               {p.person, "DELETE", "/users/" + p.user, "", 401},
		"the session is ended":              {p.person, "DELETE", "/users/" + p.user + "/sessions/" + p.session, "", 401},
		"the user gets a new password":      {p.person, "PUT", "/users/" + p.user, `{"type":"Person","attributes":{"username":"pat","password":"` + otherPassword + `"}}`, 401},
		"the client's role is deleted":      {p.machine, "DELETE", "/roles/" + p.clientRole, "", 403},
		"the client's tokens are revoked":   {p.machine, "POST", "/applications/" + p.client + "/revoke-tokens", "", 401},
		"the client is deleted":             {p.machine, "DELETE", "/applications/" + p.client, "", 401},
	}
}

// grants are requests by which a permission is used.
func (p partial) grants() map[string][3]string {
	return map[string][3]string{
		"a role for oneself":      {"POST", "/roles", `{"name":"Mine","permissions":["system"],"assignments":[{"type":"user","id":"` + p.user + `"}]}`},
		"a client, by a tool":     {"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"service_create_application","arguments":{"name":"Mine"}}}`},
		"a client that registers": {"POST", "/oauth2/dcr/register", `{"client_name":"Mine","redirect_uris":["https://mine.example.com/back"],"scope":"system"}`},
	}
}

// A request that was admitted with a permission does not use it once that has been
// taken away, be the request ever so far.
func TestAudit10PermissionsAreReadWhereTheyAreUsed(t *testing.T) {
	sequential(t)
	for name := range (partial{}).takings() {
		t.Run(name, func(t *testing.T) {
			onTwoInstances(t, func(t *testing.T, one, two *rig) {
				p := newPartial(t, one)
				taking := p.takings()[name]
				waiting := map[string]*paused{}
				for what, request := range p.grants() {
					waiting[what] = two.pause(request[0], request[1], taking.token, request[2])
				}
				if rec := one.call(taking.method, taking.path, one.admin(), taking.body); rec.Code >= 300 {
					t.Fatalf("%d %s", rec.Code, rec.Body)
				}
				for what, request := range waiting {
					rec := request.finish()
					if rec.Code != taking.status && !strings.Contains(rec.Body.String(), `"isError":true`) {
						t.Errorf("%s: %d %s, want %d", what, rec.Code, rec.Body, taking.status)
					}
				}
				for _, of := range []string{"/roles", "/applications"} {
					if said := one.call("GET", of+"?limit=100", one.admin(), "").Body.String(); strings.Contains(said, `"Mine"`) {
						t.Errorf("it was written all the same: %s", said)
					}
				}
			})
		})
	}
}

// Many grants wait while the role of their actor is taken away: none is made after it.
func TestAudit10NoGrantComesAfterTheLossOfItsRole(t *testing.T) {
	onTwoInstances(t, func(t *testing.T, one, two *rig) {
		p := newPartial(t, one)
		admin := one.admin()
		rounds := 6
		if testing.Short() {
			rounds = 2
		}
		for round := range rounds {
			one.put("/groups/"+p.group, `{"name":"Operators","members":[{"type":"user","id":"`+p.user+`"}]}`, admin)
			var all sync.WaitGroup
			for i := range 12 {
				w := []*rig{one, two}[i%2]
				all.Go(func() {
					w.call("POST", "/roles", p.person, fmt.Sprintf(`{"name":"Mine %d-%d","permissions":["system:users:read"]}`, round, i))
				})
			}
			all.Go(func() { two.call("DELETE", "/groups/"+p.group+"/members/user/"+p.user, admin, "") })
			all.Wait()
		}
		events, err := one.store.Events(t.Context(), schemas.EventQuery{Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		has := false
		for i := len(events) - 1; i >= 0; i-- { // oldest first
			switch e := events[i]; {
			case e.Resource.ID == p.group:
				has = !has || e.Action == "group.created"
			case e.Action == "role.created" && e.Actor.ID == p.user && !has:
				t.Errorf("a role was made at %v, after its maker had lost the permission", e.At)
			}
		}
	})
}

// A passkey is not registered with a token whose session has ended since it was shown.
func TestAudit10EndedSessionRegistersNoPasskey(t *testing.T) {
	onTwoInstances(t, func(t *testing.T, one, two *rig) {
		one.enrol("ada")
		ada, admin := one.userNamed("ada"), one.admin()
		var begun struct {
			SessionToken string
		}
		token, err := one.issue(t.Context(), "", []string{"system"}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		two.send(http.StatusOK, "/register/passkey/start", token, `{"userId":"`+ada+`"}`, &begun)
		claims, err := one.tokens.Verify(t.Context(), token, one.origin)
		if err != nil {
			t.Fatal(err)
		}
		p := two.pause("POST", "/register/passkey/finish", token, `{"sessionToken":"`+begun.SessionToken+`","publicKeyCredential":{}}`)
		if status, code, _ := one.bare("DELETE", "/users/"+claims.Subject+"/sessions/"+claims.Session, admin); status != http.StatusNoContent {
			t.Fatalf("%d %s", status, code)
		}
		if rec := p.finish(); rec.Code < 400 {
			t.Errorf("%d %s", rec.Code, rec.Body)
		}
		ref := claims.Ref()
		err = two.directory.AddPasskey(t.Context(), directory.Call{Actor: schemas.Actor{Type: schemas.UserActor, ID: claims.Subject}, Permissions: []string{"system"}, Token: &ref}, &schemas.Credential{ID: schemas.Bytes("x"), UserID: ada, CreatedAt: time.Now()})
		if !schemas.HasCode(err, "invalid_token") {
			t.Errorf("got %v", err)
		}
	})
}
