package nodes

import (
	"slices"

	"github.com/postern-id/postern/schemas"
)

// errorCodes returns the codes of the errors that the nodes of each kind report in a step, by kind.
// Each kind can also report those of engine.CommonCodes.
func errorCodes() map[string][]string {
	passkeyCodes := slices.Clip([]string{schemas.CodePasskeyFailed, schemas.CodePasskeyConfig})
	codes := []string{schemas.CodeInvalidCode, schemas.CodeCanceled}
	return map[string][]string{
		"user-resolve":          {schemas.CodeUserNotFound},
		"user-create":           {schemas.CodeAttributeTaken, schemas.CodeInvalidIdentifier, schemas.CodeUserDoesNotFit, schemas.CodeUserTypeNotAllowed},
		"attributes":            {schemas.CodeAttributeTaken, schemas.CodeInvalidIdentifier, schemas.CodeUserDoesNotFit, schemas.CodeUserTypeNotAllowed, schemas.CodeFactorRequired, schemas.CodeStaleProof},
		"passkey-register":      append(passkeyCodes, schemas.CodeCredentialExists, schemas.CodeFactorRequired, schemas.CodeStaleProof),
		"passkey-authenticate":  append(passkeyCodes, schemas.CodeCanceled),
		"password-authenticate": {schemas.CodeInvalidCredentials},
		"totp":                  codes,
		"recovery-code":         codes,
		"email-otp":             {schemas.CodeCanceled, schemas.CodeInvalidCode, schemas.CodeMailThrottled, schemas.CodeNoEmailAddress, schemas.CodeMailNotConfigured},
		"email-change":          {schemas.CodeInvalidCode, schemas.CodeMailThrottled, schemas.CodeMailNotConfigured, schemas.CodeFactorRequired, schemas.CodeStaleProof},
		"password-set":          {schemas.CodeFactorRequired, schemas.CodeStaleProof},
		"totp-register":         {schemas.CodeStaleProof},
		"recovery-codes":        {schemas.CodeStaleProof},
		"invitation":            {schemas.CodeInvalidLink},
		"http-request":          {schemas.CodeExpressionFailed},
		"decision":              {schemas.CodeExpressionFailed, schemas.CodeNotAccepted},
		"federated-oidc": {
			schemas.CodeFederationDeclined, schemas.CodeFederationFailed, schemas.CodeFederationUnavailable, schemas.CodeFederationRedirect,
			schemas.CodeProviderNotFound, schemas.CodeIdentityTaken, schemas.CodeCanceled,
		},
		"federated-link":     {schemas.CodeIdentityTaken, schemas.CodeFactorRequired, schemas.CodeStaleProof},
		"consent":            {codeConsentDenied, codeConsentRequired, codeOtherBrowser, codePermissionsMissing, schemas.CodeStaleProof},
		"deny":               {schemas.CodeDenied},
		"authorization-code": {schemas.CodeUserTypeNotAllowed, codeConsentRequired, codePermissionsMissing, schemas.CodeAuthRequest},
	}
}
