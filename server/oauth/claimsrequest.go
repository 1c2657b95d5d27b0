package oauth

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// maxRequestedClaims limits how many claims a client can request by name.
const maxRequestedClaims = 100

// readClaimsRequest reads the parameter claims: OpenID Connect Core §5.5. Unknown claims are ignored. The values of sub
// and acr are requirements for the sign-in: §5.5.1.1.
func readClaimsRequest(rules *schemas.LoginRules, text string) error {
	if text == "" {
		return nil
	}
	var request schemas.ClaimsRequest
	if err := json.Unmarshal([]byte(text), &request); err != nil {
		return errorf(codeInvalidRequest, "the parameter claims must be a JSON object with the members userinfo and id_token, whose members are null or "+
			"objects with essential, value and values (OpenID Connect Core section 5.5)")
	}
	if n := len(request.UserInfo) + len(request.IDToken); n > maxRequestedClaims {
		return errorf(codeInvalidRequest, "the parameter claims has %d claims, expected at most %d", n, maxRequestedClaims)
	}
	rules.Claims = &request
	for _, of := range []map[string]*schemas.ClaimRequest{request.IDToken, request.UserInfo} {
		for _, value := range of["sub"].Accepted() {
			subject := fmt.Sprint(value)
			if rules.Subject != "" && rules.Subject != subject {
				return errorf(codeInvalidRequest, "the parameter claims has several values of sub, expected one")
			}
			rules.Subject = subject
		}
	}
	return readRequestedACR(rules, request.IDToken["acr"])
}

// readRequestedACR adds the requested classes to the acr_values.
func readRequestedACR(rules *schemas.LoginRules, acr *schemas.ClaimRequest) error {
	for _, value := range acr.Accepted() {
		if name := fmt.Sprint(value); !slices.Contains(rules.ACRValues, name) {
			rules.ACRValues = append(rules.ACRValues, name)
		}
	}
	if len(rules.ACRValues) > maxACRValues {
		return errorf(codeInvalidRequest, "there are more than %d acr_values", maxACRValues)
	}
	rules.RequiredACR = acr != nil && acr.Essential && len(acr.Accepted()) > 0
	return nil
}
