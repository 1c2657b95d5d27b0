package directory

import (
	"fmt"
	"slices"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// Stored resources that earlier rules accepted are reported with what a write would be refused for.
func TestRecheck(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		client := h.create(t, h.Applications, object(t, "name", "Shop", "inboundAuthConfig", []any{map[string]any{"type": "oauth2", "config": map[string]any{
			"clientId": "shop", "redirectUris": []string{"https://shop.example.com/back"}}}}))
		provider := h.create(t, h.IdentityProviders, corp(t, "handle", "corp", "name", "Corp"))
		fetched := h.register(t, selfRegistered("Fetched", "https://client.example.com/metadata", schemas.RegisteredByDocument)).ID
		group := h.create(t, h.Groups, object(t, "name", "Staff"))
		user := h.create(t, h.Users, object(t, "type", "Person", "attributes", map[string]any{"username": "ann"}))
		outdated := func() (list []string) {
			t.Helper()
			_, err := h.Recheck(t.Context(), 100, func(o Outdated) {
				for _, p := range o.Problems {
					list = append(list, fmt.Sprintf("%s %s: %s", o.Noun.Name, o.Name, p.Path))
				}
			})
			must(t, err)
			slices.Sort(list)
			return list
		}
		if found := outdated(); len(found) > 0 {
			t.Fatalf("before any rule changed: %q", found)
		}
		storeAnyway(t, w, w.Applications, client, func(a *schemas.Application) {
			a.Customizations = map[string]any{"theme": map[string]any{"colors": map[string]any{"primary": "red;}body{display:none"}, "logoUrl": "javascript:alert(1)"}}
			a.OAuth().RedirectURIs = []string{"https://shop.example.com/*", "http://shop.example.com/plain"}
			a.URL = "javascript:alert(1)"
		})
		storeAnyway(t, w, w.Applications, fetched, func(a *schemas.Application) { a.ClientID = "https://client.example.com:443/metadata" })
		storeAnyway(t, w, w.IdentityProviders, provider, func(p *schemas.IdentityProvider) { p.Issuer = "https://corp.example.com/#fragment" })
		storeAnyway(t, w, w.Groups, group, func(g *schemas.Group) { g.Name = "Staff\u202e" })
		storeAnyway(t, w, w.Users, user, func(u *schemas.User) { u.Attributes["email"] = "not an address" })
		got := outdated()
		for _, want := range []string{
			"application Shop: customizations.theme.colors.primary", "application Shop: customizations.theme.logoUrl",
			"application Shop: inboundAuthConfig[0].config.redirectUris[0]", "application Shop: inboundAuthConfig[0].config.redirectUris[1]",
			"application Fetched: inboundAuthConfig[0].config.clientId", "application Shop: url", "identityProvider corp: issuer", "group Staff\u202e: name", "user : attributes.email",
		} {
			if !slices.Contains(got, want) {
				t.Errorf("found %q, expected %s", got, want)
			}
		}
		if again := outdated(); !slices.Equal(again, got) {
			t.Errorf("a second check finds %q, the first %q", again, got)
		}
		cut, err := h.Recheck(t.Context(), 1, func(Outdated) {})
		must(t, err)
		if !slices.ContainsFunc(cut, func(n Noun) bool { return n.Name == "flow" }) {
			t.Errorf("a check of one resource each leaves out %v", cut)
		}
	})
}

// A client id that is a URL is stored in its normal form only.
func TestSpellingsOfClientURLs(t *testing.T) {
	h := furnished(t, newFixture(t))
	for _, id := range []string{"https://Client.example.com/metadata", "https://client.example.com:443/metadata", "https://client.example.com/%6detadata"} {
		_, err := h.Register(t.Context(), SystemCall(), selfRegistered("Client", id, schemas.RegisteredByDocument))
		refused(t, err, schemas.CodeInvalidRequest, configPath+".clientId: https://client.example.com/metadata")
	}
}

// storeAnyway changes a stored resource without any check, as an earlier release may have.
func storeAnyway[T any](t *testing.T, w *fixture, of Resource, id string, change func(*T)) {
	t.Helper()
	c := of.(*collection[T])
	must(t, w.store.Update(t.Context(), func(tx *store.Tx) error {
		v, err := c.table.Get(t.Context(), tx, id)
		if err != nil {
			return err
		}
		change(v)
		was := *c.meta(v).updated
		*c.meta(v).updated = was.Add(1000)
		return c.table.Replace(tx, v, was)
	}))
}
