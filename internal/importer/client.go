package importer

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
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
	jwks                                              map[string]any
	links                                             map[string]string // addresses of the application, by their members
	refresh                                           bool
	singlePage                                        bool
	pkce                                              bool
	claims                                            []schemas.Claim
	scopes                                            []string // that users can grant; nil for all
	scopeClaims                                       map[string][]string
	userInfo, assertion                               []string                  // limits of claims; nil for none
	token                                             map[string]map[string]any // rules of tokens, by their kind
	notes                                             []note
}

// clientSecret matches the client secrets that can be stored.
var clientSecret = regexp.MustCompile(`^[\x21-\x7e]{32,500}$`)

// isClientSecret reports whether a secret can be imported. One of asterisks is masked.
func isClientSecret(secret string) bool {
	return clientSecret.MatchString(secret) && strings.Trim(secret, "*") != ""
}

// add adds the client as an application. Redirect URIs that are patterns, and secrets that are too short, are
// reported with the application: nothing is said about a client that is not imported but why.
func (c client) add(content *Resources, r *Report) {
	notes := slices.Clone(c.notes)
	redirects := c.exact(&notes, "redirect URI", c.redirects)
	switch {
	case !c.users:
		for _, uri := range c.redirects {
			addNote(&notes, uri, "a redirect URI is left out: the client has no grant with users", "add the grant authorization_code and the URI, if users sign in to it")
		}
	case len(redirects) > 0:
	case c.service && !c.public:
		c.users = false
		addNote(&notes, "", "users cannot sign in to the application: no redirect URI can be compared exactly (RFC 9700 §4.1.3). Only its grant on its own behalf is imported", "add the grant authorization_code and each URI that it uses, if users sign in to it")
	case len(c.redirects) == 0:
		r.add("clients", c.place, "the client is not imported: users can only sign in to a client with a redirect URI, and it has none", "create the application with each URI that it uses")
		return
	default:
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
	if len(c.token) > 0 {
		config["token"] = c.token
	}
	if c.users {
		grants = append(grants, "authorization_code")
		config["redirectUris"] = redirects
		if logouts := c.exact(notes, "post-logout redirect URI", c.logouts); len(logouts) > 0 {
			config["postLogoutRedirectUris"] = logouts
		}
		if c.refresh {
			grants = append(grants, "refresh_token")
		}
		c.describeUsers(config)
	}
	switch {
	case c.service && !c.public:
		grants = append(grants, "client_credentials")
	case c.service:
		addNote(notes, "", "a public client has no secret, and no grant on its own behalf (client_credentials)", "create another application for what runs without a user")
	}
	config["grantTypes"] = grants
	if c.backchannel != "" {
		config["backchannelLogoutUri"] = c.backchannel
		config["backchannelLogoutSessionRequired"] = true
	}
	out := Resource{Plural: "applications", Key: c.clientID, Place: c.place, ForeignID: c.foreignID}
	content := map[string]any{"id": c.id, "name": c.name, "type": c.kind(), "inboundAuthConfig": []any{map[string]any{"type": "oauth2", "config": config}}}
	c.authenticate(config, &out, notes)
	c.describe(content)
	out.Content = content
	return out
}

// setToken sets a rule of a kind of tokens, unless it is an absent list.
func (c *client) setToken(kind, name string, value any) {
	if list, is := value.([]string); is && list == nil {
		return
	}
	if c.token == nil {
		c.token = map[string]map[string]any{}
	}
	if c.token[kind] == nil {
		c.token[kind] = map[string]any{}
	}
	c.token[kind][name] = value
}

// describeUsers sets what the client learns about users.
func (c client) describeUsers(config map[string]any) {
	if len(c.claims) > 0 {
		config["claims"] = c.claims
	}
	if len(c.scopeClaims) > 0 {
		config["scopeClaims"] = c.scopeClaims
	}
	if len(c.scopes) > 0 {
		config["scopes"] = c.scopes
	}
	if c.userInfo != nil {
		config["userInfo"] = map[string]any{"userAttributes": c.userInfo}
	}
}

// authenticate sets how the client authenticates.
func (c client) authenticate(config map[string]any, out *Resource, notes *[]note) {
	switch {
	case c.public:
		config["tokenEndpointAuthMethod"], config["publicClient"] = "none", true
	case c.jwksURI != "":
		config["tokenEndpointAuthMethod"], config["jwksUri"] = "private_key_jwt", c.jwksURI
	case c.jwks != nil:
		config["tokenEndpointAuthMethod"], config["jwks"] = "private_key_jwt", c.jwks
	case isClientSecret(c.secret):
		out.Secret, config["clientSecret"] = c.secret, secretSource()
	default:
		addNote(notes, "", "the export has no client secret, or not one of at least 32 printable ASCII characters: the client gets a new one", "rotate the secret in the console, and configure it in the application")
	}
}

// secretSource stands for the secret of a resource.
func secretSource() map[string]any { return map[string]any{"env": "SECRET"} }

// describe sets what users see of the application.
func (c client) describe(content map[string]any) {
	if c.description != "" {
		content["description"] = c.description
	}
	if c.url != "" {
		content["url"] = c.url
	}
	for member, link := range c.links {
		if link != "" {
			content[member] = link
		}
	}
	if c.consent {
		content["requireConsent"] = true
	}
	if c.assertion != nil {
		content["assertion"] = map[string]any{"userAttributes": c.assertion}
	}
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

// note is something that is not imported of a resource. Value is the part of it, "" for the whole.
type note struct{ value, problem, fix string }

func addNote(notes *[]note, value, problem, fix string) {
	if n := (note{value, problem, fix}); !slices.Contains(*notes, n) {
		*notes = append(*notes, n)
	}
}

// exact returns the URIs that can be compared exactly. Of a pattern that ends in *, that is its start.
func (c client) exact(notes *[]note, noun string, uris []string) (list []any) {
	list = []any{}
	for _, uri := range uris {
		start, isPattern := strings.CutSuffix(uri, "*")
		u, err := url.Parse(start)
		switch {
		case strings.Contains(start, "*") || err != nil || u.Scheme == "" || (u.Scheme == "http" || u.Scheme == "https") && u.Host == "" || isPattern && u.Path == "":
			addNote(notes, uri, "a "+noun+" is a pattern or relative, and is left out: URIs are compared exactly (RFC 9700 §4.1.3)", "add each URI that the application uses")
			continue
		case u.Scheme == "http" && u.Hostname() != "localhost" && u.Hostname() != "127.0.0.1" && u.Hostname() != "::1":
			addNote(notes, uri, "a "+noun+" with http:// is left out", "use https://")
			continue
		case isPattern:
			addNote(notes, uri, "a "+noun+" is a pattern, and only the start is imported: URIs are compared exactly (RFC 9700 §4.1.3)", "add each URI that the application uses")
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
