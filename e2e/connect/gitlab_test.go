package connect_test

import (
	"regexp"
	"strings"
	"testing"

	"golang.org/x/oauth2"
)

// gitLab signs a user in, and compares the groups of the userinfo.
func gitLab(t *testing.T, p *page, a application) signIn {
	text := a.fill(p.block("omniauth_providers"))
	list := func(name string) (values []string) {
		found := regexp.MustCompile(name + `: \[([^\]]*)\]`).FindStringSubmatch(text)
		if found == nil {
			t.Fatalf("the page has no %s", name)
		}
		for value := range strings.SplitSeq(found[1], ",") {
			values = append(values, strings.Trim(value, ` "`))
		}
		return values
	}
	setting := func(name string) string {
		found := regexp.MustCompile(name + `: "?([^",]+)`).FindStringSubmatch(text)
		if found == nil {
			t.Fatalf("the page has no %s", name)
		}
		return found[1]
	}
	c := newClient(a, oauth2.AuthStyleInHeader, setting("pkce") == "true", list("scope")...)
	c.RedirectURL, c.Config.ClientID, c.Config.ClientSecret = setting("redirect_uri"), setting("identifier"), setting("secret")
	return func(t *testing.T, username string) string {
		// omniauth_openid_connect sends the scope to the token endpoint, too.
		info := c.userinfo(t, c.signIn(t, username, oauth2.SetAuthURLParam("scope", strings.Join(c.Scopes, " "))))
		groups := texts(info[setting("groups_attribute")])
		switch {
		case info[setting("uid_field")] == "" || !intersect(groups, list("required_groups")):
			return refused
		case intersect(groups, list("admin_groups")):
			return "administrator"
		}
		return "user"
	}
}
