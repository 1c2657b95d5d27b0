package oauth_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/outbound"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

// This is an authorization server where clients register themselves.
type untrustedClients struct {
	*signIns
	directory *directory.Directory
	web       map[string]*outbound.Response // what there is at addresses
	asked     map[string]int                // how often each was asked for
	refuse    error                         // of Admit
}

type plainHasher struct{}

func (plainHasher) Hash(_ context.Context, password string) (string, error) {
	return "plain:" + password, nil
}

func (plainHasher) Verify(_ context.Context, phc, password string) (ok, rehash bool, err error) {
	return phc == "plain:"+password, false, nil
}

// newUntrustedClients makes one. Ann, who signs in, may do everything.
func newUntrustedClients(t testing.TB) *untrustedClients {
	t.Helper()
	s := &untrustedClients{signIns: newSignIns(t), web: map[string]*outbound.Response{}, asked: map[string]int{}}
	s.directory = directory.New(directory.Options{
		Store: s.store, Hasher: plainHasher{}, DigestKey: make([]byte, 32),
		CheckFlow: func(text []byte, _ bool, _ schemas.Subflows) (*schemas.Flow, []schemas.Problem) {
			var f schemas.Flow
			datatest.Unmarshal(t, text, &f)
			return &f, nil
		},
	})
	s.agrees, s.approves = true, true
	s.furnishDirectory()
	s.provider = oauth.New(oauth.Options{
		Issuer: base, Gate: gateURL, Clients: s.directory, Store: s.store, Tokens: s.tokens, Runs: s, RefreshKey: make([]byte, 32), Record: s.record,
		UseAssertion: s.useAssertion, FetchKeys: s.fetchKeys, FetchDocument: s.fetch, AdmitFetch: func(context.Context) error { return s.refuse },
		OpenRegistration: true, Now: func() time.Time { return s.now },
	})
	return s
}

func (s *untrustedClients) furnishDirectory() {
	s.create(s.directory.Units, `{"handle":"default","name":"Default"}`)
	s.create(s.directory.ResourceServers, `{"handle":"system","name":"System","resources":[{"handle":"users","actions":[{"handle":"read"}]}]}`)
	s.create(s.directory.Flows, `{"handle":"sign-in","name":"In","flowType":"AUTHENTICATION","nodes":[]}`)
	s.create(s.directory.Flows, `{"handle":"passkey-sign-up","name":"Up","flowType":"REGISTRATION","nodes":[]}`)
	s.create(s.directory.Roles, `{"name":"Administrator","permissions":["system"],"assignments":[{"type":"user","id":"`+s.user.ID+`"}]}`)
}

func (s *untrustedClients) create(of directory.Resource, body string) {
	s.t.Helper()
	d, problems := schemas.ParseJSON([]byte(body))
	if len(problems) > 0 {
		s.t.Fatal(problems)
	}
	_, err := of.Create(s.t.Context(), directory.SystemCall(), d)
	s.must(err)
}

// fetch is the web. What is not there answers 404.
func (s *untrustedClients) fetch(_ context.Context, url string) (*outbound.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[url]++
	reply := s.web[url]
	switch {
	case reply == nil:
		return &outbound.Response{Status: http.StatusNotFound, Header: http.Header{}}, nil
	case reply.Status == 0:
		return nil, schemas.Errorf(schemas.Unavailable, outbound.CodeFailed, "the address did not answer within 5s")
	}
	return reply, nil
}

// publish puts JSON at an address.
func (s *untrustedClients) publish(url, text string, headers ...string) {
	h := http.Header{"Content-Type": {"application/json"}}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		h.Set(name, value)
	}
	s.web[url] = &outbound.Response{Status: http.StatusOK, Header: h, Body: []byte(text)}
}

// register sends a registration; by is the caller, nil for an anonymous one.
func (s *untrustedClients) register(body string, by *directory.Call) (map[string]any, error) {
	s.t.Helper()
	r := httptest.NewRequest("POST", oauth.RegisterPath, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	rec := httptest.NewRecorder()
	if err := s.provider.Register(rec, r, by); err != nil {
		return nil, err
	}
	if rec.Code != http.StatusCreated || rec.Header().Get("Cache-Control") != "no-store" {
		s.t.Errorf("%d %v", rec.Code, rec.Header())
	}
	var reported map[string]any
	s.must(json.Unmarshal(rec.Body.Bytes(), &reported))
	return reported, nil
}

// signIn has ann sign in to a client, and returns its tokens.
func (s *untrustedClients) signIn(clientID, redirect, scope string, headers ...string) *reply {
	s.t.Helper()
	b := browser{}
	code := s.code(b, ask("client_id", clientID, "redirect_uri", redirect, "scope", scope))
	form := "grant_type=authorization_code&code=" + code + "&code_verifier=" + verifier
	if len(headers) == 0 {
		form += "&client_id=" + url.QueryEscape(clientID)
	}
	rec := httptest.NewRecorder()
	s.must(s.provider.Token(rec, request(form, headers...)))
	var r reply
	s.must(json.Unmarshal(rec.Body.Bytes(), &r))
	return &r
}

// vouch lets an administrator mark a client as trusted and change it.
func (s *untrustedClients) vouch(app *schemas.Application, more string) {
	s.t.Helper()
	text, err := json.Marshal(app)
	s.must(err)
	d, problems := schemas.ParseJSON([]byte(strings.TrimSuffix(string(text), "}") + `,"verified":true,` + more + "}"))
	if len(problems) > 0 {
		s.t.Fatal(problems)
	}
	_, err = s.directory.Applications.Replace(s.t.Context(), directory.SystemCall(), app.ID, "", d)
	s.must(err)
}

func newRecorder() *httptest.ResponseRecorder { return httptest.NewRecorder() }

func authorization(q url.Values) *http.Request {
	return httptest.NewRequest("GET", "/oauth2/authorize?"+q.Encode(), nil)
}
