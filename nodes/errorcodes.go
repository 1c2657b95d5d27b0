package nodes

import "github.com/postern-id/postern/schemas"

// errorCodes returns the codes of the errors that the nodes of each kind report in a step, by kind.
// Each kind can also report those of engine.CommonCodes.
func errorCodes() map[string][]string {
	passkeyCodes := []string{schemas.CodePasskeyFailed, schemas.CodePasskeyConfig}
	guessed := []string{schemas.CodeInvalidCredentials}
	return map[string][]string{
		"user-resolve":          {schemas.CodeUserNotFound},
		"user-create":           {schemas.CodeAttributeTaken, schemas.CodeInvalidIdentifier, schemas.CodeUserDoesNotFit, schemas.CodeUserTypeNotAllowed},
		"attributes":            {schemas.CodeAttributeTaken, schemas.CodeInvalidIdentifier, schemas.CodeUserDoesNotFit, schemas.CodeUserTypeNotAllowed},
		"passkey-register":      append(passkeyCodes, schemas.CodeCredentialExists, schemas.CodeFactorRequired),
		"passkey-authenticate":  passkeyCodes,
		"password-authenticate": guessed,
		"totp":                  guessed,
		"totp-register":         guessed,
		"recovery-code":         guessed,
		"email-otp":             {schemas.CodeInvalidCode, schemas.CodeMailThrottled, schemas.CodeNoEmailAddress, schemas.CodeMailNotConfigured},
		"email-change":          {schemas.CodeInvalidCode, schemas.CodeMailThrottled, schemas.CodeMailNotConfigured, schemas.CodeFactorRequired},
		"invitation":            {schemas.CodeInvalidLink},
		"http-request":          {schemas.CodeExpressionFailed},
		"decision":              {schemas.CodeExpressionFailed},
		"federated-oidc": {
			schemas.CodeFederationDeclined, schemas.CodeFederationFailed, schemas.CodeFederationUnavailable, schemas.CodeFederationRedirect,
			schemas.CodeProviderNotFound, schemas.CodeIdentityTaken,
		},
		"federated-link":     {schemas.CodeIdentityTaken},
		"consent":            {codeConsentDenied, codeConsentRequired, codeOtherBrowser, schemas.CodeStaleProof},
		"authorization-code": {schemas.CodeUserTypeNotAllowed, codeConsentRequired, schemas.CodeAuthRequest},
	}
}
