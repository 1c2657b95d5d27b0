package directory

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// configPath is the path of an application's OAuth configuration.
const configPath = "inboundAuthConfig[0].config"

func inConfig(path string) string { return configPath + "." + path }

// completeClient fills in the OAuth configuration. Secrets and client ids stay unless the
// document sets them: a PUT without them must not lock out the client.
func completeClient(w *writeContext, old, a *schemas.Application) {
	o := a.OAuth()
	if o == nil {
		return
	}
	a.InboundAuthConfig = slices.Clone(a.InboundAuthConfig) // old may share it
	o = a.OAuth()
	o.ClientID = mergeTwice(w, "clientId", a.ClientID, o.ClientID)
	o.ClientID = cmp.Or(o.ClientID, old.ClientID, rand.Text())
	a.ClientID = o.ClientID
	completeMethod(a.Type, o)
	completeGrants(a.Type, o)
	mergeScopes(w, o)
	completeAccessToken(w, &o.Token.AccessToken)
	completeSecret(w, old, a, o)
}

// completeAccessToken merges the two spellings of the claims of access tokens.
func completeAccessToken(w *writeContext, r *schemas.AccessTokenRule) {
	other := r.UserConfig
	r.UserConfig = nil
	if other == nil || other.Attributes == nil {
		return
	}
	if r.UserAttributes != nil && !slices.Equal(r.UserAttributes, other.Attributes) {
		w.addInvalid(inConfig("token.accessToken.userConfig.attributes"), "expected the same list as in userAttributes; leave one of the two out")
	}
	r.UserAttributes = other.Attributes
}

// mergeTwice returns the value of a member that may stand at the top of an application, in
// its configuration, or in both.
func mergeTwice(w *writeContext, member, top, config string) string {
	if top != "" && config != "" && top != config {
		w.addInvalid(member, "expected the same value as in %s; leave one of them out", inConfig(member))
	}
	return cmp.Or(config, top)
}

// completeMethod fills in how a client authenticates: apps in browsers and on devices
// cannot keep a secret.
func completeMethod(appType string, o *schemas.OAuthProfile) {
	public := appType == schemas.SinglePageApp || appType == schemas.MobileApp
	switch {
	case o.PublicClient != nil:
		public = *o.PublicClient
	case o.TokenEndpointAuthMethod != "":
		public = o.TokenEndpointAuthMethod == schemas.AuthMethodNone
	}
	o.PublicClient = &public
	switch {
	case o.TokenEndpointAuthMethod != "":
	case public:
		o.TokenEndpointAuthMethod = schemas.AuthMethodNone
	case o.JWKS != nil || o.JWKSURI != "":
		o.TokenEndpointAuthMethod = schemas.AuthMethodPrivateKeyJWT
	}
}

func completeGrants(appType string, o *schemas.OAuthProfile) {
	if o.GrantTypes == nil && appType == schemas.MachineApp {
		o.GrantTypes = []string{schemas.GrantClientCredentials}
	} else if o.GrantTypes == nil {
		o.GrantTypes = []string{schemas.GrantAuthorizationCode}
	}
	if o.ResponseTypes == nil && grants(o, schemas.GrantAuthorizationCode) {
		o.ResponseTypes = []string{"code"}
	}
	if o.PKCERequired == nil {
		required := *o.PublicClient
		o.PKCERequired = &required
	}
}

func grants(o *schemas.OAuthProfile, grant string) bool { return slices.Contains(o.GrantTypes, grant) }

// checkClient checks an application as an OAuth client.
func checkClient(w *writeContext, was, a *schemas.Application) {
	o := a.OAuth()
	if o == nil {
		checkNoClient(w, was, a)
		return
	}
	checkClientID(w, was, a)
	checkMethod(w, o)
	checkGrants(w, o)
	checkSecret(w, o)
	checkKeys(w, o)
	checkRedirects(w, a.Type, o)
	checkTokens(w, o)
	checkSignIns(w, o)
	checkScopes(w, o)
	checkClaims(w, a, o)
}

// checkNoClient refuses the members of an OAuth client for an application that is none. A
// client id stored without a configuration may stay.
func checkNoClient(w *writeContext, was, a *schemas.Application) {
	if a.ClientID != "" && (a.ClientID != was.ClientID || was.OAuth() != nil) {
		w.addInvalid("clientId", "only an OAuth client has one; add inboundAuthConfig: [{type: oauth2}], or leave it out")
	}
	if a.ClientSecret != "" {
		w.addInvalid("clientSecret", "only an OAuth client has one; add inboundAuthConfig: [{type: oauth2}], or leave it out")
	}
}

// checkClientID prevents client ids that could be taken for another subject of a token: for
// a user (RFC 9700 §4.15), for another application in the audit log, or for a client
// identified by a URL, which belongs to the publisher of that URL.
func checkClientID(w *writeContext, was, a *schemas.Application) {
	id := a.ClientID
	if w.keeps(id == was.ClientID) {
		return
	}
	path := inConfig("clientId")
	lower := strings.ToLower(id)
	switch isURL := strings.HasPrefix(lower, "https:") || strings.HasPrefix(lower, "http:"); {
	case a.Registration == schemas.RegisteredByDocument:
		if normal, err := schemas.NormalURL(id); err != nil || normal != id {
			w.addInvalid(path, "expected a URL in its normal form, such as %.200q: two spellings would be two clients", cmp.Or(normal, "https://client.example.com/metadata.json"))
		}
	case isURL:
		w.addInvalid(path, "expected a name, got a URL; choose another, or leave it out to generate one")
	}
	if id == was.ClientID {
		return
	}
	other, err := store.Applications().Find(w.ctx, w.tx, "clientId", id)
	if w.fail(err) {
		return
	}
	if other != nil && other.ID != was.ID {
		w.addConflict(path, "%.64q is the client id of another application (%s); choose another", id, other.ID)
		return
	}
	noun, err := store.NounOf(w.ctx, w.tx, id)
	if !w.fail(err) && noun != "" && id != was.ID {
		w.addConflict(path, "it is the id of another resource (%s), which the client could be mistaken for; choose another", noun)
	}
}

func checkMethod(w *writeContext, o *schemas.OAuthProfile) {
	none := o.TokenEndpointAuthMethod == schemas.AuthMethodNone
	switch {
	case *o.PublicClient && !none:
		w.addInvalid(inConfig("tokenEndpointAuthMethod"), "expected %q, got %q: a public client cannot authenticate; set publicClient to false if it can",
			schemas.AuthMethodNone, o.TokenEndpointAuthMethod)
	case !*o.PublicClient && none:
		w.addInvalid(inConfig("tokenEndpointAuthMethod"), "expected another method than %q: a confidential client must authenticate; set publicClient to true if it is public",
			schemas.AuthMethodNone)
	}
	if *o.PublicClient && !*o.PKCERequired {
		w.addInvalid(inConfig("pkceRequired"), "expected true: without PKCE, a stolen code of a public client is enough to get its tokens")
	}
}

func checkGrants(w *writeContext, o *schemas.OAuthProfile) {
	code := grants(o, schemas.GrantAuthorizationCode)
	if grants(o, schemas.GrantRefreshToken) && !code {
		w.addInvalid(inConfig("grantTypes"), "%s needs %s, which issues the first refresh token; add it", schemas.GrantRefreshToken, schemas.GrantAuthorizationCode)
	}
	if grants(o, schemas.GrantClientCredentials) && *o.PublicClient {
		w.addInvalid(inConfig("grantTypes"), "a public client has no credentials for %s; remove it, or give the client a way to authenticate", schemas.GrantClientCredentials)
	}
	if has := slices.Contains(o.ResponseTypes, "code"); has != code {
		words := map[bool]string{true: `expected ["code"]`, false: "expected none"}
		w.addInvalid(inConfig("responseTypes"), "%s, as %s is %s the grants; leave it out to derive it", words[code],
			schemas.GrantAuthorizationCode, map[bool]string{true: "among", false: "not among"}[code])
	}
	if code && len(o.RedirectURIs) == 0 {
		w.addInvalid(inConfig("redirectUris"), "expected at least one: %s redirects users there", schemas.GrantAuthorizationCode)
	}
}

// checkTokens checks how the lifetimes of tokens relate. The schema has the bounds of each.
func checkTokens(w *writeContext, o *schemas.OAuthProfile) {
	t := o.Token
	if longest := int(schemas.MaxClientTokenTTL.Seconds()); grants(o, schemas.GrantClientCredentials) && t.AccessToken.ValidityPeriod > longest {
		w.addInvalid(inConfig("token.accessToken.validityPeriod"), "expected at most %d seconds for a client with the grant type %s, got %d: the client can get a new token at any time",
			longest, schemas.GrantClientCredentials, t.AccessToken.ValidityPeriod)
	}
	if refresh := t.RefreshToken.ValidityPeriod; refresh > 0 && refresh < t.AccessToken.ValidityPeriod {
		w.addInvalid(inConfig("token.refreshToken.validityPeriod"), "expected at least the %d seconds of the access token, got %d: it would expire before it is needed",
			t.AccessToken.ValidityPeriod, refresh)
	}
}

// checkSignIns checks what applies to sign-ins that do not ask for it themselves.
func checkSignIns(w *writeContext, o *schemas.OAuthProfile) {
	for i, class := range o.DefaultACRValues {
		if !schemas.KnownACR(class) {
			w.addInvalid(inConfig(fmt.Sprintf("defaultAcrValues[%d]", i)), "expected %s, got %.64q%s", schemas.OneOf(schemas.ACRs()), class, schemas.Hint(class, schemas.ACRs()))
		}
	}
	if uri := o.InitiateLoginURI; uri != "" {
		w.addFault(inConfig("initiateLoginUri"), redirectRules{}.fault(uri))
	}
}
