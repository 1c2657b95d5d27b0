package connect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/casbin/casbin/v2"
	"github.com/casbin/casbin/v2/model"
	stringadapter "github.com/casbin/casbin/v2/persist/string-adapter"
	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"sigs.k8s.io/yaml"
)

// The model of Argo CD's policies as its documentation describes it, and its two roles.
const (
	policyModel = `[request_definition]
r = sub, res, act, obj
[policy_definition]
p = sub, res, act, obj, eft
[role_definition]
g = _, _
[policy_effect]
e = some(where (p.eft == allow)) && !some(where (p.eft == deny))
[matchers]
m = g(r.sub, p.sub) && globMatch(r.res, p.res) && globMatch(r.act, p.act) && globMatch(r.obj, p.obj)
`
	builtInRoles = "p, role:admin, *, *, */*, allow\np, role:readonly, *, get, */*, allow\n"
)

// configMap is a ConfigMap of Argo CD.
type configMap struct{ Data map[string]string }

// oidcConfig is the member oidc.config of argocd-cm.
type oidcConfig struct {
	Issuer, ClientID, ClientSecret string
	EnablePKCEAuthentication       bool
	RequestedScopes                []string
}

// argoCD signs a user in, verifies the ID token and evaluates the policies for the user's groups.
func argoCD(t *testing.T, p *page, a application) signIn {
	var config oidcConfig
	if err := yaml.UnmarshalStrict([]byte(withoutLines(readYAML[configMap](t, a.fill(p.block("argocd-cm")))[0].Data["oidc.config"], "name:", "logoutURL:")), &config); err != nil {
		t.Fatal(err)
	}
	rules := readYAML[configMap](t, p.block("argocd-rbac-cm"))[0].Data
	var claimNames []string
	if err := yaml.Unmarshal([]byte(rules["scopes"]), &claimNames); err != nil {
		t.Fatal(err)
	}
	c := newClient(a, oauth2.AuthStyleAutoDetect, config.EnablePKCEAuthentication, config.RequestedScopes...)
	c.Config.ClientID, c.Config.ClientSecret = config.ClientID, config.ClientSecret
	provider, err := oidc.NewProvider(t.Context(), config.Issuer)
	if err != nil {
		t.Fatal(err)
	}
	policy, err := casbin.NewEnforcer(newModel(t), stringadapter.NewAdapter(builtInRoles+rules["policy.csv"]))
	if err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T, username string) string {
		verified, err := provider.Verifier(&oidc.Config{ClientID: config.ClientID}).Verify(t.Context(), idToken(t, c.signIn(t, username)))
		if err != nil {
			t.Fatal(err)
		}
		var values map[string]any
		if err := verified.Claims(&values); err != nil {
			t.Fatal(err)
		}
		subjects := []string{verified.Subject, rules["policy.default"]}
		for _, name := range claimNames {
			subjects = append(subjects, texts(values[name])...)
		}
		return allowed(t, policy, subjects)
	}
}

func newModel(t *testing.T) model.Model {
	t.Helper()
	m, err := model.NewModelFromString(policyModel)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// allowed returns what some subjects may do with an application of Argo CD.
func allowed(t *testing.T, policy *casbin.Enforcer, subjects []string) string {
	t.Helper()
	var actions []string
	for _, action := range []string{"get", "sync", "delete"} {
		for _, subject := range subjects {
			ok, err := policy.Enforce(subject, "applications", action, "default/shop")
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				actions = append(actions, action)
				break
			}
		}
	}
	return strings.Join(actions, " ")
}

// withoutLines removes lines that begin with some words.
func withoutLines(text string, words ...string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if first, _, _ := strings.Cut(line, " "); !slices.Contains(words, first) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}
