package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// deskFlow asks for a desk, an answer that is a secret, and a service about the risk of the sign-in.
const deskFlow = `{"handle":"asking","name":"Asking","flowType":"AUTHENTICATION","nodes":[
	{"id":"who","use":"prompt","with":{"title":"Sign in","inputs":[{"identifier":"username","type":"TEXT_INPUT","required":true},{"identifier":"password","type":"PASSWORD_INPUT","required":true},
		{"identifier":"DESK","type":"TEXT_INPUT"}],"actions":[{"ref":"go","label":"Go"}]},"next":"find"},
	{"id":"find","use":"user-resolve","with":{"by":["username"],"from":"username","conceal":true},"next":{"found":"word","missing":"word"}},
	{"id":"word","use":"password-authenticate","next":{"success":"ask","failure":"who"}},
	{"id":"ask","use":"http-request","with":{"target":"risk","path":"/assess","mode":"query","as":"risk","reply":{"level":{"at":"/level","type":"integer"},"site":{"at":"/site","type":"string"},"known":{"at":"/known","type":"boolean"}}},
		"next":{"success":"agree","failure":"agree"}},
	{"id":"agree","use":"consent","next":{"granted":"done","denied":"end"}},
	{"id":"done","use":"authorization-code"}]}`

// newAskingApp starts a server with the flow, and a service whose replies are numbered.
func newAskingApp(t *testing.T, environ ...string) (w *testApp, flowID string) {
	t.Helper()
	asked := 0
	service := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		asked++
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(rw, `{"level":%d,"site":"Ghent","known":true,"token":"service secret"}`, asked)
	}))
	t.Cleanup(service.Close)
	w = newTestApp(t, append(environ, "POSTERN_OUTBOUND_ALLOW=127.0.0.0/8", `POSTERN_HTTP_TARGETS={"risk":{"url":"`+service.URL+`"}}`)...)
	w.createPat()
	return w, w.create(w.directory.Flows, deskFlow).ID
}

// askingClient creates a client whose users sign in by the flow.
func (w *testApp) askingClient(t testing.TB, flowID, members, config string) *party {
	t.Helper()
	c := w.create(w.directory.Applications, fmt.Sprintf(`{"name":%q,"authFlowId":%q,%s"inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":[%q],"grantTypes":["authorization_code","refresh_token"],%s}}]}`,
		schemas.NewID(), flowID, members, rpRedirect, config)).Value.(*schemas.Application)
	return &party{testApp: w, t: t, http: newBrowser(t, w.http), mode: "query", id: c.ClientID, secret: c.ClientSecret, method: schemas.AuthMethodBasic, redirect: rpRedirect}
}

// answerAsking answers the flow, and returns its last step.
func (p *party) answerAsking(executionID string, inputs map[string]string) schemas.Step {
	p.t.Helper()
	p.step(map[string]any{"executionId": executionID})
	inputs["username"], inputs["password"] = "pat", rpPassword
	done := p.step(map[string]any{"executionId": executionID, "action": "go", "inputs": inputs})
	if done.StepID == "agree" {
		done = p.step(map[string]any{"executionId": executionID, "action": "allow"})
	}
	if done.FlowStatus != schemas.Complete {
		p.t.Fatalf("the sign-in ended in %+v", done)
	}
	return done
}

// signInAsking gets the tokens of a sign-in by the flow.
func (p *party) signInAsking(inputs map[string]string, change ...string) *tokens {
	p.t.Helper()
	gate := p.location(first(p.visit(p.at("/oauth2/authorize?" + p.request(change...).Encode())))).Query()
	done := p.answerAsking(gate.Get("executionId"), inputs)
	got, status := p.redeem(p.code(p.follow(p.visit(done.Data.RedirectURL))))
	if status != http.StatusOK {
		p.t.Fatalf("%d %+v", status, got)
	}
	return got
}

const everywhere = `"targets":["idToken","userinfo","accessToken","introspection"]`

// TestClaimsOfTheRun: a claim with a value of the run has the one of its sign-in, in every document and after each
// refresh.
func TestClaimsOfTheRun(t *testing.T) {
	const declared = `"claims":[{"name":"desk","source":"run","variable":"inputs.DESK",` + everywhere + `},
		{"name":"risk.level","source":"run","variable":"replies.risk.level",` + everywhere + `},
		{"name":"where","source":"expression","expression":"has(run.inputs.DESK) ? run.replies.risk.site + ' ' + run.inputs['DESK'] : run.replies.risk.site","targets":["userinfo"]},
		{"name":"scoped","source":"run","variable":"replies.risk.known","scopes":["profile"]}]`
	onDatabases(t, func(t *testing.T, environ ...string) {
		w, flow := newAskingApp(t, environ...)
		for _, scope := range []string{"openid", "openid offline_access"} {
			p := w.askingClient(t, flow, "", declared)
			of := func(desk string, level float64) map[string]string {
				common := fmt.Sprintf(`{"desk":%q,"risk":{"level":%v}}`, desk, level)
				return map[string]string{"idToken": common, "accessToken": common, "introspection": common,
					"userinfo": fmt.Sprintf(`{"desk":%q,"risk":{"level":%v},"where":"Ghent %s"}`, desk, level, desk)}
			}
			levelOf := func(got *tokens) float64 {
				risk, _ := payloadOf(t, got.Access)["risk"].(map[string]any)
				level, is := risk["level"].(float64)
				if !is {
					t.Fatalf("the access token has %v; events: %+v", payloadOf(t, got.Access), w.eventsOf("http_request.failed"))
				}
				return level
			}
			got := p.signInAsking(map[string]string{"DESK": "12"}, "scope", scope)
			level := levelOf(got)
			p.wantClaims(scope+" ", p.collectClaims(got), of("12", level), "")
			other := p.signInAsking(map[string]string{"DESK": "7"}, "scope", scope, "prompt", "login")
			p.wantClaims("another sign-in ", p.collectClaims(other), of("7", level+1), "")
			next, status := p.token(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {got.Refresh}})
			if status != http.StatusOK {
				t.Fatalf("%d %+v", status, next)
			}
			p.wantClaims("refreshed ", p.collectClaims(next), of("12", level), "")
		}
		p := w.askingClient(t, flow, "", declared)
		got := p.signInAsking(map[string]string{"DESK": strings.Repeat("x", 1010)}, "scope", "openid profile")
		if id := payloadOf(t, got.ID); id["desk"] != nil || id["scoped"] != true {
			t.Errorf("with a long input the ID token has %v", id)
		}
	})
}

// storedValues are the values of runs in a store.
type storedValues struct {
	inside bool
	at     int
	list   []string
}

func (v *storedValues) Table(name string, columns []string) error {
	v.inside, v.at = name == "run_values", slices.Index(columns, "contents")
	return nil
}

func (v *storedValues) Row(values []any) error {
	if v.inside {
		v.list = append(v.list, fmt.Sprint(values[v.at]))
	}
	return nil
}

// TestValuesOfTheRunAreKeptSparingly: of a run only that is stored which a claim of its application reads, and it goes
// with the tokens, the session and the user.
func TestValuesOfTheRunAreKeptSparingly(t *testing.T) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		w, flow := newAskingApp(t, environ...)
		kept := func() []string {
			values := &storedValues{}
			if err := w.store.Dump(t.Context(), values); err != nil {
				t.Fatal(err)
			}
			return values.list
		}
		want := func(what string, list ...string) {
			t.Helper()
			if got := kept(); !slices.Equal(got, list) {
				t.Errorf("%s: stored are %q, expected %q", what, got, list)
			}
		}
		plain := w.askingClient(t, flow, "", `"claims":[{"name":"team","source":"groups"}]`)
		plain.signInAsking(map[string]string{"DESK": "1"})
		want("without such a claim")
		p := w.askingClient(t, flow, "", `"claims":[{"name":"desk","source":"run","variable":"inputs.DESK"}]`)
		got := p.signInAsking(map[string]string{"DESK": "2"})
		want("with a claim", `{"inputs.DESK":"2"}`)
		p.submit(p.at("/oauth2/revoke"), url.Values{"token": {got.Refresh}}, "Authorization: "+p.basic())
		want("after the tokens were revoked")
		p.signInAsking(map[string]string{"DESK": "3"}, "scope", "openid offline_access", "prompt", "login")
		want("with offline_access", `{"inputs.DESK":"3"}`)
		if rec := w.exchange(http.MethodDelete, "/users/"+w.userNamed("pat"), "", bearer(w.admin())); rec.Code != http.StatusNoContent {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		want("after the user was deleted")
	})
}

// TestClaimsOfARunElsewhere: an application with its own sign-in page continues the run in another place than the
// browser of the request, and the values are those of that run.
func TestClaimsOfARunElsewhere(t *testing.T) {
	w, flow := newAskingApp(t)
	p := w.askingClient(t, flow, `"assertion":{"userAttributes":["given_name"]},`, `"claims":[{"name":"desk","source":"run","variable":"inputs.DESK","targets":["idToken","assertion"]}]`)
	gate := p.begin()
	back := *p
	back.http = newBrowser(t, w.http)
	done := back.answerAsking(gate.Get("executionId"), map[string]string{"DESK": "4"})
	if got := payloadOf(t, done.Assertion); got["desk"] != "4" || got["given_name"] != "Pat" {
		t.Errorf("the assertion has %v", got)
	}
	another := back.answerAsking(back.begin().Get("executionId"), map[string]string{"DESK": "5"})
	if got := payloadOf(t, another.Assertion)["desk"]; got != "5" {
		t.Errorf("the other assertion has the desk %v", got)
	}
	status, said := p.postJSON("/oauth2/auth/callback", map[string]string{"authId": gate.Get("authId"), "assertion": done.Assertion})
	var to struct {
		URL string `json:"redirect_uri"`
	}
	if err := json.Unmarshal([]byte(said), &to); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s, %v", status, said, err)
	}
	target, err := url.Parse(to.URL)
	if err != nil {
		t.Fatal(err)
	}
	got, status := p.redeem(target.Query().Get("code"))
	if status != http.StatusOK || payloadOf(t, got.ID)["desk"] != "4" {
		t.Errorf("%d, the ID token has %v", status, payloadOf(t, got.ID))
	}
}

// TestValuesOfTheRunExist: a claim can read only what a flow of its application has, and no secret; and the flows keep
// it.
func TestValuesOfTheRunExist(t *testing.T) {
	w, flow := newAskingApp(t)
	admin := w.admin()
	application := func(claim string) string {
		return fmt.Sprintf(`{"name":%q,"authFlowId":%q,"inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":[%q],"claims":[%s]}}]}`, schemas.NewID(), flow, rpRedirect, claim)
	}
	for _, tt := range []struct {
		claim, want string // what the error contains, "" for none
	}{
		{`{"name":"a","source":"run","variable":"inputs.DESK"}`, ""},
		{`{"name":"a","source":"run","variable":"replies.risk.level","authoritative":true}`, ""},
		{`{"name":"a","source":"expression","expression":"has(run.replies.risk) && run.replies.risk.level > 2.0"}`, ""},
		{`{"name":"a","source":"expression","expression":"run.inputs.filter(i, i == 'DESK')"}`, "name each value"},
		{`{"name":"a","source":"run","variable":"inputs.DESK","authoritative":true}`, "users type"},
		{`{"name":"a","source":"run","variable":"inputs.DEKS"}`, `did you mean`},
		{`{"name":"a","source":"run","variable":"inputs.password"}`, "which none of its flows has, or which is a secret"},
		{`{"name":"a","source":"run","variable":"replies.risk.token"}`, "which none of its flows has"},
		{`{"name":"a","source":"run","variable":"replies.risk"}`, "expected inputs.NAME"},
		{`{"name":"a","source":"run","variable":"user.id"}`, "expected inputs.NAME"},
		{`{"name":"a","source":"run"}`, "requires it"},
		{`{"name":"a","source":"expression","expression":"run.inputs.password"}`, "which none of its flows has"},
		{`{"name":"a","source":"expression","expression":"run.inputs"}`, "name each value"},
		{`{"name":"a","source":"expression","expression":"run.inputs['pass' + 'word']"}`, "name each value"},
		{`{"name":"a","source":"expression","expression":"run.replies.risk"}`, "name each value"},
		{`{"name":"a","source":"expression","expression":"run"}`, "name each value"},
		{`{"name":"a","source":"expression","expression":"[run].map(r, r.inputs)"}`, "name each value"},
		{`{"name":"a","source":"attribute","variable":"inputs.DESK"}`, "does not have it"},
	} {
		rec := w.exchange(http.MethodPost, "/applications", application(tt.claim), jsonBody, bearer(admin))
		if tt.want == "" && rec.Code != http.StatusCreated || tt.want != "" && (rec.Code != http.StatusBadRequest || !strings.Contains(rec.Body.String(), tt.want)) {
			t.Errorf("%s: %d %s", tt.claim, rec.Code, rec.Body)
		}
	}
	lacking := strings.ReplaceAll(deskFlow, "DESK", "PLACE")
	for path, method := range map[string]string{"/flows/" + flow: http.MethodPut, "/flows/check": http.MethodPost} {
		if rec := w.exchange(method, path, lacking, jsonBody, bearer(admin)); !strings.Contains(rec.Body.String(), `reads \"inputs.DESK\"`) {
			t.Errorf("%s %s: %d %s", method, path, rec.Code, rec.Body)
		}
	}
}
