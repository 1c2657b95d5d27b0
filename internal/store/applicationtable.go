package store

import (
	"database/sql"
	"database/sql/driver"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// A row of applications is an application. If the application is an OAuth client,
// a row of oauth_profiles has its configuration; both are read together.
const joinProfiles = ` LEFT JOIN oauth_profiles ON application_id = id`

// Applications is the table of the applications, with their OAuth configurations. Of
// a client's secret only the hash is stored.
func Applications() *Table[schemas.Application] {
	table := newTable("application", schemas.CodeAppNotFound, "applications", applicationFields())
	table.join, table.joined = joinProfiles, profileColumns()
	table.scan, table.write = scanApplication, writeProfile
	return table
}

func applicationFields() fields[schemas.Application] {
	type app = schemas.Application
	return fields[app]{
		{column: "id", member: func(a *app) any { return &a.ID }},
		{column: "name", member: func(a *app) any { return &a.Name }, filter: "name", unique: true},
		{column: "description", member: func(a *app) any { return &a.Description }},
		{column: "ou_id", member: func(a *app) any { return &a.OUID }, filter: "ouId"},
		{column: "url", member: func(a *app) any { return &a.URL }},
		{column: "logo_url", member: func(a *app) any { return &a.LogoURL }},
		{column: "tos_uri", member: func(a *app) any { return &a.TosURI }},
		{column: "policy_uri", member: func(a *app) any { return &a.PolicyURI }},
		{column: "auth_flow_id", member: func(a *app) any { return &a.AuthFlowID }},
		{column: "registration_flow_id", member: func(a *app) any { return &a.RegistrationFlowID }},
		{column: "recovery_flow_id", member: func(a *app) any { return &a.RecoveryFlowID }},
		{column: "invitation_flow_id", member: func(a *app) any { return &a.InvitationFlowID }},
		{column: "address_flow_id", member: func(a *app) any { return &a.AddressFlowID }},
		{column: "registration_enabled", member: func(a *app) any { return &a.IsRegistrationFlowEnabled }},
		{column: "allowed_user_types", member: func(a *app) any { return (*lines)(&a.AllowedUserTypes) }},
		{column: "passkey_allowed_origins", member: func(a *app) any { return (*lines)(&a.PasskeyAllowedOrigins) }},
		{column: "assertion_validity", member: func(a *app) any { return &a.Assertion.ValidityPeriod }},
		{column: "assertion_attributes", member: func(a *app) any { return (*lines)(&a.Assertion.UserAttributes) }},
		{column: "customizations", member: func(a *app) any { return jsonColumn{&a.Customizations, len(a.Customizations) == 0} }},
		{column: "client_id", member: func(a *app) any { return (*nullText)(&a.ClientID) }, filter: "clientId"},
		{column: "type", member: func(a *app) any { return &a.Type }, filter: "type"},
		{column: "contacts", member: func(a *app) any { return (*lines)(&a.Contacts) }},
		{column: "registration", member: func(a *app) any { return &a.Registration }, filter: "registration"},
		{column: "verified", member: func(a *app) any { return &a.Verified }},
		{column: "require_consent", member: func(a *app) any { return &a.RequireConsent }},
		{column: "identifies_by", member: func(a *app) any { return &a.IdentifiesBy }},
		{column: "name_skeleton", member: func(a *app) any { return nameSkeleton{a} }},
		{column: "session_lifetime", member: func(a *app) any { return &a.SessionLifetime }},
		{column: "session_idle_timeout", member: func(a *app) any { return &a.SessionIdleTimeout }},
		{column: "former_secret_hash", member: func(a *app) any { return &a.FormerSecretHash }},
		{column: "former_secret_expires_at", member: func(a *app) any { return (*nullTime)(&a.FormerSecretExpiresAt) }},
		{column: "token_generation", member: func(a *app) any { return &a.TokenGeneration }},
		{column: "created_at", member: func(a *app) any { return (*microTime)(&a.CreatedAt) }},
		{column: "updated_at", member: func(a *app) any { return (*microTime)(&a.UpdatedAt) }},
	}
}

// nameSkeleton is the column with the skeleton of the name of an application that an administrator
// created.
type nameSkeleton struct{ *schemas.Application }

// Value implements driver.Valuer.
func (n nameSkeleton) Value() (driver.Value, error) {
	if n.Registration != "" {
		return "", nil
	}
	return schemas.NameSkeleton(n.Name), nil
}

// Scan implements sql.Scanner: the name has the information.
func (nameSkeleton) Scan(any) error { return nil }

// profileFields are the columns of oauth_profiles except application_id.
func profileFields() fields[schemas.OAuthProfile] {
	type profile = schemas.OAuthProfile
	return fields[profile]{
		{column: "secret_hash", member: func(c *profile) any { return &c.SecretHash }},
		{column: "redirect_uris", member: func(c *profile) any { return (*lines)(&c.RedirectURIs) }},
		{column: "post_logout_redirect_uris", member: func(c *profile) any { return (*lines)(&c.PostLogoutRedirectURIs) }},
		{column: "grant_types", member: func(c *profile) any { return (*lines)(&c.GrantTypes) }},
		{column: "response_types", member: func(c *profile) any { return (*lines)(&c.ResponseTypes) }},
		{column: "auth_method", member: func(c *profile) any { return orZero(&c.TokenEndpointAuthMethod) }},
		{column: "pkce_required", member: func(c *profile) any { return flag{&c.PKCERequired} }},
		{column: "public_client", member: func(c *profile) any { return flag{&c.PublicClient} }},
		{column: "scopes", member: func(c *profile) any { return (*lines)(&c.Scopes) }},
		{column: "access_token_validity", member: func(c *profile) any { return orZero(&c.Token.AccessToken.ValidityPeriod) }},
		{column: "id_token_validity", member: func(c *profile) any { return orZero(&c.Token.IDToken.ValidityPeriod) }},
		{column: "id_token_alg", member: func(c *profile) any { return orZero(&c.Token.IDToken.SignedResponseAlg) }},
		{column: "refresh_token_validity", member: func(c *profile) any { return orZero(&c.Token.RefreshToken.ValidityPeriod) }},
		{column: "jwks", member: func(c *profile) any { return jsonColumn{&c.JWKS, c.JWKS == nil} }},
		{column: "jwks_uri", member: func(c *profile) any { return orZero(&c.JWKSURI) }},
		{column: "backchannel_logout_uri", member: func(c *profile) any { return orZero(&c.BackchannelLogoutURI) }},
		{column: "backchannel_logout_session", member: func(c *profile) any { return orZero(&c.BackchannelLogoutSessionRequired) }},
		{column: "default_max_age", member: func(c *profile) any { return optionalInt{&c.DefaultMaxAge} }},
		{column: "default_acr_values", member: func(c *profile) any { return (*lines)(&c.DefaultACRValues) }},
		{column: "initiate_login_uri", member: func(c *profile) any { return orZero(&c.InitiateLoginURI) }},
		{column: "auth_signing_alg", member: func(c *profile) any { return orZero(&c.TokenEndpointAuthSigningAlg) }},
		{column: "claims", member: func(c *profile) any { return jsonColumn{&c.Claims, len(c.Claims) == 0} }},
		{column: "scope_claims", member: func(c *profile) any { return jsonColumn{&c.ScopeClaims, len(c.ScopeClaims) == 0} }},
		{column: "access_token_attributes", member: func(c *profile) any { return (*lines)(&c.Token.AccessToken.UserAttributes) }},
		{column: "id_token_attributes", member: func(c *profile) any { return (*lines)(&c.Token.IDToken.UserAttributes) }},
		{column: "userinfo_attributes", member: func(c *profile) any { return (*lines)(&c.UserInfo.UserAttributes) }},
	}
}

func profileColumns() []string {
	return append([]string{"application_id"}, profileFields().columns()...)
}

// scanApplication reads an application with its OAuth configuration.
func scanApplication(row scanner, a *schemas.Application) error {
	var owner sql.NullString
	var c schemas.OAuthProfile
	into := append(applicationFields().destinations(a), &owner)
	err := row.Scan(append(into, profileFields().destinations(&c)...)...)
	if err != nil || !owner.Valid {
		return err
	}
	c.ClientID = a.ClientID
	a.InboundAuthConfig = []schemas.InboundAuth{{Type: "oauth2", Config: c}}
	return nil
}

// writeOwnScopes stores the first parts of the scopes that an application declares.
func writeOwnScopes(t *Tx, applicationID string, c *schemas.OAuthProfile) error {
	if _, err := t.exec("DELETE FROM own_scopes WHERE application_id = ?", applicationID); err != nil {
		return err
	}
	for _, scope := range c.OwnScopes() {
		handle, _, _ := strings.Cut(scope, ":")
		if _, err := t.exec("INSERT INTO own_scopes (handle, application_id) VALUES (?, ?) ON CONFLICT (handle, application_id) DO NOTHING", handle, applicationID); err != nil {
			return err
		}
	}
	return nil
}

func writeProfile(t *Tx, a *schemas.Application) error {
	if _, err := t.exec("DELETE FROM oauth_profiles WHERE application_id = ?", a.ID); err != nil {
		return err
	}
	c := a.OAuth()
	if err := writeOwnScopes(t, a.ID, c); err != nil || c == nil {
		return err
	}
	values, err := profileFields().values(c)
	if err != nil {
		return err
	}
	columns := profileColumns()
	_, err = t.exec("INSERT INTO oauth_profiles ("+strings.Join(columns, ", ")+") VALUES ("+placeholders(len(columns))+")",
		append([]any{a.ID}, values...)...)
	return err
}
