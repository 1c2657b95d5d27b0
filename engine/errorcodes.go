package engine

import "github.com/postern-id/postern/schemas"

// CommonCodes returns the codes of the errors that a step of any flow can have, or that replace a
// step.
func CommonCodes() []string {
	return []string{
		schemas.CodeAccountDisabled, schemas.CodeAccountLocked, schemas.CodeAttributeTaken, schemas.CodeCredentialLimited, schemas.CodeExecutionNotFound, schemas.CodeFlowChanged,
		schemas.CodeFlowNotFound, schemas.CodeInternal, schemas.CodeInvalidAction, schemas.CodeInvalidFlow, schemas.CodeInvalidRequest, schemas.CodeOverloaded,
		schemas.CodeStaleStep, schemas.CodeStoreUnavailable, schemas.CodeSuperseded, schemas.CodeTooManyAttempts, schemas.CodeUsed, schemas.CodeUserNotFound,
	}
}
