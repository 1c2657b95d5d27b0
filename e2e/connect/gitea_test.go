package connect_test

import (
	"net/url"
	"slices"
	"testing"

	"github.com/markbates/goth/providers/openidConnect"
)

// gitea signs a user in with goth, and decides by the claims in the raw data.
func gitea(t *testing.T, p *page, a application) signIn {
	flags := readFlags(t, "gitea", a.fill(p.block("gitea admin auth add-oauth")))
	flag := func(name string) string {
		if len(flags[name]) != 1 {
			t.Fatalf("--%s is %q", name, flags[name])
		}
		return flags[name][0]
	}
	provider, err := openidConnect.NewNamed(flag("name"), flag("key"), flag("secret"), a.redirect, flag("auto-discover-url"), flags["scopes"]...)
	if err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T, username string) string {
		session, err := provider.BeginAuth("state")
		if err != nil {
			t.Fatal(err)
		}
		address, err := session.GetAuthURL()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := session.Authorize(provider, url.Values{"code": {a.server.authorize(t, address, username).Get("code")}}); err != nil {
			t.Fatal(err)
		}
		user, err := provider.FetchUser(session)
		if err != nil {
			t.Fatal(err)
		}
		if user.Email != username+"@example.org" || user.NickName != username || user.UserID == "" {
			t.Errorf("the user is %+v", user)
		}
		required := texts(user.RawData[flag("required-claim-name")])
		switch groups := texts(user.RawData[flag("group-claim-name")]); {
		case !slices.Contains(required, flag("required-claim-value")):
			return refused
		case slices.Contains(groups, flag("admin-group")):
			return "administrator"
		}
		return "user"
	}
}
