package oauth

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
)

// maxACRValues limits how many classes a client can name.
const maxACRValues = 20

// loginRules reads the requirements of a request for the sign-in: OpenID Connect Core §3.1.2.1.
func (p *Provider) loginRules(ctx context.Context, c *client, form url.Values) (schemas.LoginRules, error) {
	rules := schemas.LoginRules{Prompt: strings.Fields(form.Get(promptParameter)), ACRValues: strings.Fields(form.Get(acrParameter))}
	for _, prompt := range rules.Prompt {
		if !slices.Contains(promptValues(), prompt) {
			return rules, errorf(codeInvalidRequest, "expected as prompt %s, got %.100s", strings.Join(promptValues(), ", "), prompt)
		}
	}
	if slices.Contains(rules.Prompt, "none") && len(rules.Prompt) > 1 {
		return rules, errorf(codeInvalidRequest, "the prompt none goes with no other")
	}
	if len(rules.ACRValues) > maxACRValues {
		return rules, errorf(codeInvalidRequest, "there are more than %d acr_values", maxACRValues)
	}
	if text := form.Get(maxAgeParameter); text != "" {
		seconds, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return rules, errorf(codeInvalidRequest, "expected max_age in seconds, got %.100s", text)
		}
		limit := int(seconds)
		rules.MaxAge = &limit
	}
	if raw := form.Get(idHintParameter); raw != "" {
		hint, err := p.Authorization.Tokens.VerifyIDToken(ctx, raw)
		if schemas.HasClass(err, schemas.Unauthenticated) || err == nil && hint.ClientID != c.GetID() {
			return rules, errorf(codeInvalidRequest, "the id_token_hint is no ID token that this client was given here")
		}
		if err != nil {
			return rules, err
		}
		rules.Subject = hint.Subject
	}
	return rules, nil
}

func promptValues() []string { return []string{"none", "login", "consent", "select_account"} }

func hasPrompt(req *schemas.AuthRequest, value string) bool {
	return slices.Contains(req.Login.Prompt, value)
}

// checkGrant checks that a grant satisfies the request, whichever flow it came from.
func checkGrant(req *schemas.AuthRequest) error {
	g := req.Grant
	early := g.AuthTime.Before(req.CreatedAt.Truncate(time.Second)) // assertions have times in whole seconds
	switch {
	case req.Login.Subject != "" && req.Login.Subject != g.UserID:
		return errorf(codeLoginRequired, "another user than that of id_token_hint has signed in")
	case early && (hasPrompt(req, "login") || hasPrompt(req, "select_account")):
		return errorf(codeLoginRequired, "the client asks for a new sign-in, and this is an earlier one")
	case early && req.Login.MaxAge != nil && req.CreatedAt.Sub(g.AuthTime) > seconds(*req.Login.MaxAge):
		return errorf(codeLoginRequired, "the sign-in is older than the client allows by max_age")
	}
	return nil
}
