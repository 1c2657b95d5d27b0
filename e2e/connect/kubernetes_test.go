package connect_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/oauth2"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/apis/apiserver/install"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/plugin/pkg/authenticator/token/oidc"
)

// newAuthenticator returns the authenticator of the API server with the configuration of the page.
func newAuthenticator(t *testing.T, configuration string) authenticator.Token {
	t.Helper()
	scheme := runtime.NewScheme()
	install.Install(scheme)
	decoded, err := runtime.Decode(serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDecoder(), []byte(configuration))
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := oidc.New(t.Context(), oidc.Options{JWTAuthenticator: decoded.(*apiserver.AuthenticationConfiguration).JWT[0],
		SupportedSigningAlgs: oidc.AllValidSigningAlgorithms()})
	if err != nil {
		t.Fatal(err)
	}
	if err := poll(nil, func() bool { return tokens.HealthCheck() == nil }); err != nil {
		t.Fatalf("%v: %v", err, tokens.HealthCheck())
	}
	return tokens
}

// binding is a ClusterRoleBinding.
type binding struct {
	RoleRef  struct{ Name string }
	Subjects []struct{ Kind, Name string }
}

// cluster is a Kubernetes with the authenticator and the bindings of the page.
type cluster struct {
	kubectl  *client
	tokens   authenticator.Token
	bindings []binding
}

func newCluster(t *testing.T, p *page, a application) *cluster {
	t.Helper()
	scopes := []string{"openid"}
	for _, argument := range readFlags(t, "kubectl", a.fill(p.block("kubectl config set-credentials")))["exec-arg"] {
		if scope, found := strings.CutPrefix(argument, "--oidc-extra-scope="); found {
			scopes = append(scopes, scope)
		}
	}
	a.redirect = strings.Replace(a.redirect, "8000", "18000", 1) // the second port of kubelogin
	return &cluster{newClient(a, oauth2.AuthStyleInParams, true, scopes...), newAuthenticator(t, a.fill(p.block("AuthenticationConfiguration"))),
		readYAML[binding](t, p.block("ClusterRoleBinding"))}
}

// rights returns the cluster roles of the user of an ID token, or why the API server rejects the token.
func (c *cluster) rights(t *testing.T, token *oauth2.Token, username string) (roles, reason string) {
	t.Helper()
	reply, authenticated, err := c.tokens.AuthenticateToken(t.Context(), idToken(t, token))
	if err != nil || !authenticated {
		reason = err.Error()
		if _, rule, found := strings.Cut(reason, "' failed: "); found {
			reason = rule // the message of a rule
		}
		return refused, reason
	}
	user := reply.User
	if want := "postern:" + claims(t, token)["sub"].(string); user.GetName() != want || !slices.Equal(user.GetExtra()["id.example.org/username"], []string{username}) {
		t.Errorf("the user is %q with %v, expected %q with the username %s", user.GetName(), user.GetExtra(), want, username)
	}
	found := map[string]bool{}
	for _, b := range c.bindings {
		for _, subject := range b.Subjects {
			if subject.Kind == "Group" && slices.Contains(user.GetGroups(), subject.Name) {
				found[b.RoleRef.Name] = true
			}
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(found)), " "), ""
}

// kubernetes signs a user in with kubelogin, and authenticates the ID token as the API server does.
func kubernetes(t *testing.T, p *page, a application) signIn {
	c := newCluster(t, p, a)
	return func(t *testing.T, username string) string {
		roles, reason := c.rights(t, c.kubectl.signIn(t, username), username)
		if roles == refused && (reason == "" || !strings.Contains(p.text, reason)) {
			t.Errorf("the API server rejects the token: %q; the page does not have that message", reason)
		}
		return roles
	}
}

// TestKubernetesRenewsGroups: a token keeps its groups until it expires; a renewed one has those of that time. The API
// server accepts ID tokens of its own client only, and no access tokens.
func TestKubernetesRenewsGroups(t *testing.T) {
	p := readPage(t, "kubernetes").rename("Cluster")
	p.text = strings.ReplaceAll(p.text, "kubernetes-", "cluster-")
	c := newCluster(t, p, running.create(t, p))
	running.createUser(t, "kim")
	running.run(t, "postern group create cluster-admins && postern group add-member cluster-admins --user kim")
	token := c.kubectl.signIn(t, "kim")
	running.run(t, "postern group remove-member cluster-admins --user kim")
	renewed, err := c.kubectl.TokenSource(t.Context(), &oauth2.Token{RefreshToken: token.RefreshToken}).Token()
	if err != nil {
		t.Fatal(err)
	}
	other := *c
	other.tokens = newAuthenticator(t, strings.Replace(c.kubectl.fill(p.block("AuthenticationConfiguration")), c.kubectl.application.ClientID, "another", 1))
	access := token.WithExtra(map[string]any{"id_token": token.AccessToken})
	for _, tt := range []struct {
		name string
		in   *cluster
		with *oauth2.Token
		want string
		why  string
	}{
		{"a token from before", c, token, "cluster-admin", ""},
		{"a renewed token", c, renewed, refused, "the user is in no group that begins with cluster-"},
		{"an access token", c, access, refused, "the user is in no group that begins with cluster-"},
		{"a token for another client", &other, token, refused, "oidc: expected audience \""},
	} {
		if got, reason := tt.in.rights(t, tt.with, "kim"); got != tt.want || !strings.Contains(reason, tt.why) || !strings.Contains(p.text, tt.why) {
			t.Errorf("%s gives %q (%s), expected %q (%s)", tt.name, got, reason, tt.want, tt.why)
		}
	}
}
