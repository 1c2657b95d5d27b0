package schemas

// Reasons in the detail reason of the events attempt.failed, email_code.not_sent and
// consent.missing. The reply to a failed attempt conceals them behind one error code, because they
// reveal something about the account. internal/signins explains them to administrators.
const (
	ReasonUnknownUser      = "unknown_user"
	ReasonWrongPassword    = "wrong_password"
	ReasonNoPassword       = "no_password"
	ReasonWrongCode        = "wrong_code"           // of an authenticator app
	ReasonUsedCode         = "used_code"            // of an authenticator app
	ReasonNoApp            = "no_authenticator_app" // to have a code of
	ReasonWrongRecovery    = "wrong_recovery_code"  // or one of a replaced set
	ReasonUsedRecovery     = "used_recovery_code"
	ReasonWrongMailedCode  = "wrong_mailed_code"
	ReasonNoAddress        = "no_email_address"   // so no code was mailed
	ReasonUnverified       = "unverified_address" // so no code was mailed
	ReasonPasskeyUnknown   = "passkey_unknown"
	ReasonPasskeyOther     = "passkey_of_other_user" // than the one that was named
	ReasonPasskeyUnlisted  = "passkey_not_of_user"   // who was named: of another user, or removed
	ReasonIdentityOfOther  = "identity_of_other_user"
	ReasonNoConsentStep    = "no_consent_step" // in the flow, although the application needs consent
	ReasonStaleSignIn      = "stale_sign_in"   // for a consent to permissions of the service
	ReasonNoPermissions    = "no_permissions"  // of those that the application requests
	PasskeyReasonPrefix    = "passkey_step_"   // followed by the step of the verification that failed
	FederationReasonPrefix = "federation_"     // followed by the check that failed
)
