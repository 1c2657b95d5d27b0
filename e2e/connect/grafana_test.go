package connect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jmespath-community/go-jmespath"
	"golang.org/x/oauth2"
)

// grafana signs a user in, and evaluates the role over the ID token and then over the userinfo.
func grafana(t *testing.T, p *page, a application) signIn {
	ini := readSettings(a.fill(p.block("[auth.generic_oauth]")))
	c := newClient(a, oauth2.AuthStyleInHeader, ini["use_pkce"] == "true", strings.Fields(ini["scopes"])...)
	c.Endpoint.AuthURL, c.Endpoint.TokenURL = ini["auth_url"], ini["token_url"]
	c.Config.ClientID, c.Config.ClientSecret = ini["client_id"], strings.TrimSuffix(strings.TrimPrefix(ini["client_secret"], "$__env{"), "}")
	return func(t *testing.T, username string) string {
		token := c.signIn(t, username)
		documents := []map[string]any{claims(t, token), c.userinfo(t, token)}
		checkGroups(t, ini["groups_attribute_path"], documents)
		for _, document := range documents {
			if login := search(t, ini["login_attribute_path"], document); login != document["sub"] {
				t.Errorf("the login is %v", login)
			}
			if role, isText := search(t, ini["role_attribute_path"], document).(string); isText && role != "" {
				return role
			}
		}
		if ini["role_attribute_strict"] == "true" {
			return refused
		}
		return "Viewer" // the default of auto_assign_org_role
	}
}

// checkGroups expects the groups in each document: the ID token decides about the role before the userinfo does.
func checkGroups(t *testing.T, path string, documents []map[string]any) {
	t.Helper()
	var first []string
	for i, document := range documents {
		list, isList := search(t, path, document).([]any)
		if !isList {
			t.Fatalf("%s is %v in document %d", path, list, i)
		}
		if groups := texts(list); i == 0 {
			first = groups
		} else if !slices.Equal(first, groups) {
			t.Errorf("the userinfo has the groups %v, and the ID token %v", groups, first)
		}
	}
}

// search evaluates a JMESPath expression.
func search(t *testing.T, expression string, document map[string]any) any {
	t.Helper()
	value, err := jmespath.Search(expression, document)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// TestGrafanaWithoutGroups: without the scope the expression of the page fails with the message that the page explains.
func TestGrafanaWithoutGroups(t *testing.T) {
	p := readPage(t, "grafana")
	expression := readSettings(p.block("[auth.generic_oauth]"))["role_attribute_path"]
	_, err := jmespath.Search(expression, map[string]any{"sub": "1"})
	if err == nil || !strings.Contains(p.text, err.Error()) {
		t.Errorf("the expression fails with %v, which the page does not have", err)
	}
}
