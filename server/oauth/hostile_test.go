package oauth_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/token"
)

// hostile is a request that must be rejected, with the expected error.
type hostile struct {
	request *http.Request
	status  int
	code    string
	says    string // a part of the description
	basic   bool   // Basic authentication is asked for
}

const grantType = "grant_type=client_credentials"

// malformed are requests that are no token requests, or not for sure.
func malformed() map[string]hostile {
	m2m := basic("m2m", secret)
	bad := func(r *http.Request, says string) hostile {
		return hostile{request: r, status: 400, code: "invalid_request", says: says}
	}
	query := func(q string) *http.Request {
		r := request(grantType, m2m)
		r.URL.RawQuery = q
		return r
	}
	typed := func(kinds ...string) *http.Request {
		headers := []string{m2m, "Content-Type: "}
		for _, kind := range kinds {
			headers = append(headers, "Content-Type: "+kind)
		}
		return request(grantType, headers...)
	}
	large := bad(request(grantType+"&x="+strings.Repeat("x", 64<<10), m2m), "65536 bytes")
	large.status = 413
	return map[string]hostile{
		"grant in the query":       bad(query(grantType), "query"),
		"secret in the query":      bad(query("client_secret="+secret), "query"),
		"anything in the query":    bad(query("x"), "query"),
		"JSON":                     bad(typed("application/json"), "x-www-form-urlencoded"),
		"multipart":                bad(typed("multipart/form-data; boundary=x"), "x-www-form-urlencoded"),
		"text":                     bad(typed("text/plain"), "x-www-form-urlencoded"),
		"no type":                  bad(typed(), "Content-Type"),
		"two types":                bad(typed("application/x-www-form-urlencoded", "application/json"), "one header"),
		"a type that is none":      bad(typed("application/x-www-form-urlencoded;;"), "x-www-form-urlencoded"),
		"another character set":    bad(typed("application/x-www-form-urlencoded; charset=utf-16"), "UTF-8"),
		"compressed":               bad(request(grantType, m2m, "Content-Encoding: gzip"), "Content-Encoding"),
		"too large":                large,
		"empty":                    bad(request("", m2m), "grant_type"),
		"no grant type":            bad(request("scope=system", m2m), "grant_type"),
		"an empty grant type":      bad(request("grant_type=", m2m), "grant_type"),
		"a broken escape":          bad(request(grantType+"&scope=%zz", m2m), "urlencoded"),
		"half an escape":           bad(request(grantType+"&scope=%2", m2m), "urlencoded"),
		"semicolons":               bad(request(grantType+";scope=system", m2m), "urlencoded"),
		"grant type twice":         bad(request(grantType+"&"+grantType, m2m), "grant_type occurs 2 times"),
		"two grant types":          bad(request(grantType+"&grant_type=password", m2m), "grant_type occurs 2 times"),
		"an empty second one":      bad(request(grantType+"&grant_type=", m2m), "grant_type occurs 2 times"),
		"scope twice":              bad(request(grantType+"&scope=system&scope=openid", m2m), "scope occurs 2 times"),
		"client id twice":          bad(request(grantType+"&client_id=m2m&client_id=web", m2m), "client_id occurs 2 times"),
		"secret twice":             bad(request(grantType+"&client_id=post&client_secret=x&client_secret="+secret), "client_secret occurs 2 times"),
		"escaped name twice":       bad(request(grantType+"&%73cope=system&scope=openid", m2m), "scope occurs 2 times"),
		"assertion twice":          bad(request(grantType+"&client_assertion=x&client_assertion=y", m2m), "client_assertion occurs 2 times"),
		"header and secret":        bad(request(grantType+"&client_secret="+secret, m2m), "more than one way"),
		"header and both":          bad(request(grantType+"&client_id=m2m&client_secret="+secret, m2m), "more than one way"),
		"header and assertion":     bad(request(grantType+"&client_assertion=x", m2m), "more than one way"),
		"secret and assertion":     bad(request(grantType+"&client_id=post&client_secret="+secret+"&client_assertion=x"), "more than one way"),
		"two clients":              bad(request(grantType+"&client_id=web", m2m), "not that of the header"),
		"ends within its length":   bad(cutOff(), "complete"),
		"the form of another name": bad(request(`{"grant_type":"client_credentials"}`, m2m), "grant_type"),
	}
}

// cutOff is a request whose body breaks off.
func cutOff() *http.Request {
	r := request(grantType, basic("m2m", secret))
	r.Body = http.MaxBytesReader(nil, r.Body, 1<<20)
	r.Body = broken{}
	return r
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, fmt.Errorf("connection reset") }
func (broken) Close() error             { return nil }

// unauthenticated are requests with uncertain client authentication.
func unauthenticated() map[string]hostile {
	header := func(header, says string) hostile {
		return hostile{request(grantType+"&scope=system", header), 401, "invalid_client", says, true}
	}
	body := func(body, says string) hostile {
		return hostile{request(grantType + "&" + body), 401, "invalid_client", says, false}
	}
	const wrong = "not its secret"
	twice := header(basic("m2m", secret), "one header")
	twice.request.Header.Add("Authorization", twice.request.Header.Get("Authorization"))
	other := header(basic("m2m", secret), "one header")
	other.request.Header.Add("Authorization", "Bearer x")
	return map[string]hostile{
		"nobody":                          body("scope=system", "does not identify the client"),
		"a secret without a client":       body("client_secret="+secret, "does not identify the client"),
		"an unknown client":               header(basic("nobody", secret), wrong),
		"another secret":                  header(basic("m2m", "x"), wrong),
		"the secret in another case":      header(basic("m2m", strings.ToUpper(secret)), wrong),
		"the id in another case":          header(basic("M2M", secret), wrong),
		"a space after the id":            header(basic("m2m ", secret), wrong),
		"a zero byte after the id":        header(basic("m2m\x00", secret), wrong),
		"the beginning of the secret":     header(basic("m2m", secret[:8]), wrong),
		"more than the secret":            header(basic("m2m", secret+"x"), wrong),
		"the hash of the secret":          header(basic("m2m", "\xde\xad\xbe\xef"), wrong),
		"a very long id":                  header(basic(strings.Repeat("m", 9000), secret), wrong),
		"no secret":                       header(rawBasic("m2m:"), "lacks"),
		"no id":                           header(rawBasic(":"+secret), "lacks"),
		"nothing":                         header(rawBasic(":"), "lacks"),
		"no colon":                        header(rawBasic("m2m"), "one header"),
		"not base64":                      header("Authorization: Basic m2m:"+secret, "one header"),
		"base64 for URLs":                 header("Authorization: Basic bTJtOj4_Pw", "one header"),
		"an empty header":                 header("Authorization: Basic", "one header"),
		"a broken escape in the secret":   header(rawBasic("m2m:100%"), "percent"),
		"a broken escape in the id":       header(rawBasic("m%m:"+secret), "percent"),
		"not encoded, so another id":      header(rawBasic("a b:c%25é:"+secret), wrong),
		"Bearer":                          header("Authorization: Bearer "+secret, "one header"),
		"Digest":                          header(`Authorization: Digest username="m2m"`, "one header"),
		"Basic twice":                     twice,
		"Basic and Bearer":                other,
		"in the body, though for Basic":   body("client_id=m2m&client_secret="+secret, "(token_endpoint_auth_method) is client_secret_basic"),
		"by Basic, though for the body":   header(basic("post", secret), "(token_endpoint_auth_method) is client_secret_post"),
		"a secret of a client with a key": header(basic("jwt", secret), "(token_endpoint_auth_method) is private_key_jwt"),
		"without its secret":              body("client_id=post", wrong),
		"an empty secret":                 body("client_id=post&client_secret=", wrong),
		"by name alone, though for Basic": body("client_id=m2m", wrong),
		"another secret in the body":      body("client_id=post&client_secret=x", wrong),
		"an unknown client in the body":   body("client_id=nobody&client_secret="+secret, wrong),
		"by name alone, and unknown":      body("client_id=nobody", wrong),
		"a public client":                 body("client_id=spa", "must be authenticated"),
		"a public client with a secret":   body("client_id=spa&client_secret=x", wrong),
		"no OAuth configuration":          header(basic("plain", secret), wrong),
		"an assertion that is none":       body("client_assertion=e30.e30.&client_assertion_type="+url.QueryEscape(assertionType), "a JWT signed by"),
		"an assertion without its type":   body("client_id=jwt&client_assertion=e30.e30.", "go together"),
		"the type of an assertion alone":  body("client_id=post&client_assertion_type=x", "go together"),
		"an assertion of another type":    body("client_assertion=e30.e30.&client_assertion_type=x", "expected the client_assertion_type"),
	}
}

// unauthorized are requests of a client that may not have what it asks for.
func unauthorized() map[string]hostile {
	bad := func(code, body, says string) hostile {
		return hostile{request: request(body, basic("m2m", secret)), status: 400, code: code, says: says}
	}
	scope := func(scope, says string) hostile {
		return bad("invalid_scope", grantType+"&scope="+url.QueryEscape(scope), says)
	}
	target := func(resource, says string) hostile {
		return bad("invalid_target", grantType+"&resource="+url.QueryEscape(resource), says)
	}
	other := bad("unauthorized_client", "", "not allowed")
	other.request = request(grantType, basic("web", secret))
	more := scope("system", "system:users:read")
	more.request = request(grantType+"&scope=system:users:write", basic("brief", secret))
	more.says = "system:users:write"
	above := more
	above.request, above.says = request(grantType+"&scope=system", basic("brief", secret)), "the scope system"
	return map[string]hostile{
		"the password grant":          bad("unsupported_grant_type", "grant_type=password&username=a&password=b", "expected the grant_type authorization_code, refresh_token or client_credentials, got"),
		"a code":                      bad("unauthorized_client", "grant_type=authorization_code&code=x&redirect_uri=y", "'authorization_code' not allowed"),
		"a refresh token":             bad("unauthorized_client", "grant_type=refresh_token&refresh_token=x", "'refresh_token' not allowed"),
		"an exchange":                 bad("unsupported_grant_type", "grant_type="+url.QueryEscape("urn:ietf:params:oauth:grant-type:token-exchange"), "expected the grant_type authorization_code, refresh_token or client_credentials, got"),
		"a device code":               bad("unsupported_grant_type", "grant_type="+url.QueryEscape("urn:ietf:params:oauth:grant-type:device_code"), "expected the grant_type authorization_code, refresh_token or client_credentials, got"),
		"a JWT":                       bad("unsupported_grant_type", "grant_type="+url.QueryEscape("urn:ietf:params:oauth:grant-type:jwt-bearer")+"&assertion=x", "expected the grant_type authorization_code, refresh_token or client_credentials, got"),
		"a grant in capitals":         bad("unsupported_grant_type", "grant_type=CLIENT_CREDENTIALS", "expected the grant_type authorization_code, refresh_token or client_credentials, got"),
		"a grant with a space":        bad("unsupported_grant_type", "grant_type=client_credentials+", "expected the grant_type authorization_code, refresh_token or client_credentials, got"),
		"a grant with markup":         bad("unsupported_grant_type", "grant_type="+url.QueryEscape("\"><script>\r\nX: y"), "expected the grant_type authorization_code, refresh_token or client_credentials, got"),
		"a very long grant":           bad("unsupported_grant_type", "grant_type="+strings.Repeat("x", 60000), "expected the grant_type authorization_code, refresh_token or client_credentials, got"),
		"not registered for it":       other,
		"an unregistered scope":       scope("root", "the scope root"),
		"one of two":                  scope("system root", "the scope root"),
		"a scope like another":        scope("systemic", "the scope systemic"),
		"a scope in capitals":         scope("SYSTEM", "the scope SYSTEM"),
		"a sibling of what it has":    more,
		"above what it has":           above,
		"a scope of a user":           scope("openid", "no"),
		"and among others":            scope("system profile", "the scope profile"),
		"spaces around":               scope(" system", "single spaces"),
		"two spaces":                  scope("system  openid", "single spaces"),
		"a space only":                scope(" ", "single spaces"),
		"a tab":                       scope("system\topenid", "single spaces"),
		"a line end":                  scope("system\nopenid", "single spaces"),
		"quotes":                      scope(`"system"`, "quotes"),
		"a backslash":                 scope(`sys\tem`, "backslashes"),
		"a letter beyond ASCII":       scope("système", "ASCII"),
		"a zero byte":                 scope("system\x00", "ASCII"),
		"a thousand scopes":           scope(strings.TrimSpace(scopes(1000)), "more than 100"),
		"a relative resource":         target("/mcp", "absolute"),
		"a resource without a scheme": target("id.example.com", "absolute"),
		"a resource with a fragment":  target(base+"#x", "fragment"),
		"an empty fragment":           target(base+"#", "fragment"),
		"a resource that is no URI":   target("https://id.example.com:port", "absolute"),
		"a slash more":                target(base+"/mcp/", "unknown here"),
		"another host":                target("https://evil.example", "unknown here"),
		"our host as its beginning":   target(base+".evil.example", "unknown here"),
		"our host as its user":        target("https://id.example.com@evil.example", "unknown here"),
		"a path below the tools":      target(base+"/mcp/x", "unknown here"),
		"another scheme":              target("http://id.example.com", "unknown here"),
		"one good, one not":           bad("invalid_target", grantType+"&resource="+url.QueryEscape(base)+"&resource="+url.QueryEscape("https://evil.example"), "unknown here"),
		"nine resources":              bad("invalid_target", grantType+strings.Repeat("&resource="+url.QueryEscape(base), 9), "more than 8"),
	}
}

// scopes are n different scopes.
func scopes(n int) string {
	var list strings.Builder
	for i := range n {
		fmt.Fprintf(&list, "system:s%d ", i)
	}
	return list.String()
}

func TestHostileTokenRequests(t *testing.T) {
	w := newFixture(t)
	n := 0
	for kind, table := range map[string]map[string]hostile{"malformed": malformed(), "unauthenticated": unauthenticated(), "unauthorized": unauthorized()} {
		for name, test := range table {
			n++
			t.Run(kind+"/"+name, func(t *testing.T) {
				w.t = t
				reported := w.refusal(test.request)
				if reported.Status != test.status || reported.Code != test.code || !strings.Contains(reported.Description, test.says) {
					t.Errorf("got %d %v, want %d %s and a text with %q", reported.Status, reported, test.status, test.code, test.says)
				}
				if (reported.Authenticate != "") != test.basic {
					t.Errorf("asks for Basic authentication: %v", (reported.Authenticate != ""))
				}
				checkDescription(t, reported.Description)
			})
		}
	}
	if n < 60 {
		t.Errorf("only %d requests", n)
	}
}

// checkDescription checks that a description is short, has only the characters of RFC 6749 §5.2,
// and contains no secret.
func checkDescription(t *testing.T, text string) {
	t.Helper()
	if text == "" || len(text) > 300 || strings.Contains(text, secret) {
		t.Errorf("the description %q", text)
	}
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			t.Errorf("the description %q has %q in it", text, c)
		}
	}
}

// FuzzToken looks for a request that panics, that writes something and fails all
// the same, or that gets more than its client is registered for.
func FuzzToken(f *testing.F) {
	w := newFixture(f)
	f.Add(grantType+"&scope=system", "", "application/x-www-form-urlencoded")
	for _, table := range []map[string]hostile{malformed(), unauthenticated(), unauthorized()} {
		for _, test := range table {
			f.Add(grantType, test.request.Header.Get("Authorization"), test.request.Header.Get("Content-Type"))
			f.Add(test.request.URL.RawQuery, "", "")
		}
	}
	f.Fuzz(func(t *testing.T, body, authorization, contentType string) {
		r := httptest.NewRequest(http.MethodPost, "/oauth2/token", strings.NewReader(body))
		r.Header["Content-Type"] = []string{contentType}
		if authorization != "" {
			r.Header["Authorization"] = []string{authorization}
		}
		rec := httptest.NewRecorder()
		if err := w.provider.Token(rec, r); err != nil {
			if rec.Body.Len() > 0 {
				t.Fatalf("failed with %v and wrote %q", err, rec.Body)
			}
			return
		}
		checkGrant(t, w, rec)
	})
}

// checkGrant makes sure that a token was issued to a client that is registered.
func checkGrant(t *testing.T, w *fixture, rec *httptest.ResponseRecorder) {
	t.Helper()
	raw, _, _ := strings.Cut(strings.TrimPrefix(rec.Body.String(), `{"access_token":"`), `"`)
	for _, audience := range []string{base, base + "/mcp", shop} {
		claims, err := w.tokens.Verify(t.Context(), raw, audience)
		if err != nil {
			continue
		}
		if w.list[claims.ClientID] == nil || claims.Type != token.AccessType {
			t.Fatalf("issued %+v", claims)
		}
		return
	}
	t.Fatalf("answered %s", rec.Body)
}
