package importer

import (
	"fmt"
	"strings"
)

type keycloakProvider struct {
	ID         string                 `json:"internalId"`
	Alias      string                 `json:"alias"`
	Name       string                 `json:"displayName"`
	ProviderID string                 `json:"providerId"`
	Enabled    *looseBool             `json:"enabled"`
	Config     keycloakProviderConfig `json:"config"`
}

type keycloakProviderConfig struct {
	ClientID     looseText `json:"clientId"`
	ClientSecret looseText `json:"clientSecret"`
	ClientAuth   looseText `json:"clientAuthMethod"`
	Issuer       looseText `json:"issuer"`
	Scopes       looseText `json:"defaultScope"`
	HostedDomain looseText `json:"hostedDomain"` // of Google

	// The metadata of the issuer have these, and every sign-in here uses PKCE and verifies signatures.
	AuthorizationURL looseText `json:"authorizationUrl"`
	TokenURL         looseText `json:"tokenUrl"`
	UserinfoURL      looseText `json:"userInfoUrl"`
	KeySetURL        looseText `json:"jwksUrl"`
	UseKeySetURL     looseText `json:"useJwksUrl"`
	MetadataURL      looseText `json:"metadataDescriptorUrl"`
	Validate         looseText `json:"validateSignature"`
	PKCE             looseText `json:"pkceEnabled"`
	PKCEMethod       looseText `json:"pkceMethod"`
}

// addProvider adds an OpenID provider.
func (k *keycloak) addProvider(content *Resources, r *Report, p keycloakProvider) {
	place, issuer := "identity provider "+p.Alias, k.issuerOf(p.Alias)
	secret, method := string(p.Config.ClientSecret), string(p.Config.ClientAuth)
	switch {
	case isFalse(p.Enabled):
		r.add("identity providers", place, "a disabled provider is not imported", "create it when you need it")
		return
	case p.ProviderID != "oidc" && p.ProviderID != "keycloak-oidc" && p.ProviderID != "google" || issuer == "":
		r.add("identity providers", place, fmt.Sprintf("a provider of the kind %.40q cannot be imported: only OpenID providers with an issuer can", p.ProviderID), "use the OpenID endpoint of the provider, if it has one (docs/federation.md)")
		return
	case strings.HasSuffix(method, "_jwt"):
		r.add("identity providers", place, fmt.Sprintf("the client authentication %.40q at the provider is not supported", method), "register a client with a secret there, and create the provider by hand (docs/federation.md)")
		return
	case secret == "" || strings.Trim(secret, "*") == "":
		r.add("identity providers", place, "the export has no client secret", "create the provider by hand before the import (docs/federation.md)")
		return
	}
	if p.Config.HostedDomain != "" {
		r.add("identity providers", place, "the limit to users of a hosted domain is not imported: users of other domains can sign in with the provider", "limit who may sign in at the provider, or check the address in the flow")
	}
	c := map[string]any{"id": k.idOf("identityProvider", p.ID+p.Alias), "handle": slug(p.Alias), "name": firstText(p.Name, p.Alias), "issuer": issuer, "clientId": string(p.Config.ClientID), "clientSecret": secretSource()}
	if method != "" {
		c["tokenEndpointAuthMethod"] = method
	}
	if scopes := strings.Fields(string(p.Config.Scopes)); len(scopes) > 0 {
		c["scopes"] = scopes
	}
	content.List = append(content.List, Resource{Plural: "identityProviders", Key: p.Alias, Place: place, ForeignID: p.ID, Secret: secret, Content: c})
}

// issuerOf returns the issuer of a provider; "" for one without, such as GitHub.
func (k *keycloak) issuerOf(alias string) string {
	for _, p := range k.realm.Providers.List {
		if p.Alias == alias && p.ProviderID == "google" {
			return "https://accounts.google.com"
		}
		if p.Alias == alias {
			return string(p.Config.Issuer)
		}
	}
	return ""
}
