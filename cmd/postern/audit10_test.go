package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// These tests are named after finding 10 of the security audit of November 2026: a waiting
// request used a permission that its caller had lost meanwhile.

// pausedBody is an admitted request whose body has not arrived yet.
type pausedBody struct {
	reached, proceed chan struct{}
	once             sync.Once
	body             *bytes.Reader
	reply            chan *httptest.ResponseRecorder
}

// Read implements io.Reader: it blocks until finish is called.
func (p *pausedBody) Read(b []byte) (int, error) {
	p.once.Do(func() {
		close(p.reached)
		<-p.proceed
	})
	return p.body.Read(b)
}

// pause sends a request and returns when the server, having checked the token, reads the
// body.
func (w *testApp) pause(method, path, token, body string) *pausedBody {
	w.t.Helper()
	p := &pausedBody{reached: make(chan struct{}), proceed: make(chan struct{}), body: bytes.NewReader([]byte(body)), reply: make(chan *httptest.ResponseRecorder, 1)}
	r := httptest.NewRequest(method, path, io.NopCloser(p))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+token)
	r.ContentLength = int64(len(body))
	go func() {
		p.reply <- w.reply(r)
	}()
	select {
	case <-p.reached:
	case rec := <-p.reply:
		w.t.Fatalf("%s %s was not admitted: %d %s", method, path, rec.Code, rec.Body)
	}
	return p
}

// finish delivers the body and returns the reply.
func (p *pausedBody) finish() *httptest.ResponseRecorder {
	close(p.proceed)
	return <-p.reply
}

// partial is an administrator, as a user and as a client, whose permissions the tests
// remove in several ways.
type partial struct {
	user, role, group, client, clientRole string
	person, machine                       string // tokens
	session                               string
}

// newPartial creates a user who has the permission system through a group, and a client
// that has it through a role.
func newPartial(t *testing.T, w *testApp) (p partial) {
	t.Helper()
	p.user = w.userNamed("pat")
	p.group = w.create(w.directory.Groups, `{"name":"Operators","members":[{"type":"user","id":"`+p.user+`"}]}`).ID
	p.role = w.create(w.directory.Roles, `{"name":"Operator","permissions":["system"],"assignments":[{"type":"group","id":"`+p.group+`"}]}`).ID
	app := w.client("system:users:read")
	p.client = app.ID
	p.clientRole = w.create(w.directory.Roles, `{"name":"Machine","permissions":["system"],"assignments":[{"type":"application","id":"`+app.ID+`"}]}`).ID
	var err error
	if p.person, err = w.issueToken(t.Context(), "pat", []string{"system"}, time.Hour); err != nil {
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

// permissionLoss is a request that removes permissions from the owner of a token.
type permissionLoss struct {
	token, method, path, body string
	status                    int // of the owner's request after that; 0 if it must succeed
}

// check checks the reply to a request of the owner.
func (k permissionLoss) check(t *testing.T, what string, rec *httptest.ResponseRecorder) {
	t.Helper()
	failed := rec.Code >= 400 || strings.Contains(rec.Body.String(), `"isError":true`)
	expected := rec.Code == k.status || what == "a client, by a tool" && rec.Code == http.StatusOK
	if failed != (k.status != 0) || failed && !expected {
		t.Errorf("%s: %d %s, expected %d (0: success)", what, rec.Code, rec.Body, k.status)
	}
}

// permissionLosses are the ways to remove permissions, and a request that removes none.
func (p partial) permissionLosses() map[string]permissionLoss {
	return map[string]permissionLoss{
		"nothing is taken":                  {p.person, "GET", "/roles/" + p.role, "", 0},
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

// grants are requests that require the permission system.
func (p partial) grants() map[string][3]string {
	return map[string][3]string{
		"a role for oneself":      {"POST", "/roles", `{"name":"Mine","permissions":["system"],"assignments":[{"type":"user","id":"` + p.user + `"}]}`},
		"a client, by a tool":     {"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"service_create_application","arguments":{"name":"Mine by a tool"}}}`},
		"a client that registers": {"POST", "/oauth2/dcr/register", `{"client_name":"Mine by registration","redirect_uris":["https://mine.example.com/back"],"scope":"system"}`},
	}
}

// An admitted request does not use a permission that an administrator has removed
// meanwhile.
func TestAudit10PermissionsAreReadInTheTransaction(t *testing.T) {
	sequential(t)
	for name := range (partial{}).permissionLosses() {
		t.Run(name, func(t *testing.T) {
			onTwoInstances(t, func(t *testing.T, one, two *testApp) {
				p := newPartial(t, one)
				taking := p.permissionLosses()[name]
				waiting := map[string]*pausedBody{}
				for what, request := range p.grants() {
					waiting[what] = two.pause(request[0], request[1], taking.token, request[2])
				}
				if rec := one.call(taking.method, taking.path, one.admin(), taking.body); rec.Code >= 300 {
					t.Fatalf("%d %s", rec.Code, rec.Body)
				}
				for what, request := range waiting {
					taking.check(t, what, request.finish())
				}
				for _, path := range []string{"/roles", "/applications"} {
					found := strings.Contains(one.call("GET", path+"?limit=100", one.admin(), "").Body.String(), `"Mine`)
					if found != (taking.status == 0) {
						t.Errorf("%s: written: %v", path, found)
					}
				}
			})
		})
	}
}

// No role is created after its creator has lost the permission, even if the request was
// waiting for its turn to write.
func TestAudit10NoGrantAfterRoleIsRemoved(t *testing.T) {
	onTwoInstances(t, func(t *testing.T, one, two *testApp) {
		p := newPartial(t, one)
		admin := one.admin()
		if rec := two.call("POST", "/roles", p.person, `{"name":"Before","permissions":["system:users:read"]}`); rec.Code != http.StatusCreated {
			t.Fatalf("before the loss: %d %s", rec.Code, rec.Body)
		}
		rounds := 6
		if testing.Short() {
			rounds = 2
		}
		for round := range rounds {
			one.put("/groups/"+p.group, `{"name":"Operators","members":[{"type":"user","id":"`+p.user+`"}]}`, admin)
			var all sync.WaitGroup
			for i := range 12 {
				w := []*testApp{one, two}[i%2]
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
		slices.Reverse(events) // oldest first
		changes := 0           // of the group: the member is in it after an odd number of changes
		for _, e := range events {
			switch {
			case e.Resource.ID == p.group:
				changes++
			case e.Action == "role.created" && e.Actor.ID == p.user && changes%2 == 0:
				t.Errorf("a role was created at %v, after its creator had lost the permission", e.At)
			}
		}
		if changes != 2*rounds {
			t.Errorf("the group changed %d times, expected %d", changes, 2*rounds)
		}
	})
}

// A passkey is not registered with a token whose session ended after the token was checked.
func TestAudit10EndedSessionCannotRegisterPasskey(t *testing.T) {
	onTwoInstances(t, func(t *testing.T, one, two *testApp) {
		one.enrol("ada")
		ada, admin := one.userNamed("ada"), one.admin()
		pat := one.userNamed("pat")
		one.create(one.directory.Roles, `{"name":"Operator","permissions":["system"],"assignments":[{"type":"user","id":"`+pat+`"}]}`)
		token, err := one.issueToken(t.Context(), "pat", []string{"system"}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if rec := two.finishingPasskey(ada, token).finish(); rec.Code != http.StatusOK {
			t.Fatalf("while the session lasts: %d %s", rec.Code, rec.Body)
		}
		late := two.finishingPasskey(ada, token)
		if rec := one.call("DELETE", "/users/"+pat+"/sessions", admin, ""); rec.Code != http.StatusOK {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		if rec := late.finish(); rec.Code != http.StatusUnauthorized {
			t.Errorf("after the session ended: %d %s", rec.Code, rec.Body)
		}
		keys, err := one.store.Credentials(t.Context(), ada)
		if err != nil || len(keys) != 2 {
			t.Errorf("%d passkeys, %v; expected 2", len(keys), err)
		}
	})
}

// finishingPasskey is a request that registers a passkey for a user.
func (w *testApp) finishingPasskey(userID, token string) *pausedBody {
	w.t.Helper()
	var begun struct {
		Options      json.RawMessage `json:"publicKeyCredentialCreationOptions"`
		SessionToken string
	}
	w.send(http.StatusOK, "/register/passkey/start", token, `{"userId":"`+userID+`"}`, &begun)
	made, err := passkeytest.New().Register(begun.Options, w.origin)
	if err != nil {
		w.t.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{"sessionToken": begun.SessionToken, "publicKeyCredential": map[string]any{"id": made.ID, "type": "public-key",
		"response": map[string]string{"clientDataJSON": made.ClientDataJSON, "attestationObject": made.AttestationObject}}})
	if err != nil {
		w.t.Fatal(err)
	}
	return w.pause("POST", "/register/passkey/finish", token, string(body))
}
