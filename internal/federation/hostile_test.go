package federation_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/federation"
	"github.com/postern-id/postern/internal/federation/federationtest"
	"github.com/postern-id/postern/internal/outbound"
)

// newHostile returns a provider over HTTP whose handler answers one path, and a client
// configured like the server's.
func newHostile(t *testing.T, path string, handler http.HandlerFunc) *fixture {
	w := &fixture{t: t, now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(rw http.ResponseWriter, r *http.Request) { w.provider.ServeHTTP(rw, r) })
	if handler != nil {
		mux.HandleFunc(path, handler)
	}
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	w.provider = federationtest.New(site.URL, func() time.Time { return w.now })
	w.settings = settings(w.provider)
	rules := outbound.Rules{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Timeout: time.Minute}
	w.client = federation.New(outbound.New(rules))
	return w
}

func (w *fixture) signIn() (*federation.Identity, error) {
	asked, err := w.client.Begin(w.t.Context(), w.settings, federation.Request{RedirectURI: callback, Now: w.now})
	if err != nil {
		return nil, err
	}
	r, err := w.provider.SignIn(asked.URL, ada(), "")
	if err != nil {
		w.t.Fatal(err)
	}
	return w.finish(asked, r)
}

// Whatever a provider's addresses return, no user is signed in, no redirect is followed,
// and no private address is requested.
func TestHostileAnswers(t *testing.T) {
	var lured atomic.Int64
	trap := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { lured.Add(1) }))
	defer trap.Close()
	moved := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, trap.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}
	page := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>Sign in, please") }
	huge := func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"keys": [], "issuer": "", "x": "%s"}`, strings.Repeat("a", 10<<20))
	}
	broken := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }
	says := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
	}
	const config, keys, token = "/.well-known/openid-configuration", "/keys", "/token"
	for name, test := range map[string]struct {
		path    string
		handler http.HandlerFunc
		check   federation.Check
	}{
		"a configuration that has moved":      {config, moved, federation.CheckReachable},
		"a configuration that is a page":      {config, page, federation.CheckMetadata},
		"a configuration of 10 MB":            {config, huge, federation.CheckReachable},
		"a configuration that is broken":      {config, broken, federation.CheckReachable},
		"a configuration that is null":        {config, says("null"), federation.CheckMetadata},
		"a configuration of a deep list":      {config, says(strings.Repeat("[", 30000)), federation.CheckMetadata},
		"an issuer that is given twice":       {config, says(`{"issuer": "a", "issuer": "b"}`), federation.CheckMetadata},
		"a member in other letters":           {config, says(`{"Issuer": "a"}`), federation.CheckMetadata},
		"keys that have moved":                {keys, moved, federation.CheckReachable},
		"keys that are a page":                {keys, page, federation.CheckReachable},
		"keys of 10 MB":                       {keys, huge, federation.CheckReachable},
		"keys that are none":                  {keys, says(`{"keys": []}`), federation.CheckSignature},
		"keys that are secrets":               {keys, says(`{"keys": [{"kty": "oct", "k": "c2VjcmV0"}]}`), federation.CheckSignature},
		"tokens that have moved":              {token, moved, federation.CheckToken},
		"tokens that are a page":              {token, page, federation.CheckToken},
		"tokens of 10 MB":                     {token, huge, federation.CheckReachable},
		"tokens that are not JSON after all":  {token, says(`{"id_token": "a"} {"id_token": "b"}`), federation.CheckToken},
		"tokens in a form, as some give them": {token, says(`id_token=a&access_token=b`), federation.CheckToken},
		"a token in other letters":            {token, says(`{"ID_TOKEN": "a"}`), federation.CheckToken},
	} {
		t.Run(name, func(t *testing.T) {
			w := newHostile(t, test.path, test.handler)
			id, err := w.signIn()
			fails(t, id, err, test.check)
		})
	}
	if lured.Load() != 0 {
		t.Errorf("%d redirects were followed", lured.Load())
	}
}

// A provider cannot cause requests to private addresses, whatever address it names.
func TestHostileAddresses(t *testing.T) {
	for _, address := range []string{"https://10.0.0.1/x", "https://169.254.169.254/latest/meta-data/", "https://[::1]/x", "https://localhost/x", "http://127.0.0.2:1/x", "https://2130706433/x"} {
		for member, check := range map[string]federation.Check{"token_endpoint": federation.CheckReachable, "jwks_uri": federation.CheckReachable} {
			t.Run(member+" "+address, func(t *testing.T) {
				w := newHostile(t, "", nil)
				w.provider.Document = func(doc map[string]any) { doc[member] = address }
				id, err := w.signIn()
				fails(t, id, err, check)
			})
		}
	}
}

// A provider that sends a byte at a time blocks no caller for longer than the timeout, and
// callers after the failure fail at once.
func TestSlowProvider(t *testing.T) {
	var came atomic.Int64
	w := newHostile(t, "/.well-known/openid-configuration", func(rw http.ResponseWriter, r *http.Request) {
		came.Add(1)
		fmt.Fprint(rw, "{")
		_ = http.NewResponseController(rw).Flush()
		<-r.Context().Done()
	})
	rules := outbound.Rules{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Timeout: 50 * time.Millisecond}
	w.client = federation.New(outbound.New(rules))
	for range 20 {
		id, err := w.signIn()
		fails(t, id, err, federation.CheckReachable)
	}
	if came.Load() != 1 {
		t.Errorf("it was asked %d times", came.Load())
	}
}

// A sign-in over HTTP succeeds.
func TestOverHTTP(t *testing.T) {
	w := newHostile(t, "", nil)
	if id, err := w.signIn(); err != nil || id.Subject != "1815" {
		t.Errorf("got %v, %v", id, err)
	}
	w.settings.ClientSecret = "another"
	id, err := w.signIn()
	fails(t, id, err, federation.CheckToken)
}
