package importer

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// client is an OAuth client in common terms.
type client struct {
	id, foreignID, clientID, name, description, place string
	url                                               string
	public, service, users, consent                   bool
	secret                                            string
	redirects, logouts                                []string
	backchannel                                       string
	jwksURI                                           string
	refresh                                           bool
	singlePage                                        bool
	pkce                                              bool
	tokenLifetime                                     int // seconds; 0 for the default
}

// minSecret is the least length of a client secret.
const minSecret = 32

// add adds the client as an application. Redirect URIs that are patterns, and secrets that are too short, are
// reported with the application: nothing is said about a client that is not imported but why.
func (c client) add(content *Resources, r *Report) {
	var notes []note
	redirects := c.exact(&notes, c.redirects)
	if c.users && len(redirects) == 0 {
		r.add("clients", c.place, "the client is not imported: no redirect URI can be compared exactly (RFC 9700 §4.1.3), and none of its patterns has a start that is a URI", "create the application with each URI that it uses")
		return
	}
	resource := c.resource(&notes, redirects)
	resource.notes = notes
	content.List = append(content.List, resource)
}

func (c client) resource(notes *[]note, redirects []any) Resource {
	config := map[string]any{"clientId": c.clientID}
	grants := []any{}
	if c.pkce && c.users {
		config["pkceRequired"] = true
	}
	if c.tokenLifetime > 0 {
		config["token"] = map[string]any{"accessToken": map[string]any{"validityPeriod": c.tokenLifetime}}
	}
	if c.users {
		grants = append(grants, "authorization_code")
		config["redirectUris"] = redirects
		if logouts := c.exact(notes, c.logouts); len(logouts) > 0 {
			config["postLogoutRedirectUris"] = logouts
		}
		if c.refresh {
			grants = append(grants, "refresh_token")
		}
	}
	switch {
	case c.service && !c.public:
		grants = append(grants, "client_credentials")
	case c.service:
		addNote(notes, "a public client has no secret, and no grant on its own behalf (client_credentials)", "create another application for what runs without a user")
	}
	config["grantTypes"] = grants
	if c.backchannel != "" {
		config["backchannelLogoutUri"] = c.backchannel
	}
	out := Resource{Plural: "applications", Key: c.clientID, Place: c.place, ForeignID: c.foreignID}
	content := map[string]any{"id": c.id, "name": c.name, "type": c.kind(), "inboundAuthConfig": []any{map[string]any{"type": "oauth2", "config": config}}}
	switch {
	case c.public:
		config["tokenEndpointAuthMethod"], config["publicClient"] = "none", true
	case c.jwksURI != "":
		config["tokenEndpointAuthMethod"], config["jwksUri"] = "private_key_jwt", c.jwksURI
	case c.secret != "" && strings.Trim(c.secret, "*") != "" && len(c.secret) >= minSecret:
		out.Secret, config["clientSecret"] = c.secret, secretSource()
	default:
		addNote(notes, "the export has no client secret, or one of fewer than 32 characters: the client gets a new one", "rotate the secret in the console, and configure it in the application")
	}
	if c.description != "" {
		content["description"] = c.description
	}
	if u, err := url.Parse(c.url); err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" {
		content["url"] = c.url
	}
	if c.consent {
		content["requireConsent"] = true
	}
	out.Content = content
	return out
}

func (c client) kind() string {
	switch {
	case !c.users:
		return "M2M"
	case c.public && c.singlePage:
		return "SPA"
	case c.public:
		return "MOBILE"
	}
	return "SERVER"
}

// note is something that is not imported of a resource.
type note struct{ problem, fix string }

func addNote(notes *[]note, problem, fix string) {
	if n := (note{problem, fix}); !slices.Contains(*notes, n) {
		*notes = append(*notes, n)
	}
}

// exact returns the URIs that can be compared exactly. Of a pattern that ends in *, that is its start.
func (c client) exact(notes *[]note, uris []string) (list []any) {
	list = []any{}
	for _, uri := range uris {
		start, isPattern := strings.CutSuffix(uri, "*")
		u, err := url.Parse(start)
		switch {
		case strings.Contains(start, "*") || err != nil || u.Scheme == "" || (u.Scheme == "http" || u.Scheme == "https") && u.Host == "" || isPattern && u.Path == "":
			addNote(notes, "a redirect URI is a pattern or relative, and is left out: URIs are compared exactly (RFC 9700 §4.1.3)", "add each URI that the application uses")
			continue
		case u.Scheme == "http" && u.Hostname() != "localhost" && u.Hostname() != "127.0.0.1" && u.Hostname() != "::1":
			addNote(notes, "a redirect URI with http:// is left out", "use https://")
			continue
		case isPattern:
			addNote(notes, "a redirect URI is a pattern, and only the start is imported: URIs are compared exactly (RFC 9700 §4.1.3)", "add each URI that the application uses")
		}
		if !slices.Contains(list, any(start)) {
			list = append(list, start)
		}
	}
	return list
}

// allWeb reports whether all redirect URIs are of web pages.
func allWeb(uris []string) bool {
	for _, uri := range uris {
		if !strings.HasPrefix(uri, "https://") && !strings.HasPrefix(uri, "http://") && !strings.HasPrefix(uri, "/") && uri != "*" {
			return false
		}
	}
	return true
}

// addClient adds a client of a realm.
func (k *keycloak) addClient(content *Resources, r *Report, in keycloakClient) {
	place := "client " + in.ClientID
	switch {
	case isKeycloakClient(in.ClientID):
		return
	case in.Protocol != "" && in.Protocol != "openid-connect":
		r.add("clients", place, fmt.Sprintf("the protocol %.40q is not supported", in.Protocol), "let the application use OpenID Connect")
		return
	case in.BearerOnly:
		r.add("clients", place, "a bearer-only client is an API", "create a resource server with its permissions")
		return
	case in.Enabled != nil && !*in.Enabled:
		r.add("clients", place, "a disabled client is not imported", "create it when you need it")
		return
	}
	k.reportClient(r, in, place)
	c := client{id: k.idOf("application", firstText(in.ID, in.ClientID)), foreignID: in.ID, clientID: in.ClientID, name: keycloakText(in.Name), description: keycloakText(in.Description), place: place,
		url: in.BaseURL, public: in.Public, service: in.ServiceAccount, users: in.Standard == nil || *in.Standard, consent: in.Consent, secret: in.Secret,
		backchannel: string(in.Attributes.Backchannel), refresh: in.Attributes.Refresh != "false", pkce: in.Attributes.PKCE == "S256", singlePage: allWeb(in.RedirectURIs)}
	if c.name == "" {
		c.name = in.ClientID
	}
	if !strings.Contains(c.url, "://") {
		c.url = in.RootURL
	}
	if in.Authenticator == "client-jwt" {
		c.jwksURI = string(in.Attributes.KeySet)
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
	if !c.users && !c.service {
		r.add("clients", place, "the client has no grant that is supported", "let the application use the authorization code")
		return
	}
	if seconds, err := strconv.Atoi(string(in.Attributes.TokenLifetime)); err == nil && seconds >= 10 {
		c.tokenLifetime = seconds
	} else if in.Attributes.TokenLifetime != "" && in.Attributes.TokenLifetime != "-1" {
		r.add("clients", place, "the lifetime of access tokens is not imported: expected at least 10 seconds", "set token.accessToken.validityPeriod")
	}
	c.add(content, r)
}

// reportClient reports what applications here do not have.
func (k *keycloak) reportClient(r *Report, in keycloakClient, place string) {
	if in.Direct {
		r.add("clients", place, "the grant with the user's password (direct access grants) does not exist: OAuth 2.1 has removed it", "let the application use the authorization code")
	}
	if in.Implicit {
		r.add("clients", place, "the implicit grant does not exist: OAuth 2.1 has removed it", "let the application use the authorization code with PKCE")
	}
	for _, scope := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(in.DefaultScopes, in.OptionalScopes)))) {
		if !isKeycloakScope(scope) {
			r.add("clients", place, fmt.Sprintf("the client scope %.60q is not imported: tokens do not get its claims and audience", scope), "create a resource server with a permission of this name, and add it to the scopes of the application")
		}
	}
	if len(in.Mappers) > 0 {
		r.add("clients", place, "protocol mappers are not imported", "choose the attributes in assertion.userAttributes, and use scopes")
	}
	if len(in.FlowOverrides) > 0 {
		r.add("clients", place, "the client has a sign-in flow of its own", "set its authFlowId after you have stored the translated flow")
	}
}

// keycloakURI returns a URI that may be relative to the root URL of its client.
func keycloakURI(root, uri string) string {
	if strings.HasPrefix(uri, "/") && strings.Contains(root, "://") {
		return strings.TrimSuffix(root, "/") + uri
	}
	return uri
}
