package oauth

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Members of client metadata
//
// A client that asks for protection and gets a reply believes itself protected. So registeredMembers has an
// entry for each member of the IANA registry "OAuth Dynamic Client Registration Metadata", and readMetadata
// treats no member of it in another way. Members that are not registered are ignored (RFC 7591 §2), as are
// those in other languages (client_name#ja). The audit log names what was ignored.

// treatment is what the server does with a member of client metadata.
type treatment int

const (
	// honored members take effect: see clientMetadata.
	honored treatment = iota
	// informational members describe the client. They are returned and have no effect.
	informational
	// assigned members are chosen by the server.
	assigned
	// unavailable members belong to a feature that the server lacks, and protect nothing.
	unavailable
	// protective members ask for protection that the server does not give: see Options.IgnoreUnsupported.
	protective
)

// registeredMembers returns the treatment of each registered member.
func registeredMembers() map[string]treatment {
	members := map[string]treatment{}
	for kind, names := range map[treatment]string{
		honored: `redirect_uris post_logout_redirect_uris grant_types response_types token_endpoint_auth_method token_endpoint_auth_signing_alg
			client_name client_uri logo_uri tos_uri policy_uri contacts scope jwks jwks_uri application_type subject_type sector_identifier_uri
			id_token_signed_response_alg default_max_age require_auth_time default_acr_values initiate_login_uri
			backchannel_logout_uri backchannel_logout_session_required software_statement`,
		informational: `software_id software_version`,
		assigned:      `client_id client_secret client_id_issued_at client_secret_expires_at registration_access_token registration_client_uri`,
		unavailable: `request_uris claims_redirect_uris authorization_details_types client_registration_types use_mtls_endpoint_aliases
			backchannel_token_delivery_mode backchannel_client_notification_endpoint backchannel_authentication_request_signing_alg
			backchannel_user_code_parameter credential_offer_endpoint vp_formats_supported encrypted_response_enc_values_supported`,
		protective: `dpop_bound_access_tokens tls_client_certificate_bound_access_tokens require_pushed_authorization_requests
			require_signed_request_object request_object_signing_alg request_object_encryption_alg request_object_encryption_enc
			id_token_encrypted_response_alg id_token_encrypted_response_enc
			userinfo_signed_response_alg userinfo_encrypted_response_alg userinfo_encrypted_response_enc
			introspection_signed_response_alg introspection_encrypted_response_alg introspection_encrypted_response_enc
			authorization_signed_response_alg authorization_encrypted_response_alg authorization_encrypted_response_enc
			nfv_token_signed_response_alg nfv_token_encrypted_response_alg nfv_token_encrypted_response_enc
			tls_client_auth_subject_dn tls_client_auth_san_dns tls_client_auth_san_uri tls_client_auth_san_ip tls_client_auth_san_email
			signed_jwks_uri frontchannel_logout_uri frontchannel_logout_session_required`,
	} {
		for name := range strings.FieldsSeq(names) {
			members[name] = kind
		}
	}
	return members
}

// pairwise is the subject type that the server lacks: a client would let others link its users.
const pairwise = "pairwise"

// sortMembers records which members of the document have no effect, and which ask for protection that the
// server does not give.
func (m *clientMetadata) sortMembers(document *schemas.Document) {
	members := registeredMembers()
	for _, name := range document.Members() {
		kind, registered := members[name]
		switch {
		case !registered || kind == unavailable:
			m.ignored = append(m.ignored, name)
		case kind == protective && asks(document.At(schemas.MemberPath("", name))), name == "subject_type" && m.SubjectType == pairwise:
			m.unprotected = append(m.unprotected, name)
		}
	}
}

// asks reports whether a value asks for anything: false, "none" and empty ones do not.
func asks(value *schemas.Document) bool {
	return !slices.Contains([]string{`false`, `""`, `"none"`, `[]`, `{}`}, string(value.JSON()))
}

// reduce refuses metadata that asks for protection that the server does not give, or leaves that out, and
// leaves out redirect URIs that the client cannot use. A client with a document that is known already continues
// without the protection: its users could not sign in any more.
func (p *Provider) reduce(m *clientMetadata, known bool) error {
	if len(m.unprotected) > 0 && !known && !p.IgnoreUnsupported {
		return errorf(codeInvalidMetadata, "%s: the server does not support this, so the client would be less protected than it expects; "+
			"leave it out, or have the operator set oauth.unsupported_metadata to ignore", strings.Join(m.unprotected, " ")).refusing(m.unprotected[0], "")
	}
	m.ignored = append(m.ignored, m.unprotected...)
	if m.SubjectType == pairwise {
		m.SubjectType = ""
	}
	if err := p.keepUsable(m, "redirect_uris", &m.RedirectURIs); err != nil {
		return err
	}
	return p.keepUsable(m, "post_logout_redirect_uris", &m.LogoutRedirects)
}

// keepUsable leaves out the URIs that the client cannot use, unless all are (RFC 7591 §3.2.1): clients that
// are written for many servers list addresses that some of them refuse.
func (p *Provider) keepUsable(m *clientMetadata, member string, uris *[]string) error {
	var usable, refused []string
	var first error
	for _, uri := range *uris {
		switch fault := p.redirectFault(m, uri); {
		case fault == "" && !slices.Contains(usable, uri):
			usable = append(usable, uri)
		case fault != "":
			refused = append(refused, shownValue(uri)+": "+fault)
			first = cmp.Or[error](first, errorf(codeInvalidRedirect, "%s: %.100s: %s", member, shownValue(uri), fault).refusing(member, uri))
		}
	}
	if len(usable) == 0 && first != nil {
		return first
	}
	m.refused = append(m.refused, refused...)
	*uris = usable
	return nil
}

// redirectFault returns why the client cannot use a redirect URI; "" if it can.
func (p *Provider) redirectFault(m *clientMetadata, uri string) string {
	if len(uri) > maxRedirectLength {
		return fmt.Sprintf("expected at most %d characters", maxRedirectLength)
	}
	return p.Clients.RedirectFault(m.AuthMethod == schemas.AuthMethodNone, uri)
}

// maxRegistrationDetail is the length of a detail about a registration in the audit log, in bytes.
const maxRegistrationDetail = 2000

// detail describes in the audit log what the client asked for and did not get.
func (m *clientMetadata) detail() map[string]string {
	detail := map[string]string{}
	if len(m.ignored) > 0 {
		detail["ignoredMembers"] = escaped(strings.Join(m.ignored, " "), maxRegistrationDetail)
	}
	if text := strings.Join(m.refused, "; "); text != "" {
		detail["refusedRedirectUris"] = text[:min(len(text), maxRegistrationDetail)]
	}
	return detail
}

// recordReduced records what a new version of a document asks for and does not get. An unchanged application has
// no other event.
func (p *Provider) recordReduced(ctx context.Context, id string, m *clientMetadata) error {
	if len(m.unprotected)+len(m.refused) == 0 {
		return nil
	}
	c, err := p.findClient(ctx, id)
	if err != nil {
		return err
	}
	return p.Record(ctx, schemas.Event{ID: schemas.NewID(), At: p.now(), Action: "registration.reduced", ApplicationID: c.ID, Detail: m.detail(),
		Resource: schemas.ResourceRef{Type: "application", ID: c.ID}})
}
