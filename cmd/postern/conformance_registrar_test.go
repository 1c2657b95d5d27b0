package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/outbound"
	"github.com/postern-id/postern/schemas"
)

// registrars are a server with open client registration, and a site where clients publish
// their documents.
type registrars struct {
	*testApp
	site         *httptest.Server
	mu           sync.Mutex
	has          map[string]any // the documents of the site, by path
	logoutTokens chan string    // logout tokens
}

func newRegistrars(t *testing.T, environ ...string) *registrars {
	t.Helper()
	r := &registrars{has: map[string]any{}, logoutTokens: make(chan string, 10)}
	r.site = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, asked *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if asked.Method == http.MethodPost {
			r.logoutTokens <- asked.PostFormValue("logout_token")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(r.has[asked.URL.Path]); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(r.site.Close)
	r.testApp = createUsers(t, append(environ, "POSTERN_OAUTH_DCR_INSECURE=true", "POSTERN_OAUTH_CLIENT_METADATA_DOCUMENTS_ALLOWED_HOSTS=127.0.0.1")...)
	trusted := x509.NewCertPool()
	trusted.AddCert(r.site.Certificate())
	r.outbound = outbound.New(outbound.Rules{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: trusted})
	r.testApp.http = r.handler()
	return r
}

// list replaces the hosts of oauth.client_metadata_documents.allowed_hosts.
func (r *registrars) list(host string) {
	r.cfg.OAuth.ClientMetadataDocuments.AllowedHosts = nil
	if host != "" {
		r.cfg.OAuth.ClientMetadataDocuments.AllowedHosts = []string{host}
	}
	r.testApp.http = r.handler()
}

// publish publishes a value at a path of the site, and returns the address.
func (r *registrars) publish(path string, value any) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.has[path] = value
	return r.site.URL + path
}

// register registers a client with the members, names and values in turn.
func (r *registrars) register(t *testing.T, members ...any) (said map[string]any, status int) {
	t.Helper()
	body := map[string]any{"client_name": "Dynamic", "redirect_uris": []string{rpRedirect}, "grant_types": []string{"authorization_code", "refresh_token"}}
	for i := 0; i < len(members); i += 2 {
		body[members[i].(string)] = members[i+1]
	}
	rec := r.testApp.exchange(http.MethodPost, "/oauth2/dcr/register", string(datatest.Marshal(t, body)), jsonBody)
	datatest.Unmarshal(t, rec.Body.Bytes(), &said)
	return said, rec.Code
}

// party is one whose client has registered itself.
func (r *registrars) party(t *testing.T, members ...any) *party {
	t.Helper()
	said, status := r.register(t, members...)
	if status != http.StatusCreated {
		t.Fatalf("%d %v", status, said)
	}
	secret, _ := said["client_secret"].(string)
	return &party{untrusted: true, testApp: r.testApp, t: t, http: newBrowser(t, r.testApp.http), mode: "query", id: said["client_id"].(string), secret: secret,
		method: said["token_endpoint_auth_method"].(string), redirect: said["redirect_uris"].([]any)[0].(string)}
}

// makeTrusted is what an administrator does who trusts a client.
func (r *registrars) makeTrusted(t *testing.T, id string) {
	t.Helper()
	item, err := r.directory.Applications.Get(t.Context(), directory.SystemCall(), id)
	if err != nil {
		t.Fatal(err)
	}
	app := *item.Value.(*schemas.Application)
	app.Verified = true
	r.replace(r.directory.Applications, id, app)
}

// replace replaces a resource.
func (w *testApp) replace(of directory.Resource, id string, by any) {
	w.t.Helper()
	text := datatest.Marshal(w.t, by)
	d, problems := schemas.ParseJSON(text)
	if _, err := of.Replace(w.t.Context(), directory.SystemCall(), id, "", d); err != nil || len(problems) > 0 {
		w.t.Fatal(err, problems)
	}
}

// keyholder is a key of a client that it publishes.
type keyholder struct {
	t   *testing.T
	key *ecdsa.PrivateKey
	kid string
}

func newKeyholder(t *testing.T, kid string) *keyholder {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &keyholder{t, key, kid}
}

// published is the set of the key.
func (k *keyholder) published() jose.JSONWebKeySet {
	return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &k.key.PublicKey, KeyID: k.kid, Algorithm: "ES256", Use: "sig"}}}
}

// publishKey makes a key, and the site publishes no other.
func (r *registrars) publishKey(t *testing.T, path, kid string) *keyholder {
	t.Helper()
	k := newKeyholder(t, kid)
	r.publish(path, k.published())
	return k
}

// assert signs a client assertion (Core §9) for the issuer.
func (k *keyholder) assert(client, issuer string) string {
	k.t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: k.key, KeyID: k.kid}}, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	raw, err := jwt.Signed(signer).Claims(jwt.Claims{Issuer: client, Subject: client, Audience: jwt.Audience{issuer},
		ID: schemas.NewID(), Expiry: jwt.NewNumericDate(time.Now().Add(time.Minute))}).Serialize()
	if err != nil {
		k.t.Fatal(err)
	}
	return raw
}

// withKey is a party that authenticates by the key that it publishes at a path.
func (r *registrars) withKey(t *testing.T, path string) *party {
	t.Helper()
	key := r.publishKey(t, path, "first")
	p := r.party(t, "token_endpoint_auth_method", schemas.AuthMethodPrivateKeyJWT, "jwks_uri", r.site.URL+path)
	p.key = key
	return p
}
