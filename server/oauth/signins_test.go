package oauth_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

const (
	callback = "https://app.example.com/callback?keep=1"
	verifier = "a-verifier-of-enough-characters-0123456789-abc"
	gateURL  = base + "/gate"
)

// signIns is an authorization server on a store, with a user ann who signs in.
type signIns struct {
	*fixture
	store   *store.Store
	user    schemas.User
	status  schemas.RunStatus // of the runs that are begun
	begun   *schemas.AuthRequest
	session *schemas.Session // that the last run was begun with

	consented bool // whether ann is taken to have agreed
	agrees    bool // whether ann agrees to what is asked for
	approves  bool // whether ann has just signed in and approves it
	asks      bool // whether runs ask for consent

	away string // the address of another provider, where runs begin; "" for none
}

func newSignIns(t testing.TB) *signIns {
	t.Helper()
	return newSignInsOn(t, store.Config{Driver: "sqlite", DSN: ":memory:"})
}

func newSignInsOn(t testing.TB, config store.Config) *signIns {
	t.Helper()
	w := newFixture(t)
	s := storetest.OpenEmpty(t, config)
	a := &signIns{fixture: w, store: s, status: schemas.Incomplete}
	w.now = time.Now().UTC().Truncate(time.Millisecond)
	tokens, err := token.New(t.Context(), &keys{}, bytes.Repeat([]byte{1}, 32), token.Options{
		Issuer: base, AccessTTL: 10 * time.Minute, Live: func(ctx context.Context, t schemas.TokenRef, _ string, scope []string) (bool, []string, error) {
			live, err := s.TokenLive(ctx, t)
			return live, scope, err
		}, Now: func() time.Time { return w.now }})
	if err != nil {
		t.Fatal(err)
	}
	w.tokens = tokens
	a.furnish()
	w.provider = oauth.New(oauth.Options{
		Issuer: base, Gate: gateURL, Clients: w.clients, Store: s, Tokens: w.tokens, Runs: a, RefreshKey: make([]byte, 32), Record: a.record,
		UseAssertion: w.useAssertion, FetchKeys: w.fetchKeys, Now: func() time.Time { return w.now },
	})
	return a
}

// record also makes the changes.
func (a *signIns) record(ctx context.Context, e schemas.Event, changes ...schemas.Change) error {
	return errors.Join(a.fixture.record(ctx, e), a.store.Apply(ctx, append(changes, schemas.RecordEvent{Event: e})))
}

func (a *signIns) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

// furnish adds the user, and the clients.
func (a *signIns) furnish() {
	unit := schemas.OrganizationUnit{ID: schemas.NewID(), Handle: "home", Name: "Home", CreatedAt: a.now, UpdatedAt: a.now}
	person := schemas.UserType{ID: schemas.NewID(), Name: "Person", OUID: unit.ID, Schema: json.RawMessage(`{}`), CreatedAt: a.now, UpdatedAt: a.now}
	a.user = schemas.User{ID: schemas.NewID(), Type: "Person", OUID: unit.ID, CreatedAt: a.now, UpdatedAt: a.now, Attributes: map[string]any{
		"username": "ann", "email": "ann@example.com", "email_verified": true, "given_name": "Ann", "phone_number": "+1", "shoe_size": 38.0, "iss": "https://evil.example"}}
	a.clients.list["app"] = a.newClient("app", schemas.AuthMethodNone)
	a.clients.list["conf"] = a.newClient("conf", schemas.AuthMethodBasic)
	lax := a.newClient("lax", schemas.AuthMethodBasic)
	no := false
	lax.OAuth().PKCERequired = &no
	a.clients.list["lax"] = lax
	a.must(a.store.Update(a.t.Context(), func(tx *store.Tx) error {
		err := errors.Join(store.Units().Insert(tx, &unit), store.UserTypes().Insert(tx, &person))
		for _, id := range []string{"app", "conf", "lax", "m2m"} {
			app := *a.clients.list[id]
			app.OUID, app.CreatedAt, app.UpdatedAt = unit.ID, a.now, a.now
			err = errors.Join(err, store.Applications().Insert(tx, &app))
		}
		return errors.Join(err, tx.Apply([]schemas.Change{schemas.CreateUser{User: a.user}}))
	}))
}

func (a *signIns) newClient(id, method string) *schemas.Application {
	app := client(id, method, "openid", "profile", "email", "system:users")
	yes := true
	o := app.OAuth()
	if method == schemas.AuthMethodNone {
		o.SecretHash = nil
	}
	o.RedirectURIs, o.PKCERequired = []string{callback, "http://127.0.0.1:8000/cb", "com.example.app:/cb"}, &yes
	o.GrantTypes = []string{schemas.GrantAuthorizationCode, schemas.GrantRefreshToken}
	return app
}

// Begin is the flow: it waits, or completes as the status says.
func (a *signIns) Begin(_ context.Context, _ string, _ schemas.FlowType, _ map[string]string, run engine.Request) (*schemas.Step, error) {
	req, s := run.AuthRequest, run.Session
	a.begun, a.session = req, s
	if run.StoresAuthRequest {
		a.must(a.store.Apply(a.t.Context(), []schemas.Change{schemas.CreateAuthRequest{Request: *req}}))
	}
	step := &schemas.Step{ExecutionID: "run", FlowStatus: a.status}
	if a.away != "" {
		step.Type, step.Data.RedirectURL = schemas.Redirection, a.away
	}
	if a.asks {
		step.Data.AdditionalData = map[string]string{schemas.ConsentData: "{}"}
	}
	if a.status == schemas.Complete {
		a.grantRequest(req, s.ID)
	}
	return step, nil
}

// grantRequest has ann sign in for the request, by a new session or a known one.
func (a *signIns) grantRequest(req *schemas.AuthRequest, session string) {
	a.t.Helper()
	var changes []schemas.Change
	if session == "" {
		session = schemas.NewID()
		changes = append(changes, schemas.StartSession{Session: schemas.Session{
			ID: session, UserID: a.user.ID, AMR: []string{"pop"}, CreatedAt: a.now, ExpiresAt: a.now.Add(12 * time.Hour)}})
	}
	if a.agrees {
		changes = append(changes, schemas.GrantConsent{UserID: a.user.ID, ApplicationID: req.ApplicationID, Scopes: req.Scopes, At: a.now})
	}
	if a.approves {
		changes = append(changes, schemas.ApproveAuthRequest{ID: req.ID, BrowserHash: req.BrowserHash, At: a.now,
			Approval: schemas.Approval{UserID: a.user.ID, Scopes: schemas.ManagementScopes(req.Scopes), At: a.now}})
	}
	app, err := a.provider.Clients.Client(a.t.Context(), req.ClientID)
	a.must(err)
	a.must(a.store.Apply(a.t.Context(), append(changes, schemas.GrantAuthRequest{ID: req.ID, BrowserHash: req.BrowserHash, At: a.now,
		Grant: schemas.Grant{UserID: a.user.ID, SessionID: session, AuthTime: a.now, AMR: []string{"pop"}, ACR: "high", Consented: a.consented || a.agrees, Generation: app.TokenGeneration}})))
}

// browser keeps cookies.
type browser map[string]string

func (b browser) do(t testing.TB, h func(http.ResponseWriter, *http.Request) error, r *http.Request) (*httptest.ResponseRecorder, error) {
	t.Helper()
	for name, value := range b {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	rec := httptest.NewRecorder()
	err := h(rec, r)
	for _, c := range rec.Result().Cookies() {
		if !strings.HasPrefix(c.Name, "__Host-") || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" {
			t.Errorf("the cookie %v is not as it should be", c)
		}
		b[c.Name] = c.Value
	}
	return rec, err
}

func s256(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// ask is an authorization request that is fine, with some parameters changed; ""
// takes one away.
func ask(change ...string) url.Values {
	q := url.Values{"client_id": {"app"}, "redirect_uri": {callback}, "response_type": {"code"}, "scope": {"openid profile"}, "state": {"st&te"},
		"nonce": {"n"}, "code_challenge": {s256(verifier)}, "code_challenge_method": {"S256"}}
	for i := 0; i < len(change); i += 2 {
		if q.Set(change[i], change[i+1]); change[i+1] == "" {
			q.Del(change[i])
		}
	}
	return q
}

// authorize sends an authorization request and returns where it leads.
func (a *signIns) authorize(b browser, q url.Values) *url.URL {
	a.t.Helper()
	rec, err := b.do(a.t, a.provider.Authorize, httptest.NewRequest("GET", "/oauth2/authorize?"+q.Encode(), nil))
	if err != nil || rec.Code != http.StatusFound {
		a.t.Fatalf("%d %s, %v", rec.Code, rec.Body, err)
	}
	return location(a.t, rec)
}

func location(t testing.TB, rec *httptest.ResponseRecorder) *url.URL {
	t.Helper()
	u, err := url.Parse(rec.Header().Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func (a *signIns) callback(b browser, id string) (*httptest.ResponseRecorder, error) {
	return b.do(a.t, a.provider.Callback, httptest.NewRequest("GET", "/oauth2/auth/callback?authId="+id, nil))
}

// code signs ann in and returns the code that the client gets.
func (a *signIns) code(b browser, q url.Values) string {
	a.t.Helper()
	a.authorize(b, q)
	a.grantRequest(a.begun, "")
	rec, err := a.callback(b, a.begun.ID)
	a.must(err)
	code := location(a.t, rec).Query().Get("code")
	if code == "" {
		a.t.Fatalf("no code: %s", rec.Header().Get("Location"))
	}
	return code
}

// reply is what the token endpoint says.
type reply struct {
	granted
	RefreshToken string `json:"refresh_token"`
	IDToken      string `json:"id_token"`
}

func (a *signIns) token(form url.Values, headers ...string) (*reply, error) {
	a.t.Helper()
	rec := httptest.NewRecorder()
	if err := a.provider.Token(rec, request(form.Encode(), headers...)); err != nil {
		return nil, err
	}
	if rec.Header().Get("Cache-Control") != "no-store" {
		a.t.Error("tokens may be cached")
	}
	var r reply
	a.must(json.Unmarshal(rec.Body.Bytes(), &r))
	return &r, nil
}

func (a *signIns) redeem(code string, change ...string) (*reply, error) {
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "client_id": {"app"}, "redirect_uri": {callback}, "code_verifier": {verifier}}
	for i := 0; i < len(change); i += 2 {
		if form.Set(change[i], change[i+1]); change[i+1] == "" {
			form.Del(change[i])
		}
	}
	return a.token(form)
}

func (a *signIns) refresh(refresh string, change ...string) (*reply, error) {
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}, "client_id": {"app"}}
	for i := 0; i < len(change); i += 2 {
		form.Set(change[i], change[i+1])
	}
	return a.token(form)
}

// wantRefused makes sure that an error has the code.
func wantRefused(t testing.TB, err error, code string) {
	t.Helper()
	reported, ok := errors.AsType[*oauth.Error](err)
	if !ok || reported.Code != code {
		t.Fatalf("got %v, want %s", err, code)
	}
}

// claims are those of a JWT.
func claims(t testing.TB, raw string) (header, payload map[string]any) {
	t.Helper()
	parts := strings.Split(raw, ".")
	for i, into := range []*map[string]any{&header, &payload} {
		text, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err != nil {
			t.Fatal(err)
		}
		datatest.Unmarshal(t, text, into)
	}
	return header, payload
}

func (a *signIns) live(raw string) bool {
	a.t.Helper()
	_, err := a.tokens.Inspect(context.Background(), raw)
	if err != nil && !schemas.HasClass(err, schemas.Unauthenticated) {
		a.t.Fatal(err)
	}
	return err == nil
}
