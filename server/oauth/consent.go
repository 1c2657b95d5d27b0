package oauth

import (
	"context"
	"net/url"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// checkConsent checks that the user has given the required consent, whichever flow granted the
// request: OpenID Connect Core §3.1.2.4.
func (p *Provider) checkConsent(ctx context.Context, req *schemas.AuthRequest) error {
	if req.Grant.Consented {
		return nil
	}
	c, err := p.clientNamed(ctx, req.ClientID)
	if err != nil {
		return err
	}
	if c.AsksConsent() || hasPrompt(req, "consent") {
		return errorf(codeConsentRequired, "the person has to agree to what the client asks for, and was not asked: send them through the sign-in page")
	}
	return nil
}

// consentedScope returns the scopes that a client may have now, if it needs consent: none after the
// user has revoked it.
func (p *Provider) consentedScope(ctx context.Context, c *client, userID string, scopes []string) ([]string, error) {
	if !c.AsksConsent() {
		return scopes, nil
	}
	consent, err := p.Authorization.Consents.Consent(ctx, userID, c.ID)
	if err != nil {
		return nil, err
	}
	if consent == nil {
		return nil, errorf(codeInvalidGrant, "the person does not let the client have anything any more: send them to agree again")
	}
	return consent.Restrict(scopes), nil
}

// approvedScope returns the scopes that a client may have after the user's approval in the
// authorization request. Without it an untrusted client gets no permission of this API, whatever
// the flow was.
func (c *client) approvedScope(scopes, approved []string) []string {
	if c.IsTrusted() {
		return scopes
	}
	others := slices.DeleteFunc(slices.Clone(scopes), schemas.IsManagementScope)
	return append(others, schemas.SharedPermissions(schemas.ManagementScopes(scopes), approved)...)
}

// refusalParameters returns the answer to a refused request. It can be sent again: it contains
// nothing else.
func refusalParameters(req *schemas.AuthRequest) url.Values {
	return url.Values{"error": {req.Refusal.Code}, "error_description": {errorDescription(req.Refusal.Description)}}
}

// interactionError returns the error for a step when prompt=none.
func interactionError(step *schemas.Step) error {
	if step.Data.AdditionalData[schemas.ConsentData] != "" {
		return errorf(codeConsentRequired, "the person is signed in, but has not agreed to all that the client asks for")
	}
	return errorf(codeLoginRequired, "the person is signed in, but not so that it does for this application: they have to sign in again")
}
