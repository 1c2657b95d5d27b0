package importer

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

type keycloakClient struct {
	ID             string                   `json:"id"`
	ClientID       string                   `json:"clientId"`
	Name           string                   `json:"name"`
	Description    string                   `json:"description"`
	RootURL        string                   `json:"rootUrl"`
	BaseURL        string                   `json:"baseUrl"`
	Enabled        *looseBool               `json:"enabled"`
	Authenticator  string                   `json:"clientAuthenticatorType"`
	Secret         string                   `json:"secret"`
	RedirectURIs   []string                 `json:"redirectUris"`
	WebOrigins     []string                 `json:"webOrigins"`
	BearerOnly     looseBool                `json:"bearerOnly"`
	Consent        looseBool                `json:"consentRequired"`
	Standard       *looseBool               `json:"standardFlowEnabled"`
	Implicit       looseBool                `json:"implicitFlowEnabled"`
	Direct         looseBool                `json:"directAccessGrantsEnabled"`
	ServiceAccount looseBool                `json:"serviceAccountsEnabled"`
	Public         looseBool                `json:"publicClient"`
	FullScope      *looseBool               `json:"fullScopeAllowed"`
	Protocol       string                   `json:"protocol"`
	Mappers        []keycloakMapper         `json:"protocolMappers"`
	FlowOverrides  map[string]string        `json:"authenticationFlowBindingOverrides"`
	DefaultScopes  []string                 `json:"defaultClientScopes"`
	OptionalScopes []string                 `json:"optionalClientScopes"`
	Attributes     keycloakClientAttributes `json:"attributes"`
}

type keycloakClientAttributes struct {
	Backchannel        looseText `json:"backchannel.logout.url"`
	BackchannelSession looseText `json:"backchannel.logout.session.required"` // always, here
	Refresh            looseText `json:"use.refresh.tokens"`
	KeySetURL          looseText `json:"jwks.url"`
	UseKeySetURL       looseText `json:"use.jwks.url"`
	KeySet             looseText `json:"jwks.string"`
	UseKeySet          looseText `json:"use.jwks.string"`
	Logouts            looseText `json:"post.logout.redirect.uris"`
	PKCE               looseText `json:"pkce.code.challenge.method"`
	TokenLifetime      looseText `json:"access.token.lifespan"`
	Lightweight        looseText `json:"client.use.lightweight.access.token.enabled"`
	Logo               looseText `json:"logoUri"`
	Terms              looseText `json:"tosUri"`
	Policy             looseText `json:"policyUri"`
}

// isKeycloakClient reports whether every realm has the client.
func isKeycloakClient(clientID string) bool {
	return slices.Contains([]string{"account", "account-console", "admin-cli", "broker", "realm-management", "security-admin-console"}, clientID)
}

// addClient adds a client of a realm.
func (k *keycloak) addClient(content *Resources, r *Report, in keycloakClient) {
	place := "client " + firstText(in.ClientID, in.Name)
	switch {
	case isKeycloakClient(in.ClientID):
		if in.ServiceAccount {
			r.add("clients", place, "a client of every realm has a service account here, which is not imported", "create an application of the type M2M for what uses it")
		}
		return
	case in.Protocol != "" && in.Protocol != "openid-connect":
		r.add("clients", place, fmt.Sprintf("the protocol %.40q is not supported", in.Protocol), "let the application use OpenID Connect")
		return
	case bool(in.BearerOnly):
		r.add("clients", place, "a bearer-only client is an API", "create a resource server with its permissions")
		return
	case isFalse(in.Enabled):
		r.add("clients", place, "a disabled client is not imported", "create it when you need it")
		return
	}
	k.reportClient(r, in, place)
	c := k.client(in, place)
	if !c.users && !c.service {
		r.add("clients", place, "the client has no grant that is supported", "let the application use the authorization code")
		return
	}
	k.authenticate(&c, in)
	k.setTokenLifetime(r, &c, in)
	c.noteWebOrigins(in.WebOrigins)
	if c.users {
		k.addClaims(r, &c, &in)
	} else {
		k.reportUnusedMappers(r, in, place)
	}
	c.add(content, r)
}

// client returns a client in common terms.
func (k *keycloak) client(in keycloakClient, place string) client {
	c := client{id: k.idOf("application", firstText(in.ID, in.ClientID)), foreignID: in.ID, clientID: in.ClientID, name: firstText(keycloakText(in.Name), in.ClientID), description: keycloakText(in.Description), place: place,
		url: keycloakURI(in.RootURL, in.BaseURL), public: bool(in.Public), service: bool(in.ServiceAccount), users: !isFalse(in.Standard), consent: bool(in.Consent), secret: in.Secret,
		backchannel: string(in.Attributes.Backchannel), refresh: in.Attributes.Refresh != "false", pkce: in.Attributes.PKCE == "S256", singlePage: allWeb(in.RedirectURIs),
		links: map[string]string{"logoUrl": string(in.Attributes.Logo), "tosUri": string(in.Attributes.Terms), "policyUri": string(in.Attributes.Policy)}}
	if !strings.Contains(c.url, "://") {
		c.url = in.RootURL
	}
	if strings.Contains(c.url, "${") {
		c.url = "" // an address of Keycloak
	}
	for _, uri := range in.RedirectURIs {
		c.redirects = append(c.redirects, keycloakURI(in.RootURL, uri))
	}
	for uri := range strings.SplitSeq(string(in.Attributes.Logouts), "##") {
		if uri == "+" {
			c.logouts = append(c.logouts, c.redirects...)
		} else if uri != "" && uri != "-" {
			c.logouts = append(c.logouts, keycloakURI(in.RootURL, uri))
		}
	}
	return c
}

// authenticate sets how a client authenticates. A method that does not exist here is replaced by the client secret.
func (k *keycloak) authenticate(c *client, in keycloakClient) {
	a := in.Attributes
	switch {
	case c.public || in.Authenticator == "" || in.Authenticator == "client-secret":
		return
	case in.Authenticator == "client-jwt" && a.KeySetURL != "" && a.UseKeySetURL != "false":
		c.jwksURI = string(a.KeySetURL)
		return
	case in.Authenticator == "client-jwt" && a.UseKeySet != "false" && json.Unmarshal([]byte(a.KeySet), &c.jwks) == nil:
		return
	}
	addNote(&c.notes, in.Authenticator, "the client authentication is not imported: the application has a client secret instead", "register its key set (jwks or jwksUri), if it has one")
}

// maxLifetime is the longest lifetime of a token here, in seconds.
const maxLifetime = 365 * 24 * 60 * 60

// setTokenLifetime sets the lifetime of access tokens: that of the client, or of the realm.
func (k *keycloak) setTokenLifetime(r *Report, c *client, in keycloakClient) {
	text := string(in.Attributes.TokenLifetime)
	if text == "" || text == "-1" {
		text = string(k.realm.TokenLifetime)
	}
	if seconds, err := strconv.Atoi(text); err == nil && seconds >= 10 && seconds <= maxLifetime {
		c.setToken("accessToken", "validityPeriod", seconds)
	} else if text != "" {
		r.add("clients", c.place, "the lifetime of access tokens is not imported: expected 10 seconds to a year", "set token.accessToken.validityPeriod")
	}
}

// reportUnusedMappers reports the mappers of a client without users, whose tokens have no claims.
func (k *keycloak) reportUnusedMappers(r *Report, in keycloakClient, place string) {
	for _, m := range in.Mappers {
		if m.Kind != "oidc-usersessionmodel-note-mapper" {
			r.add("clients", fmt.Sprintf("%s, mapper %s (%s)", place, m.Name, m.Kind), "tokens that an application gets on its own behalf have no claims", "let APIs check the client_id, or the permissions in the scope")
		}
	}
}

// noteWebOrigins notes the origins that may not call the server here: those of redirect URIs always may.
func (c *client) noteWebOrigins(origins []string) {
	var ignored []note
	covered := map[string]bool{"+": true}
	for _, uri := range c.exact(&ignored, "", c.redirects) {
		if u, err := url.Parse(textOf(uri)); err == nil {
			covered[u.Scheme+"://"+u.Host] = true
		}
	}
	for _, origin := range origins {
		if origin != "" && !covered[strings.TrimRight(origin, "/*")] {
			addNote(&c.notes, origin, "a web origin that no imported redirect URI has is left out", "add it to cors.allowed_origins, if scripts of it call the server")
		}
	}
}

// reportClient reports what applications here do not have.
func (k *keycloak) reportClient(r *Report, in keycloakClient, place string) {
	if in.Direct {
		r.add("clients", place, "the grant with the user's password (direct access grants) does not exist: OAuth 2.1 has removed it", "let the application use the authorization code")
	}
	if in.Implicit {
		r.add("clients", place, "the implicit grant does not exist: OAuth 2.1 has removed it", "let the application use the authorization code with PKCE")
	}
	if len(in.FlowOverrides) > 0 {
		r.add("clients", place, "the client has a sign-in flow of its own", "set its authFlowId after you have stored the translated flow")
	}
}

// keycloakText returns a text that is not a key of a translation.
func keycloakText(text string) string {
	if strings.HasPrefix(text, "${") {
		return ""
	}
	return text
}

// keycloakURI returns a URI that may be relative to the root URL of its client.
func keycloakURI(root, uri string) string {
	if strings.HasPrefix(uri, "/") && strings.Contains(root, "://") {
		return strings.TrimSuffix(root, "/") + uri
	}
	return uri
}
