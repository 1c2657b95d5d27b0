package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// harvestingFlow shows a text field that looks like a password field, and stores the input
// as a nickname, which administrators of users can read. No rule rejects it.
const harvestingFlow = `{"handle":"shop-sign-in","name":"Sign in","flowType":"AUTHENTICATION","nodes":[
	{"id":"ask","use":"prompt","with":{"title":"Sign in","inputs":[{"identifier":"username","type":"TEXT_INPUT","required":true},
		{"identifier":"pw2","type":"TEXT_INPUT","label":"Password","required":true}],"actions":[{"ref":"go","label":"Continue"}]},"next":"keep"},
	{"id":"keep","use":"user-create","with":{"attributes":{"username":"username","nickname":"pw2"}},"next":{"created":"key","taken":"ask"}},
	{"id":"key","use":"passkey-register","next":"done"},
	{"id":"done","use":"authorization-code"}]}`

// Finding 4 of the security audit of November 2026: a user who may write only flows and
// applications tries to control, over HTTP, what administrators are asked at a sign-in.
func TestAudit04FlowWritersCannotReachAdministrators(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		admin := w.admin()
		writer := w.holder("designer", "system:flows", "system:applications", "system:user-types", "system:identity-providers", "system:users:read")
		a := newShop(t, w, admin)
		before := w.call(http.MethodGet, "/flows/"+a.flow, admin, "").Body.String()
		for _, attack := range a.attacks() {
			rec := w.call(attack.method, attack.path, writer, attack.body)
			said := rec.Body.String()
			if rec.Code != http.StatusForbidden || !strings.Contains(said, `permission \"system\", which you do not have`) || strings.Contains(said, `"admin`) {
				t.Errorf("%s: %d %s", attack.name, rec.Code, said)
			}
		}
		if after := w.call(http.MethodGet, "/flows/"+a.flow, admin, "").Body.String(); after != before {
			t.Errorf("the flow was %s and is %s", before, after)
		}
		// The writer may do the same where no administrator signs in, and an administrator
		// may anywhere.
		visitors := w.made(admin, "/user-types", `{"name":"Visitor","schema":{"type":"object"}}`)
		own := w.made(writer, "/flows", strings.Replace(harvestingFlow, "shop-sign-in", "visitors", 1))
		w.made(writer, "/applications", `{"name":"Visitors","authFlowId":"`+own+`","allowedUserTypes":["Visitor"]}`)
		w.put("/flows/"+own, strings.NewReplacer("shop-sign-in", "visitors", "Continue", "Go").Replace(harvestingFlow), writer)
		w.put("/user-types/"+visitors, `{"name":"Visitor","schema":{"type":"object","properties":{"badge":{"type":"string"}}}}`, writer)
		w.put("/flows/"+a.flow, harvestingFlow, admin)
	})
}

// shop is an application without permissions, where administrators also sign in.
type shop struct{ flow, part, app, person, other string }

// newShop creates it. Its flow has two versions, and a sub-flow.
func newShop(t *testing.T, w *testApp, admin string) (s shop) {
	t.Helper()
	s.part = w.made(admin, "/flows", shopPart)
	s.flow = w.made(admin, "/flows", shopFlow)
	w.put("/flows/"+s.flow, strings.Replace(shopFlow, `"Shop"`, `"The shop"`, 1), admin)
	s.app = w.made(admin, "/applications", s.application(s.flow, "shop", ""))
	s.other = w.made(admin, "/flows", strings.Replace(harvestingFlow, "shop-sign-in", "other", 1))
	var found struct {
		UserTypes []struct{ ID, Name string }
	}
	if err := json.Unmarshal(w.call(http.MethodGet, "/user-types?filter=name%20eq%20%22Person%22", admin, "").Body.Bytes(), &found); err != nil || len(found.UserTypes) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	s.person = found.UserTypes[0].ID
	w.made(admin, "/user-types", `{"name":"Robot","schema":{"type":"object"}}`)
	return s
}

const (
	shopPart = `{"handle":"more","name":"More","flowType":"SUBFLOW","outcomes":{"passed":"It went on."},"nodes":[
		{"id":"ask","use":"prompt","with":{"title":"More","actions":[{"ref":"go","label":"Go"}]},"next":"passed"}]}`
	shopFlow = `{"handle":"shop-sign-in","name":"Shop","flowType":"AUTHENTICATION","nodes":[{"id":"more","use":"flow","with":{"flow":"more"},"next":{"passed":"key"}},
		{"id":"key","use":"passkey-authenticate","next":"done"},{"id":"done","use":"authorization-code"}]}`
)

// application returns the application with a flow, a client id and more members.
func (s shop) application(flow, clientID, more string) string {
	return `{"name":"Shop","authFlowId":"` + flow + `","inboundAuthConfig":[{"type":"oauth2","config":{"clientId":"` + clientID +
		`","redirectUris":["https://shop.example/back"],"scopes":["openid"]}}]` + more + `}`
}

// made creates a resource over HTTP and returns its id.
func (w *testApp) made(token, path, body string) string {
	w.t.Helper()
	var made struct{ ID string }
	rec := w.call(http.MethodPost, path, token, body)
	if err := json.Unmarshal(rec.Body.Bytes(), &made); err != nil || rec.Code != http.StatusCreated {
		w.t.Fatalf("POST %s: %d %s", path, rec.Code, rec.Body)
	}
	return made.ID
}

type writeAttempt struct{ name, method, path, body string }

// attacks are the ways to control what administrators are asked at the shop.
func (s shop) attacks() []writeAttempt {
	app := "/applications/" + s.app
	return []writeAttempt{
		{"another version of the flow", http.MethodPut, "/flows/" + s.flow, harvestingFlow},
		{"an earlier version", http.MethodPost, "/flows/" + s.flow + "/restore", `{"version":1}`},
		{"a sub-flow", http.MethodPut, "/flows/" + s.part, strings.Replace(shopPart, `"title":"More"`, `"title":"Your password"`, 1)},
		{"another flow of the application", http.MethodPut, app, s.application(s.other, "shop", "")},
		{"user types that exclude administrators", http.MethodPut, app, s.application(s.flow, "shop", `,"allowedUserTypes":["Robot"]`)},
		{"its client id becomes free", http.MethodPut, app, s.application(s.flow, "old", "")},
		{"its ids become free", http.MethodDelete, app, ""},
		{"a new application", http.MethodPost, "/applications", `{"name":"Prizes","authFlowId":"` + s.other + `"}`},
		{"a logo", http.MethodPut, app, s.application(s.flow, "shop", `,"logoUrl":"https://pictures.example/logo.png"`)},
		{"the titles of attributes", http.MethodPut, "/user-types/" + s.person, `{"name":"Person","schema":{"type":"object","properties":{"username":{"type":"string","title":"Password"}}}}`},
	}
}
