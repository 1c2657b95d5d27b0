package directory

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// client returns the application of an item.
func client(item *Item) *schemas.Application { return item.Value.(*schemas.Application) }

// shownSecret returns the secret in an item, which must be equal in both places; "" for
// none.
func shownSecret(t testing.TB, item *Item) string {
	t.Helper()
	a := client(item)
	if a.ClientSecret != a.OAuth().ClientSecret {
		t.Errorf("the application shows the secret %q, its configuration %q", a.ClientSecret, a.OAuth().ClientSecret)
	}
	return a.ClientSecret
}

const confidential = `{"name": "Job", "inboundAuthConfig": [{"type": "oauth2", "config": {"grantTypes": ["client_credentials"]}}]}`

// A secret is shown once and stored as a hash.
func TestSecretsAreShownOnce(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		made, err := h.Applications.Create(t.Context(), SystemCall(), doc(t, confidential))
		must(t, err)
		secret := shownSecret(t, made)
		if len(secret) != 43 {
			t.Errorf("the secret %q has not 256 bits", secret)
		}
		got, err := h.Applications.Get(t.Context(), SystemCall(), made.ID)
		must(t, err)
		page, err := h.Applications.List(t.Context(), SystemCall(), Query{Limit: 100})
		must(t, err)
		same, err := h.Applications.Replace(t.Context(), SystemCall(), made.ID, made.ETag, doc(t, confidential))
		must(t, err)
		if same.ETag != made.ETag {
			t.Error("replacing an application by itself changed it")
		}
		shown, err := json.Marshal(made.Value)
		must(t, err)
		if written, err := h.Applications.Replace(t.Context(), SystemCall(), made.ID, "", doc(t, string(shown))); err != nil || written.ETag != made.ETag {
			t.Errorf("writing back what was shown, secret and all: %v", err)
		}
		text, err := json.Marshal([]any{got, page, same})
		must(t, err)
		if bytes.Contains(text, []byte(secret)) || bytes.Contains(text, []byte("ecret\"")) {
			t.Errorf("a secret is shown again: %s", text)
		}
		kept, err := h.Client(t.Context(), client(made).ClientID)
		must(t, err)
		if !h.CheckSecret(kept, secret) || h.CheckSecret(kept, secret+"A") || h.CheckSecret(kept, "") {
			t.Error("the secret is not checked")
		}
		if bytes.Contains(kept.OAuth().SecretHash, []byte(secret)) {
			t.Error("the secret is kept in the clear")
		}
	})
}

func TestSecretsAreRotated(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		made, err := h.Applications.Create(t.Context(), SystemCall(), doc(t, confidential))
		must(t, err)
		old := shownSecret(t, made)
		item, err := h.RotateSecret(t.Context(), SystemCall(), made.ID, SecretRotation{Overlap: new(int64)})
		must(t, err)
		secret := shownSecret(t, item)
		if len(secret) != 43 || secret == old || item.ETag == made.ETag {
			t.Errorf("the secret %q became %q", old, secret)
		}
		kept, err := h.Client(t.Context(), client(made).ClientID)
		must(t, err)
		if !h.CheckSecret(kept, secret) || h.CheckSecret(kept, old) {
			t.Error("the old secret is still good, or the new one is not")
		}
		events, err := h.store.Events(t.Context(), schemas.EventQuery{Limit: 2, ResourceID: made.ID})
		must(t, err)
		if len(events) != 2 || events[0].Action != "application.secret_rotated" || events[0].Before != events[1].After || events[0].After == events[0].Before {
			t.Errorf("the rotation is recorded as %+v", events)
		}
		public := h.create(t, h.Applications, `{"name": "Page", "type": "SPA", "inboundAuthConfig": [{"type": "oauth2", "config": {"redirectUris": ["https://app.example.com/"]}}]}`)
		_, err = h.RotateSecret(t.Context(), SystemCall(), public, SecretRotation{})
		refused(t, err, schemas.CodeInvalidRequest, ": no client secret to rotate")
	})
}

// Clients without a secret accept none, and the empty secret is never valid.
func TestSecretsOfPublicClients(t *testing.T) {
	h := furnished(t, newFixture(t))
	with := func(method string, hash []byte) *schemas.Application {
		return &schemas.Application{InboundAuthConfig: []schemas.InboundAuth{{Config: schemas.OAuthProfile{TokenEndpointAuthMethod: method, SecretHash: hash}}}}
	}
	for _, a := range []*schemas.Application{
		{}, with("client_secret_basic", nil), with("client_secret_post", []byte{}), with("none", schemas.HashSecret("")), with("private_key_jwt", schemas.HashSecret("")),
	} {
		if h.CheckSecret(a, "") {
			t.Errorf("%+v takes no secret for one", a)
		}
	}
}

// The secret when an application is replaced.
func TestSecretsOfReplacedApplications(t *testing.T) {
	const chosen = "correct-horse-battery-staple-0123456789"
	oauth := func(config string) string {
		return `{"name": "Job", "inboundAuthConfig": [{"type": "oauth2", "config": {"redirectUris": ["https://app.example.com/"]` + config + `}}]}`
	}
	h := furnished(t, newFixture(t))
	made, err := h.Applications.Create(t.Context(), SystemCall(), doc(t, oauth("")))
	must(t, err)
	first := shownSecret(t, made)
	for _, step := range []struct {
		body  string
		shown bool   // a generated or newly chosen secret
		good  string // the valid secret afterwards; "" for none
	}{
		{oauth(`, "tokenEndpointAuthMethod": "client_secret_post"`), false, first},
		{strings.Replace(oauth(""), `"name"`, `"clientSecret": "`+chosen+`", "name"`, 1), true, chosen},
		{oauth(`, "clientSecret": "` + chosen + `"`), false, chosen},
		{oauth(`, "tokenEndpointAuthMethod": "none"`), false, ""},
		{oauth(`, "publicClient": false`), true, ""},
		{oauth(`, "jwksUri": "https://app.example.com/keys"`), false, ""},
		{oauth(`, "tokenEndpointAuthMethod": "client_secret_basic"`), true, ""},
	} {
		item, err := h.Applications.Replace(t.Context(), SystemCall(), made.ID, "", doc(t, step.body))
		must(t, err)
		secret := shownSecret(t, item)
		if (secret != "") != step.shown {
			t.Errorf("%s: the secret %q is shown", step.body, secret)
		}
		kept, err := h.Client(t.Context(), client(made).ClientID)
		must(t, err)
		o := kept.OAuth()
		if hasSecret(o) != (o.SecretHash != nil) {
			t.Errorf("%s: a hash is kept: %v", step.body, o.SecretHash != nil)
		}
		for _, good := range []string{secret, step.good} {
			if good != "" && !h.CheckSecret(kept, good) {
				t.Errorf("%s: the secret %q is not good", step.body, good)
			}
		}
		if secret != "" && h.CheckSecret(kept, first) {
			t.Errorf("%s: the first secret is still good", step.body)
		}
	}
}

// The client id stays unless a new one is set.
func TestClientIDsAreKept(t *testing.T) {
	h := furnished(t, newFixture(t))
	made, err := h.Applications.Create(t.Context(), SystemCall(), doc(t, confidential))
	must(t, err)
	id := client(made).ClientID
	if len(id) < 22 || client(made).OAuth().ClientID != id {
		t.Errorf("the client id is %q, and %q in the configuration", id, client(made).OAuth().ClientID)
	}
	same, err := h.Applications.Replace(t.Context(), SystemCall(), made.ID, "", doc(t, strings.Replace(confidential, "Job", "Work", 1)))
	must(t, err)
	if client(same).ClientID != id {
		t.Errorf("the client id %q became %q", id, client(same).ClientID)
	}
	other, err := h.Applications.Replace(t.Context(), SystemCall(), made.ID, "", doc(t, strings.Replace(confidential, `"name"`, `"clientId": "work", "name"`, 1)))
	must(t, err)
	if client(other).OAuth().ClientID != "work" {
		t.Errorf("the client id is %q, expected work", client(other).OAuth().ClientID)
	}
	none, err := h.Applications.Replace(t.Context(), SystemCall(), made.ID, "", doc(t, `{"name": "Work"}`))
	must(t, err)
	if client(none).ClientID != "" || client(none).OAuth() != nil {
		t.Errorf("what is no client still has the client id %q", client(none).ClientID)
	}
	_, err = h.Client(t.Context(), "work")
	refused(t, err, schemas.CodeAppNotFound)
}

func TestScopesOfClients(t *testing.T) {
	h := furnished(t, newFixture(t))
	app, err := h.Applications.Get(t.Context(), SystemCall(), h.ids["application"])
	must(t, err)
	_, err = h.Assign(t.Context(), SystemCall(), h.ids["role"], schemas.Principal{Type: schemas.ApplicationPrincipal, ID: app.ID})
	must(t, err)
	scopes, err := h.ClientScopes(t.Context(), client(app))
	must(t, err)
	if want := []string{reading, writing}; !slices.Equal(scopes, want) {
		t.Errorf("got the scopes %q, expected %q", scopes, want)
	}
	// Both spellings mean the same.
	item, err := h.Applications.Replace(t.Context(), SystemCall(), app.ID, "", doc(t, machine(t, "Taken", reading+"  openid "+reading)))
	must(t, err)
	if o := client(item).OAuth(); !slices.Equal(o.Scopes, []string{"openid", reading}) || o.Scope != "" {
		t.Errorf("got the scopes %q and the scope %q", o.Scopes, o.Scope)
	}
}

// A dry run returns the result and stores nothing.
func TestDryRunsChangeNothing(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		dry := SystemCall()
		dry.DryRun = true
		before := h.state(t)
		item, err := h.Applications.Create(t.Context(), dry, doc(t, confidential))
		must(t, err)
		if shownSecret(t, item) == "" {
			t.Error("a dry run does not show what would be")
		}
		_, err = h.Applications.Create(t.Context(), dry, doc(t, `{"name": "Taken"}`))
		refused(t, err, schemas.CodeAppExists, "name: Taken")
		flow, err := h.Flows.Replace(t.Context(), dry, h.ids["signin"], "", doc(t, strings.Replace(signInFlow, `"In"`, `"Inside"`, 1)))
		must(t, err)
		if flow.Value.(*schemas.Flow).ActiveVersion != 2 {
			t.Errorf("the next version would be %d, expected 2", flow.Value.(*schemas.Flow).ActiveVersion)
		}
		must(t, h.Roles.Delete(t.Context(), dry, h.ids["role"], ""))
		_, err = h.RotateSecret(t.Context(), dry, h.ids["application"], SecretRotation{})
		must(t, err)
		for name, n := range h.state(t) {
			if before[name] != n {
				t.Errorf("%d %s became %d", before[name], name, n)
			}
		}
		now, err := store.Flows().Get(t.Context(), h.store, h.ids["signin"])
		must(t, err)
		if now.ActiveVersion != 1 || now.Name != "In" {
			t.Errorf("the flow became %+v", now)
		}
	})
}

// A client id must not be the id of another resource: both identify actors.
func TestClientIDIsNoApplicationID(t *testing.T) {
	h := furnished(t, newFixture(t))
	id := schemas.NewID()
	h.create(t, h.Applications, `{"name": "Job", "type": "M2M", "clientId": "`+id+`", "inboundAuthConfig": [{"type": "oauth2"}]}`)
	_, err := h.Groups.Create(t.Context(), SystemCall(), doc(t, object(t, "name", "Group", "id", id)))
	refused(t, err, "group_exists", "id: there is a resource (application)")
	for noun, id := range map[string]string{"user": h.ids["user"], "application": h.ids["application"], "role": h.ids["role"]} {
		body := object(t, "name", "Other", "type", "M2M", "clientId", id, "inboundAuthConfig", []any{map[string]any{"type": "oauth2"}})
		_, err := h.Applications.Create(t.Context(), SystemCall(), doc(t, body))
		refused(t, err, "application_exists", "inboundAuthConfig[0].config.clientId: it is the id of another resource ("+noun+")")
	}
	// Its own id is allowed.
	body := object(t, "name", "Taken", "clientId", h.ids["application"], "inboundAuthConfig", []any{map[string]any{"type": "oauth2", "config": map[string]any{
		"grantTypes": []string{"client_credentials"},
	}}})
	_, err = h.Applications.Replace(t.Context(), SystemCall(), h.ids["application"], "", doc(t, body))
	must(t, err)
}

// Within the overlap of a rotation both secrets work, at most two at a time, and tokens stay. The old one ends with
// the clock, whether anything was written since or not.
func TestFormerSecrets(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		start := h.now()
		at := func(after time.Duration) {
			h.Directory.Options.Now = func() time.Time { return start.Add(after) }
		}
		at(0)
		made, err := h.Applications.Create(t.Context(), SystemCall(), doc(t, confidential))
		must(t, err)
		secrets := []string{shownSecret(t, made)}
		rotate := func(r SecretRotation) *schemas.Application {
			t.Helper()
			item, err := h.RotateSecret(t.Context(), SystemCall(), made.ID, r)
			must(t, err)
			secrets = append(secrets, shownSecret(t, item))
			return client(item)
		}
		expect := func(when string, works ...int) {
			t.Helper()
			kept, err := h.Client(t.Context(), client(made).ClientID)
			must(t, err)
			for i, secret := range secrets {
				if got := h.CheckSecret(kept, secret); got != slices.Contains(works, i) {
					t.Errorf("%s, secret %d works: %t", when, i, got)
				}
			}
		}
		generation := func() string {
			a, err := h.store.Application(t.Context(), made.ID)
			must(t, err)
			return a.TokenGeneration
		}
		before := generation()
		if a := rotate(SecretRotation{}); !a.FormerSecretExpiresAt.Equal(start.Add(DefaultSecretOverlap)) {
			t.Errorf("by default, the former secret expires at %v", a.FormerSecretExpiresAt)
		}
		expect("after a rotation", 0, 1)
		at(DefaultSecretOverlap - time.Microsecond)
		expect("just before the end", 0, 1)
		at(DefaultSecretOverlap)
		expect("at the end", 1)
		shown, err := h.Applications.Get(t.Context(), SystemCall(), made.ID)
		must(t, err)
		if !client(shown).FormerSecretExpiresAt.IsZero() {
			t.Errorf("a former secret that has ended is shown: %v", client(shown).FormerSecretExpiresAt)
		}
		hour := int64(3600)
		rotate(SecretRotation{Overlap: &hour})
		expect("after the second rotation", 1, 2)
		written, err := h.Applications.Replace(t.Context(), SystemCall(), made.ID, "", doc(t, mustJSON(t, client(shown))))
		must(t, err)
		expect("after the application was replaced by an older copy of itself", 1, 2)
		if client(written).FormerSecretExpiresAt.IsZero() {
			t.Error("a document changes when the former secret ends")
		}
		rotate(SecretRotation{Overlap: &hour})
		expect("after a rotation within the overlap", 2, 3)
		rotate(SecretRotation{Overlap: new(int64)})
		expect("after one without an overlap", 4)
		if generation() != before {
			t.Error("rotations revoke tokens")
		}
		rotate(SecretRotation{Overlap: &hour})
		rotate(SecretRotation{RevokeTokens: true})
		expect("after the replacement of a leaked secret", 6)
		if generation() == before {
			t.Error("the tokens of a leaked secret stay")
		}
		for _, r := range []SecretRotation{{Overlap: ptr(int64(-1))}, {Overlap: ptr(int64(MaxSecretOverlap.Seconds()) + 1)}, {Overlap: ptr(int64(math.MaxInt64))}, {Overlap: &hour, RevokeTokens: true}} {
			_, err := h.RotateSecret(t.Context(), SystemCall(), made.ID, r)
			refused(t, err, schemas.CodeInvalidRequest, "overlap: ")
		}
		expect("after refused rotations", 6)
		rotate(SecretRotation{Overlap: &hour})
		_, err = h.Applications.Replace(t.Context(), SystemCall(), made.ID, "", doc(t, strings.Replace(confidential, `"config": {`, `"config": {"tokenEndpointAuthMethod": "private_key_jwt", "jwksUri": "https://job.example.com/keys",`, 1)))
		must(t, err)
		expect("of a client with keys")
		_, err = h.Applications.Replace(t.Context(), SystemCall(), made.ID, "", doc(t, confidential))
		must(t, err)
		expect("of a client that has a secret again")
	})
}

func ptr[T any](v T) *T { return &v }
