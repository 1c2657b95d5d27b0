package oauth_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/outbound"
	"github.com/postern-id/postern/schemas"
)

const documentID = "https://client.example.com/oauth/metadata.json"

// document is a metadata document of a client, with more members.
func document(id, more string) string {
	return fmt.Sprintf(`{"client_id":%q,"redirect_uris":["https://client.example.com/back","http://127.0.0.1/cb"],"grant_types":["authorization_code","refresh_token"]%s}`, id, more)
}

// A client with a metadata document signs users in, from beginning to end.
func TestMetadataDocument(t *testing.T) {
	s := newUntrustedClients(t)
	s.publish(documentID, document(documentID, `,"client_name":"Tool","logo_uri":"https://client.example.com/logo.png"`), "Cache-Control: max-age=600")
	got := s.signIn(documentID, clientBack, "openid system")
	if !slices.Contains(strings.Fields(got.Scope), "system") || got.RefreshToken == "" || s.asked[documentID] != 1 {
		t.Fatalf("got %+v, after asking %d times", got, s.asked[documentID])
	}
	if s.begun.ClientID != documentID {
		t.Errorf("the request is of %s", s.begun.ClientID)
	}
	app, err := s.directory.Client(t.Context(), documentID)
	s.must(err)
	if app.Name != "Tool" || app.Registration != schemas.RegisteredByDocument || app.IsTrusted() || app.LogoURL == "" || !*app.OAuth().PublicClient {
		t.Errorf("the application is %+v", app)
	}
	again, err := s.refresh(got.RefreshToken, "client_id", documentID)
	s.must(err)
	if s.asked[documentID] != 1 {
		t.Errorf("asked %d times for what is fresh", s.asked[documentID])
	}

	// What is no longer fresh is asked for again, and its changes count.
	s.now = s.now.Add(11 * time.Minute)
	s.publish(documentID, document(documentID, `,"client_name":"Tool 2"`))
	again, err = s.refresh(again.RefreshToken, "client_id", documentID)
	s.must(err)
	app, err = s.directory.Client(t.Context(), documentID)
	s.must(err)
	if app.Name != "Tool 2" || app.LogoURL != "" || s.asked[documentID] != 2 {
		t.Errorf("the application is %+v, after asking %d times", app, s.asked[documentID])
	}
	s.must(s.revoke(again.RefreshToken, documentID))
	if _, err := s.refresh(again.RefreshToken, "client_id", documentID); err == nil {
		t.Error("a token that was revoked is good")
	}
}

func (s *untrustedClients) revoke(token, clientID string) error {
	return s.provider.Revoke(newRecorder(), request(url.Values{"token": {token}, "client_id": {clientID}}.Encode()))
}

// Temporary problems lock no client out; a missing document does.
func TestRemovedDocuments(t *testing.T) {
	s := newUntrustedClients(t)
	s.publish(documentID, document(documentID, ""))
	got := s.signIn(documentID, clientBack, "openid")
	s.now = s.now.Add(2 * time.Hour)
	s.web[documentID] = &outbound.Response{} // no answer
	got, err := s.refresh(got.RefreshToken, "client_id", documentID)
	s.must(err)
	s.now = s.now.Add(2 * time.Minute)
	s.web[documentID] = &outbound.Response{Status: http.StatusBadGateway, Header: http.Header{}}
	got, err = s.refresh(got.RefreshToken, "client_id", documentID)
	s.must(err)
	if s.asked[documentID] != 3 {
		t.Errorf("asked %d times", s.asked[documentID])
	}
	s.now = s.now.Add(2 * time.Minute)
	delete(s.web, documentID)
	_, err = s.refresh(got.RefreshToken, "client_id", documentID)
	wantRefused(t, err, "invalid_client")
	// For a week trouble may pass, and no longer.
	s.publish(documentID, document(documentID, ""))
	s.now = s.now.Add(8 * 24 * time.Hour)
	s.web[documentID] = &outbound.Response{}
	_, err = s.refresh(got.RefreshToken, "client_id", documentID)
	wantRefused(t, err, "invalid_client")
}

func TestDocumentsRefused(t *testing.T) {
	s := newUntrustedClients(t)
	for i, test := range []struct{ path, text, contentType string }{
		{"a", document("https://client.example.com/b", ""), ""}, {"a", document("https://CLIENT.example.com/a", ""), ""}, {"a", `{"redirect_uris":["https://client.example.com/back"]}`, ""},
		{"a", `{"client_id":"$","Client_ID":"https://client.example.com/b"}`, ""}, // of no redirect URI
		{"a", document("$", `,"client_secret":"secret"`), ""}, {"a", document("$", `,"client_secret_expires_at":0`), ""},
		{"a", document("$", `,"token_endpoint_auth_method":"client_secret_basic"`), ""}, {"a", document("$", `,"token_endpoint_auth_method":"client_secret_post"`), ""},
		{"a", document("$", `,"token_endpoint_auth_method":"client_secret_jwt"`), ""}, {"a", document("$", `,"token_endpoint_auth_method":"private_key_jwt"`), ""},
		{"a", document("$", `,"client_name":"A\u202eB"`), ""}, {"a", document("$", `,"logo_uri":"javascript:alert(1)"`), ""},
		{"a", document("$", `,"subject_type":"pairwise"`), ""}, {"a", document("$", `,"software_statement":"a.b.c"`), ""},
		{"a", `[]`, ""}, {"a", `x`, ""}, {"a", ``, ""}, {"a", document("$", `,"client_id":"$"`), ""}, {"a", document("$", "") + "x", ""},
		{"a", document("$", ""), "text/html"}, {"a", document("$", ""), "none"}, {"a", document("$", `,"x":"`+strings.Repeat("a", 6000)+`"`), ""},
		{"a#b", document("$", ""), ""}, {"a/../b", document("$", ""), ""}, {"a/%2e%2E/b", document("$", ""), ""}, {"./a", document("$", ""), ""}, {"a b", document("$", ""), ""},
		{strings.Repeat("a", 200), document("$", ""), ""},
	} {
		// Another host each time: what has failed is not asked again at once.
		id := fmt.Sprintf("https://client%d.example.com/%s", i, test.path)
		h := http.Header{"Content-Type": {"application/json"}}
		if test.contentType != "" {
			h.Set("Content-Type", test.contentType)
		}
		s.web[id] = &outbound.Response{Status: 200, Header: h, Body: []byte(strings.ReplaceAll(test.text, "$", id))}
		s.wantNoClient(id)
	}
	for _, id := range []string{"https://client.example.com", "https://user@client.example.com/a", "https://user:pw@client.example.com/a", "https://client.example.com/nothing-there", "https:///a", "https://", "http://"} {
		s.wantNoClient(id)
	}
	s.web["https://client.example.com/moved"] = &outbound.Response{Status: http.StatusFound, Header: http.Header{"Location": {documentID}}}
	s.publish(documentID, document("https://client.example.com/moved", ""))
	s.wantNoClient("https://client.example.com/moved")
	// Which addresses may be asked is for the outgoing requests to say.
	s.publish("http://127.0.0.1:3000/a", document("http://127.0.0.1:3000/a", ""))
	if to := s.authorize(browser{}, ask("client_id", "http://127.0.0.1:3000/a", "redirect_uri", clientBack)); !strings.HasPrefix(to.String(), gateURL+"/signin?") {
		t.Errorf("led to %s", to)
	}
	// A redirect URI of another client is none of this one's.
	s.publish("https://good.example.com/a", document("https://good.example.com/a", ""))
	if to := s.authorize(browser{}, ask("client_id", "https://good.example.com/a", "redirect_uri", "https://other.example.com/back")); !strings.HasPrefix(to.String(), gateURL+"/error?") {
		t.Errorf("led to %s", to)
	}
}

func (s *untrustedClients) wantNoClient(id string) {
	s.t.Helper()
	to := s.authorize(browser{}, ask("client_id", id, "redirect_uri", clientBack))
	if !strings.HasPrefix(to.String(), gateURL+"/error?error=invalid_client") {
		s.t.Errorf("%s: led to %s", id, to)
	}
	if app, err := s.directory.Client(s.t.Context(), id); err == nil {
		s.t.Errorf("%s: there is the application %+v", id, app)
	}
}

// A document without a sign-in is not fetched, a failed fetch is not repeated at once, and fetches
// are limited per network.
func TestFetchedDocuments(t *testing.T) {
	s := newUntrustedClients(t)
	s.publish(documentID, document(documentID, ""))
	_, err := s.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"x"}, "client_id": {documentID}})
	if err == nil || s.asked[documentID] != 0 {
		t.Errorf("%v, and asked %d times", err, s.asked[documentID])
	}
	for range 3 {
		s.wantNoClient("https://client.example.com/nothing-there")
	}
	if n := s.asked["https://client.example.com/nothing-there"]; n != 1 {
		t.Errorf("asked %d times for nothing", n)
	}
	s.refuse = schemas.Errorf(schemas.Throttled, "too_many_requests", "too many")
	_, err = browser{}.do(t, s.provider.Authorize, authorization(ask("client_id", documentID, "redirect_uri", clientBack)))
	if !schemas.HasClass(err, schemas.Throttled) || s.asked[documentID] != 0 {
		t.Errorf("%v, and asked %d times", err, s.asked[documentID])
	}
}

// An administrator may vouch for a client, and what its document does not speak of
// stays as they have set it.
func TestAdministratorsTrustClients(t *testing.T) {
	s := newUntrustedClients(t)
	s.publish(documentID, document(documentID, `,"client_name":"Tool"`), "Cache-Control: no-store")
	s.signIn(documentID, clientBack, "openid")
	app, err := s.directory.Client(t.Context(), documentID)
	s.must(err)
	s.vouch(app, `"allowedUserTypes":["Person"]`)
	s.now = s.now.Add(2 * time.Minute)
	s.publish(documentID, document(documentID, `,"client_name":"Another"`))
	s.signIn(documentID, clientBack, "openid")
	app, err = s.directory.Client(t.Context(), documentID)
	s.must(err)
	if !app.IsTrusted() || app.Name != "Another" || !slices.Equal(app.AllowedUserTypes, []string{"Person"}) {
		t.Errorf("the application is %+v", app)
	}
}

// A client that is known does not become another one by what its document says later.
func TestAudit05DocumentsCannotTakeANameLater(t *testing.T) {
	s := newUntrustedClients(t)
	s.create(s.directory.Applications, `{"name":"Console"}`)
	s.publish(documentID, document(documentID, `,"client_name":"Tool"`))
	got := s.signIn(documentID, clientBack, "openid")
	for _, name := range []string{"C0nsole", "Tооl"} {
		s.now = s.now.Add(2 * time.Hour)
		s.publish(documentID, document(documentID, `,"client_name":"`+name+`"`))
		_, err := s.refresh(got.RefreshToken, "client_id", documentID)
		wantRefused(t, err, "invalid_client")
		app, err := s.directory.Client(t.Context(), documentID)
		s.must(err)
		if app.Name != "Tool" {
			t.Errorf("the client is called %q", app.Name)
		}
	}
}

// A client id has one spelling: with several, one document would make several clients, each with its own consents,
// limits and trust.
func TestDocumentIDsHaveOneSpelling(t *testing.T) {
	s := newUntrustedClients(t)
	for _, id := range []string{
		"https://CLIENT.example.com/m", "https://client.example.com./m", "https://client.example.com:443/m", "https://client.example.com:0443/m",
		"https://client.example.com:08443/m", "https://client.example.com:/m", "https://client.example.com/a%2fm", "https://client.example.com/%6d",
		"https://client.example.com/%7Em", "https://client.example.com/a/../m", "https://client.example.com/./m", "https://client.example.com/%2E/m",
		"https://client.example.com/m?", "https://client.example.com/m?a=%2d", "https://client.example.com/{m}", "https://client.example.com/m#",
		"https://@client.example.com/m", "https://b\u00fccher.example.com/m", "https://XN--bcher-kva.example.com/m", "http://[0::1]/m", "http://0x7f.1/m", "http://2130706433/m",
		"https://client%2eexample.com/m", "https://client.example.com/%zz",
	} {
		s.publish(id, document(id, ""))
		s.wantNoClient(id)
		if s.asked[id] > 0 {
			t.Errorf("%s was fetched", id)
		}
	}
	for _, id := range []string{"https://client.example.com:8443/a%2Fm", "https://client.example.com/~m/?v=1", "https://xn--bcher-kva.example.com/m", "https://client.example.com/M//m"} {
		s.publish(id, document(id, ""))
		if to := s.authorize(browser{}, ask("client_id", id, "redirect_uri", clientBack)); !strings.HasPrefix(to.String(), gateURL+"/signin?") {
			t.Errorf("%s led to %s", id, to)
		}
	}
}
