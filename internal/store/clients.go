package store

import (
	"database/sql"
	"encoding/json"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Applications are rows of applications; those that are OAuth clients have one
// of oauth_profiles besides, and are read along with it.
const (
	applicationColumns = `id, name, description, ou_id, url, logo_url, tos_uri, policy_uri, auth_flow_id,
		registration_flow_id, registration_enabled, allowed_user_types, passkey_allowed_origins, assertion_validity,
		assertion_attributes, customizations, client_id, type, contacts, registration, verified, require_consent, token_generation, created_at, updated_at`

	profileColumns = `application_id, secret_hash, redirect_uris, post_logout_redirect_uris, grant_types, response_types,
		auth_method, pkce_required, public_client, scopes, access_token_validity, id_token_validity, id_token_alg,
		refresh_token_validity, jwks, jwks_uri, backchannel_logout_uri, backchannel_logout_session`

	joinProfiles = ` LEFT JOIN oauth_profiles ON application_id = id`
)

// Applications is the table of the applications, with their OAuth
// configurations. Of a client's secret only the hash is kept.
func Applications() *Table[schemas.Application] {
	return &Table[schemas.Application]{
		noun: "application", code: schemas.CodeAppNotFound, name: "applications",
		columns: names(applicationColumns), join: joinProfiles, joined: names(profileColumns),
		filters: map[string]string{"name": "name = ?", "clientId": "client_id = ?", "ouId": "ou_id = ?", "registration": "registration = ?", "type": "type = ?"},
		id:      func(a *schemas.Application) string { return a.ID },
		values:  applicationValues,
		scan:    scanApplication,
		write:   writeProfile,
	}
}

// names are those of a list of columns.
func names(columns string) []string {
	return strings.FieldsFunc(columns, func(c rune) bool { return strings.ContainsRune(", \t\n", c) })
}

func applicationValues(a *schemas.Application) ([]any, error) {
	customizations, err := optionalJSON(a.Customizations)
	if err != nil {
		return nil, err
	}
	kept, err := splitLines(a.AllowedUserTypes, a.PasskeyAllowedOrigins, a.Assertion.UserAttributes, a.Contacts)
	if err != nil {
		return nil, err
	}
	return []any{a.ID, a.Name, a.Description, a.OUID, a.URL, a.LogoURL, a.TosURI, a.PolicyURI,
		a.AuthFlowID, a.RegistrationFlowID, a.IsRegistrationFlowEnabled, kept[0], kept[1],
		int64(a.Assertion.ValidityPeriod), kept[2], customizations, nullable(a.ClientID), a.Type, kept[3],
		a.Registration, a.Verified, a.RequireConsent, a.TokenGeneration, toMicros(a.CreatedAt), toMicros(a.UpdatedAt)}, nil
}

// splitLines is lines for several lists.
func splitLines(lists ...[]string) ([]sql.NullString, error) {
	kept := make([]sql.NullString, len(lists))
	for i, list := range lists {
		var err error
		if kept[i], err = joinLines(list); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// profile is an OAuth configuration as it is kept. Where an application has none
// all is NULL.
type profile struct {
	application, redirects, logouts, grants, responses, method, scopes, alg, jwksURI, backchannel sql.NullString
	hash, jwks                                                                                    []byte
	pkce, public, backchannelSession                                                              sql.NullBool
	access, id, refresh                                                                           sql.NullInt64
}

// applicationRow reads the columns of applications into an application.
type applicationRow struct {
	*schemas.Application
	types, origins, attributes, client, contacts sql.NullString
	customizations                               []byte
}

func (a *applicationRow) columns() []any {
	return []any{&a.ID, &a.Name, &a.Description, &a.OUID, &a.URL, &a.LogoURL, &a.TosURI, &a.PolicyURI,
		&a.AuthFlowID, &a.RegistrationFlowID, &a.IsRegistrationFlowEnabled, &a.types, &a.origins,
		&a.Assertion.ValidityPeriod, &a.attributes, &a.customizations, &a.client, &a.Type, &a.contacts,
		&a.Registration, &a.Verified, &a.RequireConsent, &a.TokenGeneration, (*microTime)(&a.CreatedAt), (*microTime)(&a.UpdatedAt)}
}

func (a *applicationRow) finish() error {
	a.AllowedUserTypes, a.PasskeyAllowedOrigins, a.Contacts = list(a.types), list(a.origins), list(a.contacts)
	a.Assertion.UserAttributes, a.ClientID = list(a.attributes), a.client.String
	return parse(a.customizations, &a.Customizations)
}

// scanPlain reads an application without its OAuth configuration.
func scanPlain(row scanner, a *schemas.Application) error {
	r := applicationRow{Application: a}
	if err := row.Scan(r.columns()...); err != nil {
		return err
	}
	return r.finish()
}

// scanApplication reads an application with its OAuth configuration.
func scanApplication(row scanner, a *schemas.Application) error {
	r, p := applicationRow{Application: a}, profile{}
	if err := row.Scan(append(r.columns(), p.columns()...)...); err != nil {
		return err
	}
	if err := r.finish(); err != nil || !p.application.Valid {
		return err
	}
	config, err := p.config(a.ClientID)
	a.InboundAuthConfig = []schemas.InboundAuth{{Type: "oauth2", Config: config}}
	return err
}

func (p *profile) columns() []any {
	return []any{&p.application, &p.hash, &p.redirects, &p.logouts, &p.grants, &p.responses, &p.method, &p.pkce, &p.public,
		&p.scopes, &p.access, &p.id, &p.alg, &p.refresh, &p.jwks, &p.jwksURI, &p.backchannel, &p.backchannelSession}
}

func (p *profile) config(clientID string) (schemas.OAuthProfile, error) {
	c := schemas.OAuthProfile{
		ClientID: clientID, SecretHash: p.hash,
		RedirectURIs: list(p.redirects), PostLogoutRedirectURIs: list(p.logouts),
		GrantTypes: list(p.grants), ResponseTypes: list(p.responses), TokenEndpointAuthMethod: p.method.String,
		PKCERequired: &p.pkce.Bool, PublicClient: &p.public.Bool, Scopes: list(p.scopes), JWKSURI: p.jwksURI.String,
		BackchannelLogoutURI: p.backchannel.String, BackchannelLogoutSessionRequired: p.backchannelSession.Bool,
	}
	c.Token.AccessToken.ValidityPeriod = int(p.access.Int64)
	c.Token.IDToken = schemas.IDTokenRule{ValidityPeriod: int(p.id.Int64), SignedResponseAlg: p.alg.String}
	c.Token.RefreshToken.ValidityPeriod = int(p.refresh.Int64)
	return c, parse(p.jwks, &c.JWKS)
}

func writeProfile(t *Tx, a *schemas.Application) error {
	if _, err := t.exec("DELETE FROM oauth_profiles WHERE application_id = ?", a.ID); err != nil {
		return err
	}
	c := a.OAuth()
	if c == nil {
		return nil
	}
	kept, err := splitLines(c.RedirectURIs, c.PostLogoutRedirectURIs, c.GrantTypes, c.ResponseTypes, c.Scopes)
	if err != nil {
		return err
	}
	var jwks []byte
	if c.JWKS != nil {
		if jwks, err = json.Marshal(c.JWKS); err != nil {
			return err
		}
	}
	columns := names(profileColumns)
	_, err = t.exec("INSERT INTO oauth_profiles ("+strings.Join(columns, ", ")+") VALUES ("+placeholders(len(columns))+")",
		a.ID, c.SecretHash, kept[0], kept[1], kept[2], kept[3], c.TokenEndpointAuthMethod,
		isTrue(c.PKCERequired), isTrue(c.PublicClient), kept[4], c.Token.AccessToken.ValidityPeriod,
		c.Token.IDToken.ValidityPeriod, c.Token.IDToken.SignedResponseAlg, c.Token.RefreshToken.ValidityPeriod,
		opaque(jwks), c.JWKSURI, c.BackchannelLogoutURI, c.BackchannelLogoutSessionRequired)
	return err
}

func isTrue(b *bool) bool { return b != nil && *b }
