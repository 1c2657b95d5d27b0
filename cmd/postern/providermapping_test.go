package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/federation"
	"github.com/postern-id/postern/internal/federation/federationtest"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// mappedProvider is a server whose users sign in with another provider, and an application with only that sign-in.
type mappedProvider struct {
	*testApp
	t        *testing.T
	provider *federationtest.Provider
	id, app  string
	token    string
	groups   map[string]string // ids by name
}

// newMappedProvider has the provider corp with a mapping, in JSON; "" for none. In it, a group that is named <NAME>
// becomes its id.
func newMappedProvider(t *testing.T, mapping string, environ ...string) *mappedProvider {
	t.Helper()
	return newMappedProviderAt(t, newTestApp(t, append([]string{outboundToProvider}, environ...)...), mapping)
}

// outboundToProvider allows requests to the provider.
const outboundToProvider = "POSTERN_OUTBOUND_ALLOW=127.0.0.1"

func newMappedProviderAt(t *testing.T, w *testApp, mapping string) *mappedProvider {
	t.Helper()
	m := &mappedProvider{testApp: w, t: t, groups: map[string]string{}}
	site := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { m.provider.ServeHTTP(rw, r) }))
	t.Cleanup(site.Close)
	m.provider = federationtest.New(site.URL, time.Now)
	m.token = w.admin()
	m.addGroups()
	m.id = w.create(w.directory.IdentityProviders, m.settings(mapping)).ID
	flow := datatest.Marshal(t, map[string]any{"handle": "with-corp", "name": "With Corp", "flowType": "AUTHENTICATION", "nodes": []map[string]any{
		{"id": "corp", "use": "federated-oidc", "with": map[string]any{"provider": "corp", "claims": map[string]string{"username": "login"}, "required": []string{"username"}},
			"next": map[string]string{"success": "done", "unknown": "create", "failure": "no"}},
		{"id": "create", "use": "user-create", "next": map[string]string{"created": "link", "taken": "no"}},
		{"id": "link", "use": "federated-link", "next": map[string]string{"success": "done", "taken": "no"}},
		{"id": "no", "use": "prompt", "with": map[string]any{"title": "No", "actions": []map[string]string{{"ref": "again", "label": "Again"}}}, "next": "corp"},
		{"id": "done", "use": "authorization-code"},
	}})
	stored := w.create(w.directory.Flows, string(flow)).ID
	m.app = w.create(w.directory.Applications, `{"name":"Mapped","authFlowId":"`+stored+`","allowedUserTypes":["Person"],
		"inboundAuthConfig":[{"type":"oauth2","config":{"redirectUris":["https://app.example/back"],"scopes":["openid","account"]}}]}`).ID
	return m
}

// addGroups creates staff with the groups engineering and sales in it, admins with the permission system, buyers with a
// permission of a shop, and the group other.
func (m *mappedProvider) addGroups() {
	m.create(m.directory.ResourceServers, `{"handle":"shop","name":"Shop","identifier":"https://shop.example","resources":[{"handle":"orders","actions":[{"handle":"read"}]}]}`)
	for _, name := range []string{"engineering", "sales", "admins", "buyers", "other", "__proto__"} {
		m.groups[name] = m.create(m.directory.Groups, `{"name":"`+name+`"}`).ID
	}
	m.groups["staff"] = m.create(m.directory.Groups, m.named(`{"name":"staff","members":[{"type":"group","id":"<engineering>"},{"type":"group","id":"<sales>"}]}`)).ID
	m.create(m.directory.Roles, m.named(`{"name":"Root","permissions":["system"],"assignments":[{"type":"group","id":"<admins>"}]}`))
	m.create(m.directory.Roles, m.named(`{"name":"Buyer","permissions":["shop:orders:read"],"assignments":[{"type":"group","id":"<buyers>"}]}`))
}

func (m *mappedProvider) named(text string) string {
	for name, id := range m.groups {
		text = strings.ReplaceAll(text, "<"+name+">", id)
	}
	return text
}

func (m *mappedProvider) settings(mapping string) string {
	body := map[string]any{"handle": "corp", "name": "Example Corp", "issuer": m.provider.Issuer, "clientId": m.provider.ClientID, "clientSecret": m.provider.ClientSecret}
	if mapping != "" {
		body["mapping"] = json.RawMessage(m.named(mapping))
	}
	return string(datatest.Marshal(m.t, body))
}

// remap replaces the mapping, and returns the reply.
func (m *mappedProvider) remap(mapping string) *httptest.ResponseRecorder {
	return m.call(http.MethodPut, "/identity-providers/"+m.id, m.token, m.settings(mapping))
}

// signIn signs in at the provider with claims, and returns the last step.
func (m *mappedProvider) signIn(subject string, claims map[string]any) schemas.Step {
	m.t.Helper()
	return m.signInAs(federationtest.Person{Subject: subject, Claims: claims}, "")
}

func (m *mappedProvider) signInAs(who federationtest.Person, fault federationtest.Fault) schemas.Step {
	m.t.Helper()
	s := m.begin(m.app, "AUTHENTICATION")
	return m.answerAs(s, who, fault)
}

func (m *mappedProvider) answerAs(s schemas.Step, who federationtest.Person, fault federationtest.Fault) schemas.Step {
	m.t.Helper()
	claims := map[string]any{"login": who.Subject}
	maps.Copy(claims, who.Claims)
	who.Claims = claims
	r, err := m.provider.SignIn(s.Data.RedirectURL, who, fault)
	if err != nil {
		m.t.Fatal(err)
	}
	return m.answer(s, "continue", map[string]string{"code": r.Code, "state": r.State, "iss": r.Issuer})
}

// signedIn signs in, which must succeed, and returns the user.
func (m *mappedProvider) signedIn(subject string, claims map[string]any) *schemas.User {
	m.t.Helper()
	return m.userOf(m.signIn(subject, claims))
}

func (m *mappedProvider) userOf(s schemas.Step) *schemas.User {
	m.t.Helper()
	if s.FlowStatus != schemas.Complete {
		m.t.Fatalf("the sign-in did not complete: %s, %+v, %v", s.StepID, s.Error, m.eventsOf("identity.refused"))
	}
	return m.user(m.claimsOf(s.Assertion).Subject)
}

func (m *mappedProvider) user(id string) *schemas.User {
	m.t.Helper()
	u, err := m.store.User(m.t.Context(), id)
	if err != nil {
		m.t.Fatal(err)
	}
	return u
}

// memberships returns the names of the user's groups, direct ones only.
func (m *mappedProvider) memberships(userID string) string {
	m.t.Helper()
	found, err := store.GroupsOf(m.t.Context(), m.store, userID)
	if err != nil {
		m.t.Fatal(err)
	}
	var names []string
	for _, g := range found {
		if !g.Inherited {
			names = append(names, g.Name)
		}
	}
	return strings.Join(names, " ")
}

// skipped returns what the last application of a mapping left out.
func (m *mappedProvider) skipped() string {
	events := m.eventsOf(schemas.IdentityMapped)
	if len(events) == 0 {
		return ""
	}
	return events[0].Detail["skipped"]
}

// attribute checks the value of an attribute of a user, nil for none.
func (m *mappedProvider) attribute(u *schemas.User, name string, want any) {
	m.t.Helper()
	if got := u.Attributes[name]; !reflect.DeepEqual(got, want) {
		m.t.Errorf("%s is %v, expected %v; skipped: %s", name, got, want, m.skipped())
	}
}

const nameMapping = `{"attributes":[{"from":"given_name","to":"given_name"},{"from":"profile.nick","to":"nickname"}]}`

// TestMappedAttributes: what becomes of the claims at the first sign-in and at a later one.
func TestMappedAttributes(t *testing.T) {
	type claims = map[string]any
	tests := []struct {
		name, mapping string
		first, second claims
		attribute     string
		one, two      any // after each sign-in
		skipped       string
	}{
		{"a refreshed claim", nameMapping, claims{"given_name": "Ada"}, claims{"given_name": "Augusta"}, "given_name", "Ada", "Augusta", ""},
		{"a removed claim", nameMapping, claims{"given_name": "Ada"}, claims{}, "given_name", "Ada", nil, ""},
		{"a claim that comes later", nameMapping, claims{}, claims{"given_name": "Ada"}, "given_name", nil, "Ada", ""},
		{"a nested claim", nameMapping, claims{"profile": claims{"nick": "Countess"}}, claims{"profile": claims{"nick": "Lovelace"}}, "nickname", "Countess", "Lovelace", ""},
		{"a claim with dots in its name", nameMapping, claims{"profile.nick": "Countess", "profile": claims{"nick": "no"}}, claims{"profile.nick": "x"}, "nickname", "Countess", "x", ""},
		{"the first sign-in only", `{"attributes":[{"from":"given_name","to":"given_name","apply":"firstSignIn"}]}`, claims{"given_name": "Ada"}, claims{"given_name": "Augusta"}, "given_name", "Ada", "Ada", ""},
		{"a default", `{"attributes":[{"from":"locale","to":"locale","default":"en"}]}`, claims{}, claims{"locale": "fr"}, "locale", "en", "fr", ""},
		{"a constant", `{"attributes":[{"to":"locale","default":"en"}]}`, claims{}, claims{}, "locale", "en", "en", ""},
		{"a prefix", `{"attributes":[{"from":"nick","to":"nickname","addPrefix":"corp-"}]}`, claims{"nick": "a"}, claims{"nick": "b"}, "nickname", "corp-a", "corp-b", ""},
		{"a converted number", `{"attributes":[{"from":"n","to":"nickname","type":"string"}]}`, claims{"n": 7}, claims{"n": true}, "nickname", "7", "true", ""},
		{"a converted list", `{"attributes":[{"from":"n","to":"nickname","type":"string","separator":" "}]}`, claims{"n": []string{"a", "b"}}, claims{"n": []string{}}, "nickname", "a b", nil, ""},
		{"a value that the user type refuses", `{"attributes":[{"from":"birthdate","to":"birthdate"}]}`, claims{"birthdate": "1815"}, claims{"birthdate": "tomorrow"}, "birthdate", "1815", "1815", "birthdate=user_type"},
		{"a wrong type", nameMapping, claims{"given_name": "Ada"}, claims{"given_name": claims{"a": 1}}, "given_name", "Ada", "Ada", "given_name=user_type"},
		{"a wrong type to convert", `{"attributes":[{"from":"n","to":"nickname","type":"string"}]}`, claims{"n": "a"}, claims{"n": claims{"a": "b"}}, "nickname", "a", "a", "nickname=type"},
		{"NUL", nameMapping, claims{"given_name": "Ada"}, claims{"given_name": "A\x00"}, "given_name", "Ada", "Ada", "given_name=characters"},
		{"a long value", nameMapping, claims{"given_name": "Ada"}, claims{"given_name": strings.Repeat("x", 2000)}, "given_name", "Ada", "Ada", "given_name=too_long"},
		{"an object", `{"attributes":[{"from":"address","to":"address"}]}`, claims{"address": claims{"country": "UK"}}, claims{"address": claims{"country": 7}}, "address",
			map[string]any{"country": "UK"}, map[string]any{"country": "UK"}, "address=user_type"},
		{"the name of a prototype", `{"attributes":[{"from":"__proto__.nick","to":"nickname"}]}`, claims{"__proto__": claims{"nick": "a"}}, claims{"constructor": "b"}, "nickname", "a", nil, ""},
		{"an unverified address", `{"attributes":[{"from":"email","to":"email"}]}`, claims{"email": "ada@example.org", "email_verified": true}, claims{"email": "a@example.org"}, "email", "ada@example.org", "a@example.org", ""},
		{"an address that another one replaces without verification", `{"attributes":[{"from":"email","to":"email","verifiedBy":"email_verified"}]}`,
			claims{"email": "ada@example.org", "email_verified": true}, claims{"email": "eve@example.org"}, "email", "ada@example.org", "ada@example.org", "email=unverified"},
		{"an address that disappears", `{"attributes":[{"from":"email","to":"email"}]}`, claims{"email": "ada@example.org"}, claims{}, "email", "ada@example.org", "ada@example.org", ""},
		{"a verified address", `{"attributes":[{"from":"email","to":"email","verifiedBy":"email_verified"}]}`, claims{"email": "ada@example.org"}, claims{"email": "ada@example.org", "email_verified": "true"}, "email_verified", nil, true, ""},
		{"a verified address of a trusted domain", `{"attributes":[{"from":"email","to":"email","verifiedBy":"xms_edov","domains":["example.org"]}]}`,
			claims{"email": "ada@evil.example", "xms_edov": 1}, claims{"email": "ada@Example.org", "xms_edov": "1"}, "email_verified", nil, true, ""},
		{"a provider that is not trusted", `{"attributes":[{"from":"email","to":"email"}]}`, claims{"email": "ada@example.org", "email_verified": true}, claims{"email": "ada@example.org", "email_verified": true}, "email_verified", nil, nil, ""},
		{"a username", `{"attributes":[{"from":"preferred_username","to":"username"}]}`, claims{"preferred_username": "ada"}, claims{"preferred_username": "augusta"}, "username", "ada", "augusta", ""},
		{"a username that is an address", `{"attributes":[{"from":"preferred_username","to":"username"}]}`, claims{"preferred_username": "ada"}, claims{"preferred_username": "victim@example.org"}, "username", "ada", "ada", "username=unverified"},
		{"a username that the server cannot have", `{"attributes":[{"from":"preferred_username","to":"username"}]}`, claims{"preferred_username": "ada"}, claims{"preferred_username": "a\u200bda"}, "username", "ada", "ada", "username=user_type"},
		{"the username of another user", `{"attributes":[{"from":"preferred_username","to":"username"}]}`, claims{"preferred_username": "ada"}, claims{"preferred_username": "admin"}, "username", "ada", "ada", "username=taken"},
	}
	m := newMappedProvider(t, "")
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if rec := m.remap(test.mapping); rec.Code != http.StatusOK {
				t.Fatalf("%d %s", rec.Code, rec.Body)
			}
			subject := fmt.Sprintf("person-%d", i)
			m.attribute(m.signedIn(subject, test.first), test.attribute, test.one)
			before := len(m.eventsOf(schemas.IdentityMapped))
			u := m.signedIn(subject, test.second)
			m.attribute(u, test.attribute, test.two)
			skipped := ""
			if len(m.eventsOf(schemas.IdentityMapped)) > before {
				skipped = m.skipped()
			}
			if skipped != test.skipped {
				t.Errorf("skipped %q, expected %q", skipped, test.skipped)
			}
			// The next cases use the same names.
			m.remove(m.directory.Users, u.ID)
		})
	}
}

// TestMappedClaimsThatAreRequired: a sign-in without a required claim is refused, the first one too, and stores nothing.
func TestMappedClaimsThatAreRequired(t *testing.T) {
	m := newMappedProvider(t, `{"attributes":[{"from":"department","to":"nickname","required":true}]}`)
	refused := func(claims map[string]any) {
		t.Helper()
		before := len(m.eventsOf("identity.refused"))
		if s := m.signIn("1815", claims); s.StepID != "no" {
			t.Fatalf("the sign-in continues at %q", s.StepID)
		}
		events := m.eventsOf("identity.refused")
		if len(events) != before+1 || events[0].Detail["check"] != "claims" || !strings.Contains(events[0].Detail["reason"], "department") {
			t.Errorf("the events are %+v", events)
		}
	}
	refused(nil)
	u := m.signedIn("1815", map[string]any{"department": "R&D"})
	refused(map[string]any{"department": ""})
	refused(map[string]any{"department": strings.Repeat("x", 5000)})
	m.attribute(m.user(u.ID), "nickname", "R&D")
}

// TestMappedUserinfo: claims of userinfo complete those of the ID token; they must be about the same user.
func TestMappedUserinfo(t *testing.T) {
	m := newMappedProvider(t, `{"userinfo":true,"attributes":[{"from":"nickname","to":"nickname"},{"from":"email","to":"email","verifiedBy":"email_verified"}],
		"groups":[{"from":"groups","map":{"a":"<engineering>"}}]}`)
	sign := func(who federationtest.Person) schemas.Step { return m.signInAs(who, "") }
	u := m.userOf(sign(federationtest.Person{Subject: "one", Claims: map[string]any{"email": "one@example.org"},
		Userinfo: map[string]any{"nickname": "One", "email": "one@example.org", "email_verified": true, "groups": []string{"a"}}}))
	m.attribute(u, "nickname", "One")
	m.attribute(u, "email", "one@example.org")
	m.attribute(u, "email_verified", nil) // userinfo states it about its own address, not about that of the ID token
	if got := m.memberships(u.ID); got != "engineering" {
		t.Errorf("the groups are %q", got)
	}
	for name, userinfo := range map[string]map[string]any{"another user": {"sub": "two", "nickname": "Two"}, "no reply": nil} {
		if s := sign(federationtest.Person{Subject: "one", Userinfo: userinfo}); s.StepID != "no" {
			t.Errorf("%s: the sign-in continues at %q", name, s.StepID)
		}
	}
	m.attribute(m.user(u.ID), "nickname", "One")
	if got := m.memberships(u.ID); got != "engineering" {
		t.Errorf("the groups are %q", got)
	}
}

// TestMappedGroups: the memberships after a sign-in in a group that an administrator gave, and others.
func TestMappedGroups(t *testing.T) {
	const byName = `{"groups":[{"from":"groups","map":{"eng":"<engineering>","sal":"<sales>"}}]}`
	huge := slices.Repeat([]string{"x"}, 2100)
	tests := []struct {
		name, mapping string
		claims        any
		want          string // after a sign-in with eng alone, as a member of other by an administrator
		skipped       string
	}{
		{"one more", byName, []string{"eng", "sal"}, "engineering other sales", ""},
		{"another", byName, []string{"sal"}, "other sales", ""},
		{"none", byName, []string{}, "other", ""},
		{"no claim", byName, nil, "other", ""},
		{"one text", byName, "sal", "other sales", ""},
		{"unknown names", byName, []string{"eng", "admins", "other", "constructor", "__proto__", ""}, "engineering other", ""},
		{"a wrong type", byName, map[string]any{"eng": true}, "engineering other", "groups=type"},
		{"a list of several types", byName, []any{"eng", 7}, "engineering other", "groups=type"},
		{"a huge list", byName, huge, "engineering other", "groups=too_long"},
		{"below a group", `{"groups":[{"from":"groups","below":"<staff>"}]}`, []string{"sales", "admins", "other", "staff", "buyers"}, "other sales", ""},
		{"below a group by name", `{"groups":[{"from":"groups","below":"staff"}]}`, []string{"sales"}, "other sales", ""},
		{"with a prefix", `{"groups":[{"from":"groups","below":"<staff>","prefix":"acme-","removePrefix":true}]}`, []string{"acme-sales", "engineering"}, "other sales", ""},
		{"a group that the mapping no longer has", `{"groups":[{"from":"groups","map":{"sal":"<sales>"}}]}`, []string{"eng"}, "other", ""},
		{"the first sign-in only", `{"groups":[{"from":"groups","map":{"eng":"<engineering>","sal":"<sales>"},"apply":"firstSignIn"}]}`, []string{"sal"}, "engineering other", ""},
		{"elsewhere", byName, "elsewhere", "engineering other", "groups=not_in_token"},
		{"no mapping of groups", nameMapping, []string{"sal"}, "other", ""},
	}
	onDatabases(t, func(t *testing.T, environ ...string) {
		m := newMappedProvider(t, "", environ...)
		for i, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				if rec := m.remap(byName); rec.Code != http.StatusOK {
					t.Fatalf("%d %s", rec.Code, rec.Body)
				}
				subject := fmt.Sprintf("person-%d", i)
				u := m.signedIn(subject, map[string]any{"groups": []string{"eng"}})
				m.join("other", u.ID)
				if got := m.memberships(u.ID); got != "engineering other" {
					t.Fatalf("the groups are %q", got)
				}
				if rec := m.remap(test.mapping); rec.Code != http.StatusOK {
					t.Fatalf("%d %s", rec.Code, rec.Body)
				}
				before := len(m.eventsOf(schemas.IdentityMapped))
				claims := map[string]any{"groups": test.claims}
				switch test.claims {
				case nil:
					claims = nil
				case "elsewhere":
					claims = map[string]any{"_claim_names": map[string]string{"groups": "src1"}}
				}
				m.signedIn(subject, claims)
				if got := m.memberships(u.ID); got != test.want {
					t.Errorf("the groups are %q, expected %q", got, test.want)
				}
				if test.skipped != "" && (len(m.eventsOf(schemas.IdentityMapped)) == before || m.skipped() != test.skipped) {
					t.Errorf("skipped %q, expected %q", m.skipped(), test.skipped)
				}
			})
		}
	})
}

// join adds a user to a group as an administrator does, and leave removes one.
func (m *mappedProvider) join(group, userID string) {
	m.t.Helper()
	m.put("/groups/"+m.groups[group]+"/members/user/"+userID, "", m.token)
}

func (m *mappedProvider) leave(group, userID string) {
	m.t.Helper()
	if rec := m.call(http.MethodDelete, "/groups/"+m.groups[group]+"/members/user/"+userID, m.token, ""); rec.Code != http.StatusOK {
		m.t.Errorf("%d %s", rec.Code, rec.Body)
	}
}

// TestMembershipsOfAdministrators: a provider does not end a membership that an administrator gave, before or
// after the provider stated it. What the provider gave ends with the identity.
func TestMembershipsOfAdministrators(t *testing.T) {
	eng := map[string]any{"groups": []string{"eng"}}
	steps := []struct {
		name string
		do   func(m *mappedProvider, u *schemas.User)
		want string
	}{
		{"an administrator gave it first", func(m *mappedProvider, u *schemas.User) {
			m.leave("engineering", u.ID)
			m.join("engineering", u.ID)
			m.signedIn(u.Text("username"), eng)
			m.signedIn(u.Text("username"), nil)
		}, "engineering"},
		{"an administrator gives it too", func(m *mappedProvider, u *schemas.User) {
			m.join("engineering", u.ID)
			m.signedIn(u.Text("username"), nil)
		}, "engineering"},
		{"a list with the member is stored again", func(m *mappedProvider, u *schemas.User) {
			var group json.RawMessage
			m.fetch(m.token, "/groups/"+m.groups["engineering"], &group)
			m.put("/groups/"+m.groups["engineering"], string(group), m.token)
			m.signedIn(u.Text("username"), nil)
		}, ""},
		{"an administrator ends it", func(m *mappedProvider, u *schemas.User) { m.leave("engineering", u.ID) }, ""},
		{"the provider states it again", func(m *mappedProvider, u *schemas.User) {
			m.leave("engineering", u.ID)
			m.signedIn(u.Text("username"), eng)
		}, "engineering"},
		{"the identity is unlinked", func(m *mappedProvider, u *schemas.User) {
			identity := m.items(m.token, "/users/"+u.ID+"/identities", "identities")[0]["id"].(string)
			if rec := m.call(http.MethodDelete, "/users/"+u.ID+"/identities/"+identity, m.token, ""); rec.Code != http.StatusNoContent {
				m.t.Errorf("%d %s", rec.Code, rec.Body)
			}
		}, ""},
		{"all identities are unlinked", func(m *mappedProvider, u *schemas.User) {
			if rec := m.call(http.MethodDelete, "/identity-providers/"+m.id+"/identities", m.token, ""); rec.Code != http.StatusOK {
				m.t.Errorf("%d %s", rec.Code, rec.Body)
			}
		}, ""},
	}
	onDatabases(t, func(t *testing.T, environ ...string) {
		m := newMappedProvider(t, `{"groups":[{"from":"groups","map":{"eng":"<engineering>"}}]}`, environ...)
		for i, step := range steps {
			u := m.signedIn(fmt.Sprintf("person-%d", i), eng)
			step.do(m, u)
			if got := m.memberships(u.ID); got != step.want {
				t.Errorf("%s: the groups are %q, expected %q", step.name, got, step.want)
			}
		}
		if given, taken := len(m.eventsOf(schemas.GroupMemberGiven)), len(m.eventsOf(schemas.GroupMemberTaken)); given != 8 || taken != 4 {
			t.Errorf("%d memberships are recorded as given, and %d as ended", given, taken)
		}
	})
}

// TestGroupsThatGivePermissions: accounts at a provider get a permission only if an administrator who has it declared
// it for the provider, whichever the order of the changes.
func TestGroupsThatGivePermissions(t *testing.T) {
	m := newMappedProvider(t, "")
	const buyers = `{"groups":[{"from":"groups","map":{"b":"<buyers>"}}]`
	manager := m.holder("manager", "system:identity-providers", "system:groups", "system:users", "system:roles")
	writer := m.holder("writer", "system:identity-providers")
	mapping := func(token, mapping string) (int, string) {
		rec := m.call(http.MethodPut, "/identity-providers/"+m.id, token, m.settings(mapping))
		return rec.Code, rec.Body.String()
	}
	for _, test := range []struct {
		name, token, mapping string
		status               int
		said                 string
	}{
		{"an undeclared permission", m.token, buyers + `}`, 409, "declare it in mapping.permissions"},
		{"another permission", m.token, buyers + `,"permissions":["system:users:read"]}`, 409, "shop:orders:read"},
		{"administrators", m.token, `{"groups":[{"from":"groups","map":{"b":"<admins>"}}],"permissions":["shop"]}`, 409, `\"system\"`},
		{"administrators in the unit", m.token, `{"groups":[{"from":"groups","unit":"default"}]}`, 409, "declare it in mapping.permissions"},
		{"a permission that does not exist", m.token, buyers + `,"permissions":["shop:orders:eat"]}`, 400, "no resource server has a permission"},
		{"a caller without the permission", manager, buyers + `,"permissions":["shop:orders:read"]}`, 403, "shop:orders:read"},
		{"a caller who may not write groups", writer, `{"groups":[{"from":"groups","map":{"b":"<sales>"}}]}`, 403, "system:groups:write"},
		{"a caller who may not write users", writer, nameMapping, 403, "system:users:write"},
		{"a group that does not exist", m.token, `{"groups":[{"from":"groups","map":{"b":"nobody"}}]}`, 400, "there is no group"},
		{"no groups to manage", m.token, `{"groups":[{"from":"groups"}]}`, 400, "expected one of map, below and unit"},
		{"a password", m.token, `{"attributes":[{"from":"a","to":"password"}]}`, 400, "a password cannot come"},
		{"a verification", m.token, `{"attributes":[{"from":"a","to":"email_verified"}]}`, 400, "verifiedBy"},
		{"an attribute that no user type has", m.token, `{"attributes":[{"from":"a","to":"given_nam"}]}`, 400, "given_name"},
		{"an attribute twice", m.token, `{"attributes":[{"from":"a","to":"nickname"},{"from":"b","to":"nickname"}]}`, 400, "already"},
		{"the declared permission", m.token, buyers + `,"permissions":["shop:orders"]}`, 200, ""},
		{"then another change without the permission", manager, ``, 403, "shop:orders"},
	} {
		if status, said := mapping(test.token, test.mapping); status != test.status || !strings.Contains(said, test.said) {
			t.Errorf("%s: %d %s", test.name, status, said)
		}
	}
	u := m.signedIn("buyer", map[string]any{"groups": []string{"b", "admins"}})
	if has, err := m.store.Permissions(t.Context(), u.ID); err != nil || !slices.Equal(has, []string{"shop:orders:read"}) {
		t.Errorf("the permissions are %v, %v", has, err)
	}
	for name, change := range map[string]func() *httptest.ResponseRecorder{
		"a role for the group": func() *httptest.ResponseRecorder {
			return m.call(http.MethodPost, "/roles", m.token, m.named(`{"name":"New","permissions":["system:users:read"],"assignments":[{"type":"group","id":"<buyers>"}]}`))
		},
		"a group with a role above it": func() *httptest.ResponseRecorder {
			return m.call(http.MethodPut, m.named("/groups/<admins>/members/group/<buyers>"), m.token, "")
		},
		"a permission of the role": func() *httptest.ResponseRecorder {
			item, err := m.directory.Roles.Find(t.Context(), directory.SystemCall(), "Buyer")
			if err != nil {
				t.Fatal(err)
			}
			return m.call(http.MethodPatch, "/roles/"+item.ID, m.token, `{"permissions":["shop:orders:read","system:users:read"]}`)
		},
	} {
		if rec := change(); rec.Code != http.StatusConflict || !strings.Contains(rec.Body.String(), directory.CodeProviderGrants) || !strings.Contains(rec.Body.String(), "mapping.permissions") {
			t.Errorf("%s: %d %s", name, rec.Code, rec.Body)
		}
	}
}

// TestAttributeOwners: each way to change an attribute of a provider is refused with the name of the owner, until an
// administrator becomes the owner or releases the attribute.
func TestAttributeOwners(t *testing.T) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		m := newMappedProvider(t, nameMapping, environ...)
		s := m.signIn("ada", map[string]any{"given_name": "Ada"})
		u := m.userOf(s)
		own := s.Assertion
		whole := func(name string) string {
			return `{"type":"Person","attributes":{"username":"ada","given_name":"` + name + `"}}`
		}
		paths := []struct {
			name, method, path, token string
			body                      func(value string) string
		}{
			{"the account page", http.MethodPatch, "/users/me/profile", own, func(v string) string { return `{"given_name":"` + v + `"}` }},
			{"an administrator's patch", http.MethodPatch, "/users/" + u.ID, m.token, func(v string) string { return `{"attributes":{"given_name":"` + v + `"}}` }},
			{"an administrator's replacement", http.MethodPut, "/users/" + u.ID, m.token, whole},
		}
		change := func(i int, value string) *httptest.ResponseRecorder {
			return m.call(paths[i].method, paths[i].path, paths[i].token, paths[i].body(value))
		}
		owner := m.named(`/users/` + u.ID + `/attribute-owners/given_name`)
		expect := func(what string, value string, accepted ...bool) {
			t.Helper()
			for i, p := range paths {
				rec := change(i, value+fmt.Sprint(i))
				refused := rec.Code == http.StatusConflict && strings.Contains(rec.Body.String(), schemas.CodeAttributeOwned)
				if accepted[i] && rec.Code != http.StatusOK || !accepted[i] && !refused {
					t.Errorf("%s: %s: %d %s", what, p.name, rec.Code, rec.Body)
				}
			}
		}
		expect("of the provider", "Eve", false, false, false)
		if said := change(1, "Eve").Body.String(); !strings.Contains(said, `Example Corp`) || !strings.Contains(said, "attribute-owners") {
			t.Errorf("the error does not name the owner, or the fix: %s", said)
		}
		m.attribute(m.user(u.ID), "given_name", "Ada")
		if rec := change(2, "Ada"); rec.Code != http.StatusOK { // without a change
			t.Errorf("the same value: %d %s", rec.Code, rec.Body)
		}
		var profile directory.Profile
		m.fetch(own, "/users/me/profile", &profile)
		i := slices.IndexFunc(profile.Attributes, func(a directory.ProfileAttribute) bool { return a.Name == "given_name" })
		if i < 0 || profile.Attributes[i].Owner == nil || profile.Attributes[i].Owner.ProviderName != "Example Corp" {
			t.Errorf("the profile is %+v", profile)
		}
		if list := m.items(own, "/users/me/attribute-owners", "attributeOwners"); len(list) != 2 || list[0]["attribute"] != "given_name" && list[0]["attribute"] != "nickname" {
			t.Errorf("the owners are %v", list)
		}

		adopt := func(body string) *httptest.ResponseRecorder { return m.call(http.MethodPut, owner, m.token, body) }
		if rec := m.call(http.MethodPut, owner, own, `{"owner":"user"}`); rec.Code != http.StatusForbidden {
			t.Errorf("a user becomes the owner: %d %s", rec.Code, rec.Body)
		}
		for body, want := range map[string]int{
			`{"owner":"administrator"}`: 200, `{"owner":"nobody"}`: 400, `{"owner":"provider"}`: 400, `{"owner":"provider","providerId":"nobody"}`: 400,
			`{"owner":"user","providerId":"corp"}`: 400, `{}`: 400,
		} {
			if rec := adopt(body); rec.Code != want {
				t.Errorf("%s: %d %s", body, rec.Code, rec.Body)
			}
		}
		expect("of administrators", "Eve", false, true, true)
		m.attribute(m.signedIn("ada", map[string]any{"given_name": "Ada"}), "given_name", "Eve2")
		if m.skipped() != "given_name=owned" {
			t.Errorf("skipped %q", m.skipped())
		}
		adopt(`{"owner":"user"}`)
		expect("of the user", "Zoe", true, false, false)
		adopt(`{"owner":"flow"}`)
		expect("of flows", "Lea", false, false, false)
		if rec := m.call(http.MethodDelete, owner, m.token, ""); rec.Code != http.StatusNoContent {
			t.Errorf("%d %s", rec.Code, rec.Body)
		}
		expect("without an owner", "Kim", true, true, true)
		m.attribute(m.signedIn("ada", map[string]any{"given_name": "Ada"}), "given_name", "Kim2") // the value belongs to its user
		adopt(`{"owner":"provider","providerId":"corp"}`)
		m.attribute(m.signedIn("ada", map[string]any{"given_name": "Ada"}), "given_name", "Ada")
		if got := len(m.eventsOf("attribute.adopted")) + len(m.eventsOf("attribute.released")); got != 5 {
			t.Errorf("%d events about owners", got)
		}
	})
}

// TestValuesBeforeAMapping: a value that a user had before belongs to the user; the provider fills in what is
// missing, and owns that.
func TestValuesBeforeAMapping(t *testing.T) {
	m := newMappedProvider(t, "")
	u := m.signedIn("ada", nil)
	m.patchUser(u.ID, `{"attributes":{"given_name":"Augusta"}}`)
	m.remap(nameMapping)
	u = m.signedIn("ada", map[string]any{"given_name": "Ada", "profile": map[string]any{"nick": "Countess"}})
	m.attribute(u, "given_name", "Augusta")
	m.attribute(u, "nickname", "Countess")
	m.patchUser(u.ID, `{"attributes":{"given_name":"Byron"}}`)
	if rec := m.call(http.MethodPatch, "/users/"+u.ID, m.token, `{"attributes":{"nickname":"x"}}`); rec.Code != http.StatusConflict {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	// A removed claim leaves nothing that the user could set: the attribute still belongs to the provider.
	u = m.signedIn("ada", nil)
	m.attribute(u, "nickname", nil)
	if rec := m.call(http.MethodPatch, "/users/"+u.ID, m.token, `{"attributes":{"nickname":"x"}}`); rec.Code != http.StatusConflict {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
}

// TestMappedAddresses: an account at the provider takes over no other account, and a change of an address needs what
// the account needs for it.
func TestMappedAddresses(t *testing.T) {
	const address = `{"attributes":[{"from":"email","to":"email","verifiedBy":"email_verified"}]}`
	verified := func(email string) map[string]any { return map[string]any{"email": email, "email_verified": true} }
	tests := []struct {
		name    string
		prepare func(m *mappedProvider, u *schemas.User)
		email   string // after a sign-in with new@example.org; the former is old@example.org
		skipped string
	}{
		{"an ordinary account", nil, "new@example.org", ""},
		{"an account with a second factor", func(m *mappedProvider, u *schemas.User) {
			m.apply(schemas.SetTOTP{TOTP: schemas.TOTP{UserID: u.ID, Secret: []byte("sealed"), CreatedAt: time.Now()}})
		}, "old@example.org", "email=needs_proof"},
		{"an administrator", func(m *mappedProvider, u *schemas.User) { m.join("admins", u.ID) }, "old@example.org", "email=needs_proof"},
		{"another user has verified it", func(m *mappedProvider, u *schemas.User) {
			m.create(m.directory.Users, `{"type":"Person","attributes":{"username":"victim","email":"new@example.org","email_verified":true}}`)
		}, "old@example.org", "email=taken"},
		{"another user has entered it", func(m *mappedProvider, u *schemas.User) {
			m.create(m.directory.Users, `{"type":"Person","attributes":{"username":"other","email":"new@example.org"}}`)
		}, "new@example.org", ""},
		{"an administrator has entered it", func(m *mappedProvider, u *schemas.User) {
			m.join("admins", m.create(m.directory.Users, `{"type":"Person","attributes":{"username":"boss","email":"new@example.org"}}`).ID)
		}, "old@example.org", "email=taken"},
		{"it is the username of another user", func(m *mappedProvider, u *schemas.User) {
			m.create(m.directory.Users, `{"type":"Person","attributes":{"username":"new@example.org"}}`)
		}, "old@example.org", "email=taken"},
	}
	onDatabases(t, func(t *testing.T, environ ...string) {
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				m := newMappedProvider(t, address, environ...)
				u := m.signedIn("ada", verified("old@example.org"))
				m.attribute(u, "email_verified", true)
				if test.prepare != nil {
					test.prepare(m, u)
				}
				u = m.signedIn("ada", verified("new@example.org"))
				m.attribute(u, "email", test.email)
				m.attribute(u, "email_verified", true)
				if test.skipped != "" && m.skipped() != test.skipped {
					t.Errorf("skipped %q, expected %q", m.skipped(), test.skipped)
				}
				notices := len(m.eventsOf(schemas.EmailChanged))
				if changed := test.email == "new@example.org"; changed != (notices == 1) {
					t.Errorf("%d notices to the former address", notices)
				}
				for _, e := range m.eventsOf(schemas.IdentityMapped) {
					if text := string(datatest.Marshal(t, e)); strings.Contains(text, "@example") {
						t.Errorf("the audit log has the address: %s", text)
					}
				}
			})
			if len(environ) > 0 && strings.HasSuffix(environ[0], "postgres") {
				break // the others differ in the rules only
			}
		}
	})
}

// TestFirstSignInWithAnotherUsersNames: a new account gets neither the username nor the address of another user.
func TestFirstSignInWithAnotherUsersNames(t *testing.T) {
	m := newMappedProvider(t, `{"attributes":[{"from":"email","to":"email","verifiedBy":"email_verified"},{"from":"nick","to":"username"}]}`)
	m.create(m.directory.Users, `{"type":"Person","attributes":{"username":"victim","email":"victim@example.org","email_verified":true}}`)
	u := m.signedIn("eve", map[string]any{"email": "victim@example.org", "email_verified": true, "nick": "victim"})
	m.attribute(u, "email", nil)
	m.attribute(u, "username", "eve")
	if m.skipped() != "email=taken username=taken" {
		t.Errorf("skipped %q", m.skipped())
	}
	m.attribute(m.user(m.userNamed("victim")), "email", "victim@example.org")
}

// TestLastAdministratorOfAProvider: a provider that no longer states the membership of the last administrator does
// not leave the server without one.
func TestLastAdministratorOfAProvider(t *testing.T) {
	m := newMappedProvider(t, `{"groups":[{"from":"groups","map":{"a":"<admins>"}}],"permissions":["system"]}`)
	one, two := m.signedIn("one", map[string]any{"groups": []string{"a"}}), m.signedIn("two", map[string]any{"groups": []string{"a"}})
	admin, err := m.directory.Administrators(t.Context(), directory.SystemCall(), 10)
	if err != nil || len(admin) < 3 {
		t.Fatal(admin, err)
	}
	for _, id := range admin {
		if id != one.ID && id != two.ID {
			m.remove(m.directory.Users, id)
		}
	}
	for _, step := range []struct {
		user    *schemas.User
		subject string
		want    string
	}{{one, "one", ""}, {two, "two", "admins"}, {two, "two", "admins"}} {
		m.signedIn(step.subject, nil)
		if got := m.memberships(step.user.ID); got != step.want {
			t.Errorf("%s: the groups are %q", step.subject, got)
		}
	}
	if !strings.Contains(m.skipped(), schemas.SkippedAdministrator) {
		t.Errorf("skipped %q", m.skipped())
	}
}

// TestConcurrentMappedSignIns: sign-ins at once all complete, and leave the claims of one of them.
func TestConcurrentMappedSignIns(t *testing.T) {
	const mapping = `{"attributes":[{"from":"given_name","to":"given_name"},{"from":"family_name","to":"family_name"}],"groups":[{"from":"groups","map":{"a":"<engineering>","b":"<sales>"}}]}`
	concurrent := func(t *testing.T, m *mappedProvider, other *testApp) {
		u := m.signedIn("ada", nil)
		at := []*mappedProvider{m, {testApp: other, t: t, provider: m.provider, app: m.app}}
		claims := []map[string]any{{"given_name": "a", "family_name": "a", "groups": []string{"a"}}, {"given_name": "b", "family_name": "b", "groups": []string{"b"}}}
		var group sync.WaitGroup
		steps := make([]schemas.Step, 8)
		for i := range steps {
			s := m.begin(m.app, "AUTHENTICATION")
			group.Go(func() {
				steps[i] = at[i/2%2].answerAs(s, federationtest.Person{Subject: "ada", Claims: claims[i%2]}, "")
			})
		}
		group.Wait()
		for _, s := range steps {
			if s.FlowStatus != schemas.Complete {
				t.Errorf("a sign-in did not complete: %+v", s)
			}
		}
		u = m.user(u.ID)
		want := map[string]string{"a": "engineering", "b": "sales"}[u.Text("given_name")]
		if u.Text("given_name") != u.Text("family_name") || m.memberships(u.ID) != want {
			t.Errorf("the attributes are %v, and the groups %s", u.Attributes, m.memberships(u.ID))
		}
	}
	t.Run("sqlite", func(t *testing.T) {
		m := newMappedProvider(t, mapping)
		concurrent(t, m, m.testApp)
	})
	t.Run("two instances on postgres", func(t *testing.T) {
		sequential(t)
		one, two := twoInstances(t, outboundToProvider, "POSTERN_DATABASE_DRIVER=postgres", "POSTERN_DATABASE_DSN="+storetest.Postgres(t))
		concurrent(t, newMappedProviderAt(t, one, mapping), two)
	})
}

// TestMappedClaimsAreNotLogged: neither the log nor the audit log has a value of a claim.
func TestMappedClaimsAreNotLogged(t *testing.T) {
	m := newMappedProvider(t, `{"attributes":[{"from":"given_name","to":"given_name"},{"from":"birthdate","to":"birthdate"}],"groups":[{"from":"groups","map":{"eng":"<engineering>"}}]}`)
	m.signedIn("1815", map[string]any{"given_name": "Adalovelace", "birthdate": "Adalovelace", "groups": []string{"eng", "Adalovelace"}})
	for _, action := range []string{schemas.IdentityMapped, schemas.GroupMemberGiven, "user.created", "identity.linked"} {
		events := m.eventsOf(action)
		if text := string(datatest.Marshal(t, events)); len(events) == 0 || strings.Contains(text, "Adalovelace") {
			t.Errorf("%s: %s", action, text)
		}
	}
}

// TestStatementsOfProviders: values that no mapping should take, whatever a provider sends.
func TestStatementsOfProviders(t *testing.T) {
	mapping := &schemas.ProviderMapping{Attributes: []schemas.AttributeMapping{{From: "a.b", To: "nickname"}}, Groups: []schemas.GroupMapping{{From: "groups"}}}
	for _, text := range []string{`{}`, `{"a":null}`, `{"a":[]}`, `{"a":"b"}`, `{"a":{"b":null}}`, `{"a.b":null,"groups":null}`, `{"groups":[]}`} {
		var d federation.Document
		datatest.Unmarshal(t, []byte(text), &d)
		s := federation.Statement{IDToken: d}
		kept := s.For(mapping)
		got := kept.Map(mapping)
		if len(got.Values) != 0 || !slices.Equal(got.Absent, []string{"nickname"}) || len(got.Groups[0].Names) != 0 || got.Groups[0].Unknown != "" {
			t.Errorf("%s: %+v", text, got)
		}
	}
	long := federation.Statement{IDToken: federation.Document{"a": json.RawMessage(`{"b":"` + strings.Repeat("x", 200000) + `"}`)}}
	if got := long.For(mapping); len(datatest.Marshal(t, got)) > 10000 || len(got.Map(mapping).Values) != 0 {
		t.Errorf("a run keeps a claim of 200,000 bytes")
	}
}

// TestPresetsOfProviders: the mapping of each preset of the console is accepted, and takes what the provider documents.
func TestPresetsOfProviders(t *testing.T) {
	var presets []struct {
		Name, Issuer string
		Scopes       []string
		Mapping      json.RawMessage
	}
	datatest.Unmarshal(t, datatest.ReadFile(t, "../../server/console/web/src/presets.json"), &presets)
	type claims = map[string]any
	names := claims{"given_name": "Ada", "family_name": "Lovelace", "name": "Ada Lovelace", "picture": "https://img.example/a.png", "locale": "en"}
	with := func(all ...claims) claims {
		merged := claims{}
		for _, c := range all {
			maps.Copy(merged, c)
		}
		return merged
	}
	email := claims{"email": "ada@example.org", "email_verified": true}
	sends := map[string]federationtest.Person{
		"Auth0":     {Claims: with(names, email, claims{"nickname": "ada"})},
		"GitLab":    {Claims: with(email, claims{"groups_direct": []string{"acme"}}), Userinfo: with(email, claims{"name": "Ada Lovelace", "nickname": "ada", "groups": []string{"acme", "acme/dev"}})},
		"Google":    {Claims: with(names, email, claims{"hd": "example.org"})},
		"Keycloak":  {Claims: with(names, email, claims{"preferred_username": "ada", "realm_access": claims{"roles": []string{"admin"}}})},
		"Microsoft": {Claims: with(names, claims{"email": "ada@example.org", "preferred_username": "ada@example.org", "xms_edov": true, "groups": []string{"a3f1c0de-0000-4000-8000-000000000001"}})},
		"Okta":      {Claims: claims{"name": "Ada Lovelace"}, Userinfo: with(names, email, claims{"zoneinfo": "Europe/London"})},
		"Postern":   {Claims: with(names, email)},
		"Slack":     {Userinfo: with(names, email, claims{"https://slack.com/team_id": "T1", "ok": true})},
	}
	m := newMappedProvider(t, "")
	for _, p := range presets {
		t.Run(p.Name, func(t *testing.T) {
			who, known := sends[p.Name]
			if rec := m.remap(string(p.Mapping)); rec.Code != http.StatusOK || !known {
				t.Fatalf("known: %t, %d %s", known, rec.Code, rec.Body)
			}
			who.Subject = strings.ToLower(p.Name)
			before := len(m.eventsOf(schemas.IdentityMapped))
			u := m.userOf(m.signInAs(who, ""))
			m.attribute(u, "name", "Ada Lovelace")
			m.attribute(u, "email", "ada@example.org")
			m.attribute(u, "email_verified", nil) // trusting the provider is left to administrators
			if got := m.memberships(u.ID); got != "" {
				t.Errorf("a preset gives the groups %s", got)
			}
			if len(m.eventsOf(schemas.IdentityMapped)) != before+1 || m.skipped() != "" {
				t.Errorf("skipped %q", m.skipped())
			}
		})
	}
	if len(presets) != len(sends) {
		t.Errorf("%d presets, expected %d", len(presets), len(sends))
	}
}
