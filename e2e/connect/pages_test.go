package connect_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/oauth2"
)

// TestClaimsOfPages: the claims that a page offers for its command are accepted, and contain the groups of the product
// only.
func TestClaimsOfPages(t *testing.T) {
	running.createUser(t, "cleo")
	running.run(t, "postern group create others && postern group add-member others --user cleo")
	flag := regexp.MustCompile(`--claim '(\{[^']*\})'`)
	found := 0
	names, err := filepath.Glob("../../docs/connect/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		page := strings.TrimSuffix(filepath.Base(name), ".md")
		for i, offered := range flag.FindAllStringSubmatch(readPage(t, page).text, -1) {
			found++
			var claim struct{ Name, Prefix string }
			if err := json.Unmarshal([]byte(offered[1]), &claim); err != nil {
				t.Fatalf("%s: %v", page, err)
			}
			p := readPage(t, page)
			p.text = fmt.Sprintf("```sh\npostern app create 'Claims of %s %d' --type web --redirect https://a.example/callback --scope groups --claim '%s'\n```\n", page, i, offered[1])
			c := newClient(running.create(t, p), oauth2.AuthStyleInHeader, true, "openid", "groups")
			if claim.Prefix != "" {
				running.run(t, fmt.Sprintf("postern group create %[1]sclaims && postern group add-member %[1]sclaims --user cleo", claim.Prefix))
			}
			value := claims(t, c.signIn(t, "cleo"))[claim.Name]
			if claim.Prefix == "" && value == nil || claim.Prefix != "" && !slices.Equal(texts(value), []string{claim.Prefix + "claims"}) {
				t.Errorf("%s: %s gives %v", page, offered[1], value)
			}
		}
	}
	if found < 5 {
		t.Errorf("only %d claims were found", found)
	}
}

// TestMessagesOfPages: a product that is configured as the page warns gets the answer that the page explains.
func TestMessagesOfPages(t *testing.T) {
	const address = "a page of the server about the redirect URI"
	for _, tt := range []struct {
		page, message string
		change        func(c *client)
		target        string // of the redirect
	}{
		{"grafana", "code_challenge is missing: ", func(c *client) {}, "https://grafana.example.org/login/generic_oauth"},
		{"jenkins", "code_challenge is missing: ", func(c *client) {}, "https://jenkins.example.org/securityRealm/finishLogin"},
		{"nextcloud", address, func(c *client) { c.RedirectURL = "https://cloud.example.org/index.php/apps/user_oidc/code" }, running.issuer + "/gate/error"},
		{"argocd", address, func(c *client) { c.RedirectURL = "https://argocd.example.org/pkce/verify" }, running.issuer + "/gate/error"},
		{"kubernetes", address, func(c *client) { c.RedirectURL = "http://localhost:8000/" }, running.issuer + "/gate/error"},
	} {
		p := readPage(t, tt.page).rename("Messages of " + tt.page)
		c := newClient(running.create(t, p), oauth2.AuthStyleInHeader, false, "openid")
		tt.change(c)
		browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		r, err := browser.Get(c.AuthCodeURL("state"))
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		to, err := r.Location()
		if err != nil {
			t.Fatal(err)
		}
		description := to.Query().Get("error_description")
		if !strings.HasPrefix(to.String(), tt.target+"?") || !strings.Contains(p.text, tt.message) || tt.message != address && !strings.HasPrefix(description, tt.message) {
			t.Errorf("%s: the server redirects to %s, and the page should explain %q", tt.page, to, tt.message)
		}
	}
}
