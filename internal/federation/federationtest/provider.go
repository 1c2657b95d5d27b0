package federationtest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/postern-id/postern/internal/federation"
	"github.com/postern-id/postern/internal/outbound"
	"github.com/postern-id/postern/schemas"
)

// Internet maps issuers to providers.
type Internet map[string]*Provider

// Do sends the request to the provider with its address.
func (i Internet) Do(ctx context.Context, req *http.Request) (*outbound.Response, error) {
	for issuer, p := range i {
		if strings.HasPrefix(req.URL.String(), issuer+"/") {
			return p.Do(ctx, req)
		}
	}
	return nil, unavailable()
}

func unavailable() error {
	return schemas.Errorf(schemas.Unavailable, outbound.CodeFailed, "the address did not answer within 5s")
}

// Provider is an OpenID provider with one client.
type Provider struct {
	// Issuer is the issuer identifier: https://other.example.org.
	Issuer string
	// ClientID and ClientSecret are the credentials of its client, which authenticates by
	// client_secret_basic.
	ClientID, ClientSecret string
	// Now is the clock.
	Now func() time.Time
	// Down makes all requests fail.
	Down bool
	// Lax accepts codes without the verifier, like a provider without PKCE.
	Lax bool
	// Document changes the metadata, if not nil.
	Document func(map[string]any)

	// Asked are the paths of the received requests.
	Asked []string

	mu    sync.Mutex
	key   *ecdsa.PrivateKey
	codes map[string]grant
	// last is whose tokens were issued last: access tokens are all the same.
	last Person
}

// Person is a user at the provider, with claims in addition to the subject.
type Person struct {
	Subject string
	Claims  map[string]any
	// Userinfo are the claims of the userinfo endpoint; nil for no endpoint. The sub is that of the person unless it
	// is among them.
	Userinfo map[string]any
}

// grant is the authorization behind a code.
type grant struct {
	person    Person
	fault     Fault
	nonce     string
	challenge string
	redirect  string
	maxAge    bool
}

// New returns a provider.
func New(issuer string, now func() time.Time) *Provider {
	p := &Provider{Issuer: issuer, ClientID: "postern", ClientSecret: "a secret: %/+&", Now: now, codes: map[string]grant{}}
	p.Rotate()
	return p
}

// Rotate replaces the signing key.
func (p *Provider) Rotate() {
	p.key = must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
}

// SignIn plays the user at the authorization URL, and returns the response that the browser
// delivers. The error is for a request that a provider rejects.
func (p *Provider) SignIn(address string, who Person, fault Fault) (federation.Response, error) {
	u, err := url.Parse(address)
	if err != nil || !strings.HasPrefix(address, p.Issuer+"/authorize?") {
		return federation.Response{}, fmt.Errorf("%s is not where %s signs people in", address, p.Issuer)
	}
	q := u.Query()
	for name, want := range map[string]string{"response_type": "code", "client_id": p.ClientID, "code_challenge_method": "S256"} {
		if q.Get(name) != want {
			return federation.Response{}, fmt.Errorf("expected as %s %s, got %q", name, want, q.Get(name))
		}
	}
	if !strings.Contains(" "+q.Get("scope")+" ", " openid ") || len(q.Get("state")) < 32 || len(q.Get("code_challenge")) != 43 {
		return federation.Response{}, fmt.Errorf("the request lacks the scope openid, a state or a challenge: %s", u.RawQuery)
	}
	code := fmt.Sprintf("code-%x", sha256.Sum256([]byte(address+who.Subject+string(fault))))
	p.mu.Lock()
	p.codes[code] = grant{who, fault, q.Get("nonce"), q.Get("code_challenge"), q.Get("redirect_uri"), q.Has("max_age")}
	p.mu.Unlock()
	return answer(federation.Response{Code: code, State: q.Get("state"), Issuer: p.Issuer}, fault), nil
}

// answer is the response that the browser delivers.
func answer(r federation.Response, fault Fault) federation.Response {
	switch fault {
	case "denied":
		r.Code, r.Error = "", "access_denied"
	case "denied-elsewhere":
		r.Code, r.Error, r.State = "", "access_denied", "another"
	case "error":
		r.Code, r.Error = "", "server_error"
	case "no-code":
		r.Code = ""
	case "long-code":
		r.Code = strings.Repeat("c", 5000)
	case "wrong-state":
		r.State = strings.Repeat("A", len(r.State))
	case "no-state":
		r.State = ""
	case "wrong-sender":
		r.Issuer = "https://evil.example"
	case "no-sender":
		r.Issuer = ""
	}
	return r
}

// Do answers the requests of the client.
func (p *Provider) Do(_ context.Context, req *http.Request) (*outbound.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	path := strings.TrimPrefix(req.URL.String(), p.Issuer)
	p.Asked = append(p.Asked, path)
	if p.Down {
		return nil, unavailable()
	}
	switch path {
	case "/.well-known/openid-configuration":
		return reply(p.document()), nil
	case "/keys":
		return reply(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: p.key.Public(), KeyID: p.kid(), Use: "sig"}}}), nil
	case "/token":
		return p.token(req)
	case "/userinfo":
		return p.userinfo(req), nil
	}
	return &outbound.Response{Status: http.StatusNotFound}, nil
}

func (p *Provider) document() map[string]any {
	doc := map[string]any{
		"issuer": p.Issuer, "authorization_endpoint": p.Issuer + "/authorize", "token_endpoint": p.Issuer + "/token", "jwks_uri": p.Issuer + "/keys",
		"userinfo_endpoint": p.Issuer + "/userinfo",
		"authorization_response_iss_parameter_supported": true,
	}
	if p.Document != nil {
		p.Document(doc)
	}
	return doc
}

// kid is the thumbprint of the public key.
func (p *Provider) kid() string {
	hash := sha256.Sum256(must(p.key.PublicKey.Bytes()))
	return base64.RawURLEncoding.EncodeToString(hash[:8])
}

// token is the token endpoint: RFC 6749 §4.1.3, RFC 7636 §4.6.
func (p *Provider) token(req *http.Request) (*outbound.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return refuse("invalid_request"), nil
	}
	id, secret, _ := req.BasicAuth()
	if id != url.QueryEscape(p.ClientID) || secret != url.QueryEscape(p.ClientSecret) {
		return refuse("invalid_client"), nil
	}
	g, ok := p.codes[form.Get("code")]
	challenge := sha256.Sum256([]byte(form.Get("code_verifier")))
	if !ok || form.Get("grant_type") != "authorization_code" || form.Get("redirect_uri") != g.redirect ||
		!p.Lax && base64.RawURLEncoding.EncodeToString(challenge[:]) != g.challenge {
		return refuse("invalid_grant"), nil
	}
	delete(p.codes, form.Get("code"))
	p.last = g.person
	return p.issueTokens(g)
}

// userinfo is the userinfo endpoint: OpenID Connect Core §5.3.
func (p *Provider) userinfo(req *http.Request) *outbound.Response {
	if req.Header.Get("Authorization") != "Bearer "+accessToken || p.last.Userinfo == nil {
		return &outbound.Response{Status: http.StatusUnauthorized}
	}
	claims := map[string]any{"sub": p.last.Subject}
	maps.Copy(claims, p.last.Userinfo)
	return reply(claims)
}

// reply is a response with a JSON body.
func reply(body any) *outbound.Response {
	return &outbound.Response{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: must(json.Marshal(body))}
}

func refuse(code string) *outbound.Response {
	r := reply(map[string]string{"error": code, "error_description": "a text with a secret in it"})
	r.Status = http.StatusBadRequest
	return r
}

// ServeHTTP answers over HTTP like Do in memory.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	asked, err := http.NewRequest(r.Method, p.Issuer+r.URL.RequestURI(), r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	asked.Header = r.Header
	answer, err := p.Do(r.Context(), asked)
	if err != nil {
		panic(http.ErrAbortHandler) // as if no server were listening
	}
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Status)
	_, _ = w.Write(answer.Body) // a disconnected client needs none
}
