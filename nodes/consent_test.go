package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// Consent returns the scopes that a user has granted.
func (d *directory) Consent(_ context.Context, userID, applicationID string) (*schemas.Consent, error) {
	return d.consents[userID+" "+applicationID], d.broken
}

// AuthRequest returns the only authorization request.
func (d *directory) AuthRequest(_ context.Context, id string) (*schemas.AuthRequest, error) {
	if d.request == nil || d.request.ID != id {
		return nil, errors.New("no such request")
	}
	return d.request, d.broken
}

// IdentityScopes has the standard scopes, and those that the client declares.
func (d *directory) IdentityScopes(_ context.Context, o *schemas.OAuthProfile) ([]string, error) {
	return append(schemas.IdentityScopes(), o.OwnScopes()...), d.broken
}

// Client is a client that declares no scopes.
func (d *directory) Client(context.Context, string) (*schemas.Application, error) {
	return &schemas.Application{}, d.broken
}

// ServerClaims has none.
func (d *directory) ServerClaims(context.Context, []string) ([]schemas.ResourceServer, error) {
	return nil, d.broken
}

// ScopeNames has a display name for reading orders.
func (d *directory) ScopeNames(context.Context, []string) (map[string]string, error) {
	return map[string]string{"openid": "Know who you are", "shop:orders:read": "See orders", "shop:secret": "shop:secret"}, d.broken
}

var thirdParty = &schemas.Application{
	ID: "app-1", Name: "Photos", RequireConsent: true, LogoURL: "https://photos.example/logo.png", PolicyURI: "https://photos.example/privacy",
}

// asking returns a world in which an application's client requests scopes, and a visit by
// Ada, who has signed in for it.
func asking(t *testing.T, app *schemas.Application, scopes ...string) (*fixture, func(...func(*engine.Visit)) *engine.Visit) {
	t.Helper()
	w := newFixture(t)
	w.request = &schemas.AuthRequest{ID: "auth-1", ClientID: "photos", RedirectURI: "https://app.photos.example/back", Scopes: scopes, BrowserHash: []byte("browser")}
	return w, func(change ...func(*engine.Visit)) *engine.Visit {
		return visit(append([]func(*engine.Visit){known("ada"), authenticated("phrh", "hwk"), func(v *engine.Visit) {
			v.Application, v.AuthRequestID = app, "auth-1"
			v.Request.Browser = []byte("browser")
		}}, change...)...)
	}
}

// agreed stores Ada's consent to scopes.
func (w *fixture) agreed(again *time.Time, scopes ...string) {
	c := &schemas.Consent{GrantedAt: noon, AskAgainAt: again}
	for _, scope := range scopes {
		c.Scopes = append(c.Scopes, schemas.ConsentedScope{Scope: scope, GrantedAt: noon, AskAgainAt: again})
	}
	w.consents = map[string]*schemas.Consent{"ada app-1": c}
}

func (w *fixture) consentNode(t *testing.T, with string, next map[string]string) engine.Executor {
	t.Helper()
	if next == nil {
		next = map[string]string{"granted": "done", "denied": "end"}
	}
	exec, problems := w.try("consent", with, nil, schemas.Next{By: next})
	if len(problems) > 0 {
		t.Fatal(texts(problems))
	}
	return exec
}

// question returns the consent that a decision requests.
func question(t *testing.T, d *engine.Decision) schemas.ConsentQuestion {
	t.Helper()
	if d.Ask == nil {
		t.Fatalf("nothing is asked: %+v", d)
	}
	var q schemas.ConsentQuestion
	datatest.Unmarshal(t, []byte(d.Ask.Data[schemas.ConsentData]), &q)
	return q
}

func prompted(values ...string) func(*engine.Visit) {
	return func(v *engine.Visit) { v.Login.Prompt = values }
}

func TestWhenConsentIsAsked(t *testing.T) {
	past, later := noon, noon.Add(time.Second)
	requested := []string{"openid", "email", "system:users", "offline_access", "shop:orders"}
	all := []string{"openid", "email", "system:users", "offline_access"}
	unbound := func(v *engine.Visit) { v.AuthRequestID = "" }
	own := func(v *engine.Visit) { v.Application = app }
	for name, test := range map[string]struct {
		agreed []string
		again  *time.Time
		visit  func(*engine.Visit)
		want   []string // nil: no consent is requested
	}{
		"a first time, for what the user may do":   {nil, nil, prompted(), all},
		"an application of an administrator":       {nil, nil, own, nil},
		"one whose client asks for it":             {nil, nil, func(v *engine.Visit) { own(v); prompted("consent")(v) }, all},
		"a run of the application's own":           {nil, nil, unbound, nil},
		"agreed before":                            {all, nil, prompted(), nil},
		"agreed before to more":                    {append(all, "system", "profile"), nil, prompted("login"), nil},
		"agreed before to less":                    {[]string{"openid", "system:users:read"}, nil, prompted(), []string{"email", "system:users", "offline_access"}},
		"consented before, and asked again":        {all, nil, prompted("login", "consent"), all},
		"agreed before, until later":               {all, &later, prompted(), nil},
		"agreed before, and that is long ago":      {all, &past, prompted(), all},
		"agreed to the scopes and never to access": {nil, nil, func(v *engine.Visit) {}, all},
	} {
		t.Run(name, func(t *testing.T) {
			w, at := asking(t, thirdParty, requested...)
			if test.agreed != nil {
				w.agreed(test.again, test.agreed...)
			}
			d := run(t, w.consentNode(t, `{}`, nil), at(test.visit))
			if test.want == nil {
				left(t, d, "granted")
				return
			}
			var got []string
			for _, s := range question(t, d).Scopes {
				got = append(got, s.Scope)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("asked for %v, want %v", got, test.want)
			}
		})
	}
}

// Consent to the sign-in itself is requested once, even if the client requests no scopes.
func TestConsentToNoScope(t *testing.T) {
	w, at := asking(t, thirdParty)
	exec := w.consentNode(t, `{}`, nil)
	if q := question(t, run(t, exec, at())); len(q.Scopes) != 0 || q.Scopes == nil {
		t.Errorf("asked for %+v", q)
	}
	w.agreed(nil)
	left(t, run(t, exec, at()), "granted")
}

func TestConsentQuestion(t *testing.T) {
	w, at := asking(t, thirdParty, "openid", "shop:orders:read", "shop:secret")
	w.permissions["ada"] = []string{"shop"}
	d := run(t, w.consentNode(t, `{"title": "May it?", "text": "Think.", "allow": "Yes", "deny": "No"}`,
		map[string]string{"granted": "done", "denied": "end", "other": "who"}), at())
	want := schemas.ConsentQuestion{
		Client:  schemas.ConsentClient{Name: "Photos", Domain: "app.photos.example", LogoURL: thirdParty.LogoURL, PolicyURI: thirdParty.PolicyURI},
		Account: "ada", Scopes: []schemas.ConsentScope{
			{Scope: "openid", Text: "Know who you are"}, {Scope: "shop:orders:read", Text: "See orders"}, {Scope: "shop:secret", Text: "shop:secret"},
		},
	}
	if got := question(t, d); !reflect.DeepEqual(got, want) {
		t.Errorf("asked\n%+v, want\n%+v", got, want)
	}
	text := datatest.Marshal(t, d.Ask.Components)
	for _, part := range []string{"May it?", "Think.", "Yes", "No", "Not you?", "Photos", "app.photos.example", "See orders", "Know who you are", `"ada"`} {
		if !strings.Contains(string(text), part) {
			t.Errorf("the components lack %q: %s", part, text)
		}
	}
}

func TestConsentDomain(t *testing.T) {
	for _, test := range []struct{ client, redirect, want, to string }{
		{"photos", "https://app.photos.example:8443/back", "app.photos.example", ""},
		{"photos", "http://127.0.0.1:9000/back", "127.0.0.1", ""},
		{"photos", "com.example.app:/back", "com.example.app:", ""},
		{"https://tool.example/client.json", "https://tool.example:8443/back", "tool.example", ""},
		{"https://tool.example/client.json", "http://localhost/back", "tool.example", "localhost"},
		{"https://files.example/of/anybody.json", "https://evil.example/back", "files.example", "evil.example"},
	} {
		got := client(thirdParty, &schemas.AuthRequest{ClientID: test.client, RedirectURI: test.redirect})
		if got.Domain != test.want || got.RedirectDomain != test.to {
			t.Errorf("%s, %s: %q and %q, want %q and %q", test.client, test.redirect, got.Domain, got.RedirectDomain, test.want, test.to)
		}
	}
}

// agreeing returns the visit in which the user agrees to the question of the previous
// visit.
func agreeing(t *testing.T, exec engine.Executor, at func(...func(*engine.Visit)) *engine.Visit) *engine.Visit {
	t.Helper()
	asked := run(t, exec, at())
	return at(answer("allow"), func(v *engine.Visit) { v.NodeState = asked.NodeState })
}

// A user agrees to the scopes shown, not to those that replaced them since.
func TestConsentCoversWhatWasShown(t *testing.T) {
	renamed := *thirdParty
	renamed.Name = "Postern"
	for name, test := range map[string]struct {
		meanwhile func(*fixture, *engine.Visit)
		want      []string // of the new question; nil: there is none
	}{
		"nothing":                {func(*fixture, *engine.Visit) {}, nil},
		"the person may do more": {func(w *fixture, _ *engine.Visit) { w.permissions["ada"] = []string{"system"} }, []string{"openid", "system"}},
		"the person may do less": {func(w *fixture, _ *engine.Visit) { w.permissions["ada"] = nil }, nil},
		"another name":           {func(_ *fixture, v *engine.Visit) { v.Application = &renamed }, []string{"openid", "system:users"}},
		"agreed in another tab":  {func(w *fixture, _ *engine.Visit) { w.agreed(nil, "openid") }, nil},
		"a question of no node":  {func(_ *fixture, v *engine.Visit) { v.NodeState = nil }, []string{"openid", "system:users"}},
	} {
		w, at := asking(t, thirdParty, "openid", "system")
		w.permissions["ada"] = []string{"system:users"}
		exec := w.consentNode(t, `{}`, nil)
		v := agreeing(t, exec, at)
		test.meanwhile(w, v)
		d := run(t, exec, v)
		if test.want == nil {
			left(t, d, "granted")
			continue
		}
		var got []string
		for _, s := range question(t, d).Scopes {
			got = append(got, s.Scope)
		}
		if len(d.Changes) > 0 || !slices.Equal(got, test.want) {
			t.Errorf("%s: asked for %v, want %v; %+v", name, got, test.want, d.Changes)
		}
	}
}

// A client that requests only permissions that the user does not have gets an error, not a token
// without scopes.
func TestConsentWithoutAnyPermission(t *testing.T) {
	for name, test := range map[string]struct {
		requested, has []string
		visit          func(*engine.Visit)
		want           string // "ask" or "refuse"
	}{
		"no permission":                   {[]string{"system"}, nil, prompted(), "refuse"},
		"another permission":              {[]string{"system"}, []string{"shop"}, prompted("consent"), "refuse"},
		"taken from the user at the page": {[]string{"system"}, nil, answer("allow"), "refuse"},
		"and denied":                      {[]string{"system"}, nil, answer("deny"), "refuse"},
		"a part":                          {[]string{"system"}, []string{"system:users:read"}, prompted(), "ask"},
		"with the identity":               {[]string{"openid", "system"}, nil, prompted(), "ask"},
		"no scope at all":                 {nil, nil, prompted(), "ask"},
	} {
		t.Run(name, func(t *testing.T) {
			w, at := asking(t, thirdParty, test.requested...)
			w.permissions["ada"] = test.has
			d, err := w.consentNode(t, `{}`, nil).Execute(t.Context(), at(test.visit))
			if err != nil {
				t.Fatal(err)
			}
			if test.want == "ask" {
				question(t, d)
				return
			}
			if d.Refuse == nil {
				t.Fatalf("decided %+v", d)
			}
			r, _ := d.Refuse.Changes[0].(schemas.RefuseAuthRequest)
			wantCode, wantText := codePermissionsMissing, "permissions: system"
			if name == "and denied" {
				wantCode, wantText = codeConsentDenied, "denied"
			}
			if r.Refusal.Code != "access_denied" || d.Refuse.Error.Code != wantCode || !strings.Contains(r.Refusal.Description, wantText) || d.Refuse.RedirectURL == "" {
				t.Errorf("refused with %+v, %+v", r.Refusal, d.Refuse.Error)
			}
			if reason := missingReason(d); wantCode == codePermissionsMissing && reason != schemas.ReasonNoPermissions {
				t.Errorf("recorded the reason %q", reason)
			}
		})
	}
}

// missingReason returns the reason of the event consent.missing of a refusal.
func missingReason(d *engine.Decision) string {
	for _, change := range d.Refuse.Changes {
		if r, ok := change.(schemas.RecordEvent); ok && r.Event.Action == "consent.missing" {
			return r.Event.Detail["reason"]
		}
	}
	return ""
}

func TestConsentAnswers(t *testing.T) {
	scopes := []string{"openid", "email"}
	for with, again := range map[string]time.Time{
		`{}`: {}, `{"remember": true}`: {}, `{"remember": false}`: noon, `{"ttl": "720h"}`: noon.Add(720 * time.Hour),
	} {
		w, at := asking(t, thirdParty, scopes...)
		exec := w.consentNode(t, with, nil)
		d := left(t, run(t, exec, agreeing(t, exec, at)), "granted")
		want := schemas.GrantConsent{UserID: "ada", ApplicationID: "app-1", Scopes: scopes, Claims: map[string][]string{"openid": {}, "email": {"email", "email_verified"}}, At: noon, AskAgainAt: again}
		if !reflect.DeepEqual(d.Changes[0], schemas.Change(want)) || actions(d) != "consent.granted" {
			t.Errorf("%s: %+v", with, d.Changes)
		}
	}

	w, at := asking(t, thirdParty, scopes...)
	d, err := w.consentNode(t, `{}`, nil).Execute(t.Context(), at(answer("deny")))
	if err != nil {
		t.Fatal(err)
	}
	refusal, _ := d.Refuse.Changes[0].(schemas.RefuseAuthRequest)
	if refusal.ID != "auth-1" || refusal.Refusal.Code != "access_denied" || string(refusal.BrowserHash) != "browser" || d.Refuse.Error.Code != codeConsentDenied ||
		d.Refuse.RedirectURL != "https://id.example.com/oauth2/auth/callback?authId=auth-1" {
		t.Errorf("denied: %+v", d.Refuse)
	}

	elsewhere := w.consentNode(t, `{}`, map[string]string{"granted": "done", "denied": "why", "other": "who"})
	if d := left(t, run(t, elsewhere, at(answer("deny"))), "denied"); actions(d) != "consent.denied" {
		t.Errorf("events %s", actions(d))
	}
	left(t, run(t, elsewhere, at(answer("other"))), "other")
	// A user who has agreed in another tab in the meantime can still decline.
	w.agreed(nil, scopes...)
	left(t, run(t, elsewhere, at(answer("deny"))), "denied")
}

func TestInvalidConsentAnswers(t *testing.T) {
	w, at := asking(t, thirdParty, "openid")
	exec := w.consentNode(t, `{}`, nil)
	for name, test := range map[string]struct {
		visit *engine.Visit
		code  string
	}{
		"another browser":        {at(answer("allow"), func(v *engine.Visit) { v.Request.Browser = []byte("another") }), codeOtherBrowser},
		"another browser denies": {at(answer("deny"), func(v *engine.Visit) { v.Request.Browser = []byte("another") }), codeOtherBrowser},
		"no browser":             {at(answer("allow"), func(v *engine.Visit) { v.Request.Browser = nil }), codeOtherBrowser},
		"an action that is none": {at(answer("perhaps")), schemas.CodeInvalidAction},
		"no action":              {at(answer("")), schemas.CodeInvalidAction},
		"other is not wired":     {at(answer("other")), schemas.CodeInvalidAction},
	} {
		if d, err := exec.Execute(t.Context(), test.visit); !schemas.HasCode(err, test.code) {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
	w.broken = errors.New("disk on fire")
	if d, err := exec.Execute(t.Context(), at()); err == nil {
		t.Errorf("got %+v", d)
	}
}

func TestConsentConfiguration(t *testing.T) {
	w := newFixture(t)
	for _, test := range []struct {
		with string
		next schemas.Next
		want string
	}{
		{`{"ttl": "1h", "remember": false}`, schemas.Next{By: map[string]string{"granted": "a", "denied": "end"}}, "every time"},
		{`{"ttl": "0h"}`, schemas.Next{By: map[string]string{"granted": "a", "denied": "end"}}, "a duration such as"},
		{`{}`, schemas.Next{By: map[string]string{"granted": "a", "denied": "a"}}, "no effect"},
		{`{}`, schemas.Next{To: "a"}, "no effect"},
	} {
		if _, problems := w.try("consent", test.with, nil, test.next); !strings.Contains(texts(problems), test.want) {
			t.Errorf("%s: %v, want %q", test.with, problems, test.want)
		}
	}
}

// Whatever the flow, such a client gets nothing from a user who was not asked for consent.
func TestAuthorizationCodeNeedsConsent(t *testing.T) {
	consented := func(v *engine.Visit) { v.Facts = engine.NewFacts(engine.User, engine.Authenticated, engine.Consented) }
	for name, test := range map[string]struct {
		agreed []string
		visit  func(*engine.Visit)
		want   string // code of the error
	}{
		"asked in this run":            {nil, consented, ""},
		"asked before":                 {[]string{"openid", "email"}, prompted(), ""},
		"asked before for less":        {[]string{"openid"}, prompted(), codeConsentRequired},
		"never asked":                  {nil, prompted(), codeConsentRequired},
		"to be asked again":            {[]string{"openid", "email"}, prompted("consent"), codeConsentRequired},
		"an administrator's":           {nil, func(v *engine.Visit) { v.Application = app }, ""},
		"an administrator's, to ask":   {nil, func(v *engine.Visit) { v.Application = app; prompted("consent")(v) }, codeConsentRequired},
		"by itself":                    {[]string{"openid", "email"}, func(v *engine.Visit) { v.AuthRequestID = ""; consented(v) }, codeConsentRequired},
		"an administrator's by itself": {nil, func(v *engine.Visit) { v.AuthRequestID, v.Application = "", app }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, at := asking(t, thirdParty, "openid", "email")
			if test.agreed != nil {
				w.agreed(nil, test.agreed...)
			}
			d, err := w.make(t, "authorization-code", `{}`, nil).Execute(t.Context(), at(test.visit))
			if err != nil {
				t.Fatal(err)
			}
			e := d.Fail
			if d.Refuse != nil {
				e = d.Refuse.Error
				if refusal, _ := d.Refuse.Changes[0].(schemas.RefuseAuthRequest); refusal.Refusal.Code != "consent_required" || d.Refuse.RedirectURL == "" || missingReason(d) != schemas.ReasonNoConsentStep {
					t.Errorf("refused with %+v", d.Refuse)
				}
			}
			if got := codeOf(e); got != test.want || (got == "") != (d.Result != nil) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// Complete flows: one that requests consent, one that bypasses it, and one with a
// different user.
func TestConsentInFlows(t *testing.T) {
	const asks = `{"id": "ok", "use": "consent", "next": {"granted": "done", "denied": "end"}}`
	key := `{"id": "key", "use": "passkey-authenticate", "next": "NEXT"}`
	for name, test := range map[string]struct {
		nodes []string
		want  []string
	}{
		"asked after the proof":  {[]string{key, asks, done}, nil},
		"asked before the proof": {[]string{asks, `{"id": "key", "use": "passkey-authenticate", "next": "done"}`, done}, []string{"ok unauthenticated"}},
	} {
		_, problems := engine.Compile(flow(t, test.nodes...), newFixture(t).kinds)
		var got []string
		for _, p := range problems {
			got = append(got, p.Node+" "+p.Rule)
		}
		for _, want := range test.want {
			if !slices.Contains(got, want) {
				t.Errorf("%s: %v, want %s", name, got, want)
			}
		}
		if test.want == nil && len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

// A consent belongs to the user who gave it: the next user who signs in is asked too.
func TestConsentIsNotInherited(t *testing.T) {
	nodes := []string{
		`{"id": "key", "use": "passkey-authenticate", "with": {"mode": "usernameless"}, "next": "NEXT"}`,
		`{"id": "ok", "use": "consent", "next": {"granted": "NEXT", "denied": "end"}}`,
	}
	atEnd := func(nodes ...string) []engine.Fact {
		g, problems := engine.Compile(flow(t, append(nodes, done)...), newFixture(t).kinds)
		if g == nil {
			t.Fatal(problems)
		}
		list := g.Nodes()
		return list[len(list)-1].Certain
	}
	if facts := atEnd(nodes...); !slices.Contains(facts, engine.Consented) {
		t.Errorf("after it %v is certain", facts)
	}
	another := []string{askName, find, `{"id": "again", "use": "password-authenticate", "next": "NEXT"}`}
	if facts := atEnd(append(nodes, another...)...); slices.Contains(facts, engine.Consented) {
		t.Errorf("of another user %v is certain", facts)
	}
}

// An application that is not trusted.
var anonymous = &schemas.Application{ID: "app-1", Name: "Photos", Registration: schemas.RegisteredByDocument}

// An untrusted application gets permissions to manage the service only shortly after a
// sign-in for this request, and never by an earlier consent.
func TestAudit05ApprovalNeedsAFreshSignIn(t *testing.T) {
	signedIn := func(ago time.Duration, session string) func(*engine.Visit) {
		return func(v *engine.Visit) {
			v.Authentication = &engine.Authentication{Time: v.Now.Add(-ago), Methods: []string{"pwd"}, Session: session}
		}
	}
	for name, test := range map[string]struct {
		app   *schemas.Application
		has   []string
		visit func(*engine.Visit)
		want  string // "ask", "refuse", or an outcome
	}{
		"just now":                             {anonymous, []string{"system"}, signedIn(0, ""), "ask"},
		"five minutes ago":                     {anonymous, []string{"system"}, signedIn(5*time.Minute, ""), "ask"},
		"longer ago":                           {anonymous, []string{"system"}, signedIn(5*time.Minute+time.Second, ""), "refuse"},
		"before the request":                   {anonymous, []string{"system"}, func(v *engine.Visit) { v.AuthRequestID = "late"; signedIn(time.Minute, "")(v) }, "refuse"},
		"by a session of just now":             {anonymous, []string{"system"}, signedIn(0, "s1"), "refuse"},
		"by a session, with less permissions":  {anonymous, []string{"system:users:read"}, signedIn(0, "s1"), "refuse"},
		"by a session, without permissions":    {anonymous, nil, signedIn(time.Hour, "s1"), "granted"},
		"by a session, to a vouched one":       {thirdParty, []string{"system"}, signedIn(time.Hour, "s1"), "granted"},
		"by a session, with other permissions": {anonymous, []string{"shop"}, signedIn(time.Hour, "s1"), "granted"},
	} {
		t.Run(name, func(t *testing.T) {
			w, at := asking(t, test.app, "openid", "system", "shop:orders:read")
			w.request.CreatedAt = noon.Add(-10 * time.Minute)
			v := at(test.visit)
			if v.AuthRequestID == "late" {
				w.request.ID, w.request.CreatedAt = "late", noon.Add(-50*time.Second)
			}
			w.permissions["ada"] = test.has
			w.agreed(nil, "openid", "system", "shop:orders:read") // which does not apply to system
			d, err := w.consentNode(t, `{}`, map[string]string{"granted": "done", "denied": "end", "other": "who"}).Execute(t.Context(), v)
			if err != nil {
				t.Fatal(err)
			}
			switch test.want {
			case "ask":
				if q := question(t, d); len(q.Scopes) != 1 || q.Scopes[0].Scope != "system" || !q.Client.Unverified {
					t.Errorf("asked %+v", q)
				}
			case "refuse":
				if d.Refuse == nil || d.Refuse.Error.Code != schemas.CodeStaleProof {
					t.Fatalf("decided %+v", d)
				}
				if r, _ := d.Refuse.Changes[0].(schemas.RefuseAuthRequest); r.Refusal.Code != "login_required" || missingReason(d) != schemas.ReasonStaleSignIn {
					t.Errorf("refused with %+v", d.Refuse.Changes)
				}
			default:
				left(t, d, test.want)
			}
		})
	}
}

// The approval is stored with the request. A user who answers too late must sign in again.
func TestAudit05ApprovalIsKeptWithTheRequest(t *testing.T) {
	w, at := asking(t, anonymous, "openid", "system")
	w.permissions["ada"] = []string{"system:users:read"}
	w.request.CreatedAt = noon.Add(-time.Minute)
	exec := w.consentNode(t, `{"ttl": "720h"}`, map[string]string{"granted": "done", "denied": "end", "other": "who"})
	v := agreeing(t, exec, at)
	d := left(t, run(t, exec, v), "granted")
	want := schemas.ApproveAuthRequest{ID: "auth-1", BrowserHash: []byte("browser"), At: noon,
		Approval: schemas.Approval{UserID: "ada", Scopes: []string{"system:users:read"}, At: noon}}
	if !slices.ContainsFunc(d.Changes, func(c schemas.Change) bool { return reflect.DeepEqual(c, schemas.Change(want)) }) || actions(d) != "consent.granted consent.approved" {
		t.Errorf("changes %+v", d.Changes)
	}
	text, err := json.Marshal(run(t, exec, at()).Ask.Components)
	if err != nil || !strings.Contains(string(text), "This app is not verified") {
		t.Errorf("the page says %s, %v", text, err)
	}

	late := func(v *engine.Visit) { v.Now = noon.Add(5*time.Minute + time.Second) }
	v = agreeing(t, exec, at)
	late(v)
	if d := left(t, run(t, exec, v), "other"); d.Notice == nil || d.Notice.Code != schemas.CodeStaleProof || len(d.Changes) > 0 {
		t.Errorf("decided %+v", d)
	}
	bare := w.consentNode(t, `{}`, nil)
	v = agreeing(t, bare, at)
	late(v)
	if d, err := bare.Execute(t.Context(), v); err != nil || d.Refuse == nil || d.Refuse.Error.Code != schemas.CodeStaleProof {
		t.Errorf("decided %+v", d)
	}
}
