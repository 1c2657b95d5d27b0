package signins

import (
	"maps"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// Sentence is an English sentence, and the values of the {names} in it. Times are in RFC 3339. The
// console translates the sentence, so each needs a German and a French text.
type Sentence struct {
	Text   string            `json:"text"`
	Values map[string]string `json:"values,omitempty"`
}

// Sentences about runs as a whole.
const (
	signedInAs    = "After that, the run continued with another user."
	nothingMore   = "Nothing more is recorded: the user left the page, the run expired, or the flow ended it."
	repeatedOften = "This happened {n} times from this network within an hour."
	reported      = "The reason: {reason}"
	bySession     = "The session of the browser continued."
	runEnded      = "The run ended."
)

// Sentences about the state of an account.
const (
	isActive     = "The account is active: neither disabled nor locked."
	isDisabled   = "The account is disabled: the user cannot sign in by any means until you enable it."
	isLocked     = "The account is locked until {time}: the user cannot sign in by any means before that."
	wasLocked    = "The lock of the account ended at {time}."
	hasNoMethod  = "The account has no password, no passkey and no linked identity: the user can sign in only with a flow that mails a code to the verified address. Send an invitation, set a password, or let the user follow the recovery flow of an application, which needs a verified address."
	isUnverified = "The address {email} is not verified: the user cannot sign in with it, and gets no codes and no mail for a recovery there. If you know that it is the user's, mark it as verified."
)

// Texts returns all sentences that the package can return, sorted.
func Texts() []string {
	all := []string{signedInAs, nothingMore, repeatedOften, reported, bySession, runEnded, isActive, isDisabled, isLocked, wasLocked, hasNoMethod, isUnverified}
	for _, list := range []map[string]string{actionTexts(), reasonTexts(), notMailedTexts(), wrongMailedTexts()} {
		all = slices.AppendSeq(all, maps.Values(list))
	}
	all = slices.AppendSeq(all, maps.Values(blockedTexts()))
	slices.Sort(all)
	return slices.Compact(all)
}

// blockedTexts returns the sentence for each secret that new browsers cannot use.
func blockedTexts() map[schemas.GuessedSecret]string {
	return map[schemas.GuessedSecret]string{
		schemas.PasswordSecret: "Too many guesses at the password had failed at {time}: until the user signs in with it in a known browser, or with two factors, new browsers and networks cannot use it.",
		schemas.MailedSecret:   "Too many guesses at mailed codes had failed at {time}: until the user signs in with one in a known browser, or with two factors, new browsers and networks cannot use them.",
		schemas.TOTPSecret:     "The authenticator app is disabled since {time}, because too many wrong codes were entered: until the user signs in with it in a known browser, or with two other factors, new browsers cannot use it.",
		schemas.RecoverySecret: "The recovery codes are disabled since {time}, because too many wrong ones were entered: until the user signs in with one in a known browser, or with two other factors, new browsers cannot use them.",
	}
}

// actionTexts returns the sentence for each action of an event that a run can have.
func actionTexts() map[string]string {
	return map[string]string{
		"attempt.failed":        "An attempt to authenticate failed.",
		"consent.approved":      "The user agreed that the application gets access.",
		"consent.denied":        "The user did not agree that the application gets access.",
		"consent.granted":       "The user granted the application access.",
		"consent.missing":       "The user could not agree that the application gets access.",
		"email.lost":            "Another account verified this address, so this account no longer has it.",
		"email.changed":         "The verified address of the account was changed.",
		"email_code.not_sent":   "A code was requested, but there is no such account, or it has no verified address.",
		"email_code.sent":       "A code was sent by mail.",
		"email_code.used":       "The mailed code was right.",
		"factor.disabled":       "Too many wrong codes were entered after another proof: new browsers cannot use this factor. The password, or what was proved first, may be known to an attacker.",
		"flow.failed":           "The flow has a fault: an expression has no value. Its author must fix it.",
		"guesses.exhausted":     "Too many guesses have failed: new browsers and networks are blocked.",
		"http_request.failed":   "A service that the flow calls failed.",
		"identity.linked":       "An identity at an identity provider was linked to the account.",
		"identity.refused":      "The reply of the identity provider was rejected.",
		"identity.used":         "The identity provider confirmed the user.",
		"enrolment.accepted":    "The administrator opened the enrolment link that the operator had printed.",
		"invitation.accepted":   "The user accepted the invitation: the account has its first credential.",
		"invitation.opened":     "The user opened the link of the invitation.",
		"passkey.deleted":       "The user removed a passkey.",
		"passkey.refused":       "The passkey may have been copied and was refused.",
		"passkey.registered":    "The user added a passkey.",
		"passkey.used":          "The passkey was accepted.",
		"password.set":          "The user set a password.",
		"password.used":         "The password was right.",
		"recovery.issued":       "The user got new recovery codes.",
		"recovery.used":         "A recovery code was accepted.",
		"session.ended":         "A session of the user ended.",
		"totp.registered":       "The user set up an authenticator app.",
		"totp.used":             "The code of the authenticator app was right.",
		"user.created":          "The account was created.",
		"user.sign_in_refused":  "The sign-in was refused.",
		"user.sign_in_canceled": "The user canceled the sign-in.",
		"user.signed_in":        "The user signed in.",
		"user.updated":          "The user changed data of the account.",
	}
}

// reasonTexts returns the sentence for each reason, and for each error code without one, of a failed
// attempt or a refusal.
func reasonTexts() map[string]string {
	all := map[string]string{
		schemas.ReasonUnknownUser:     "There is no user with the name that was entered.",
		schemas.ReasonWrongPassword:   "The password was wrong.",
		schemas.ReasonNoPassword:      "A password was entered, but the account has none.",
		schemas.ReasonWrongCode:       "The code of the authenticator app was wrong.",
		schemas.ReasonUsedCode:        "The code of the authenticator app had been used before: each code is valid once.",
		schemas.ReasonNoApp:           "A code was entered, but the account has no authenticator app.",
		schemas.ReasonWrongRecovery:   "The recovery code was wrong.",
		schemas.ReasonUsedRecovery:    "The recovery code had been used before: each code is valid once.",
		schemas.ReasonPasskeyUnknown:  "The passkey is not registered here: it was removed, or belongs to another service.",
		schemas.ReasonPasskeyOther:    "The passkey is right, but belongs to another account than the one that was named.",
		schemas.ReasonPasskeyUnlisted: "The passkey is none of this account: it belongs to another account, or was removed.",
		schemas.ReasonIdentityOfOther: "The account at the identity provider belongs to another user.",

		schemas.ReasonNoConsentStep: "The application needs the consent of the user, but the flow does not ask for it: add a consent node.",
		schemas.ReasonStaleSignIn:   "The user had signed in too long ago to grant these permissions: the application must ask for a new sign-in.",
		schemas.ReasonNoPermissions: "The user has none of the permissions that the application requested.",

		schemas.CodeInvalidCredentials:    "The username, the password or the code was not accepted.",                         // recorded by earlier releases
		schemas.CodeUsed:                  "The code of the authenticator app had been used before: each code is valid once.", // likewise
		schemas.CodeInvalidCode:           "The code was wrong or had expired.",
		schemas.CodePasskeyFailed:         "The passkey was not accepted: it is not registered here, or its answer was invalid.",
		schemas.CodeFlowChanged:           "The flow was changed during the run, and what the user had proved is not enough for the new version. The user can start again.",
		schemas.CodeTooManyAttempts:       "Too many attempts failed, so the run ended. The user can start again.",
		schemas.CodeAccountDisabled:       "The account was disabled when the user authenticated.",
		schemas.CodeAccountLocked:         "The account was locked when the user authenticated.",
		schemas.CodeDenied:                "The flow does not permit this user to sign in (deny).",
		schemas.CodeCredentialLimited:     "The credential was added after a sign-in that is weaker than what this flow guarantees. The user must sign in in another way.",
		schemas.CodeUserTypeNotAllowed:    "The application does not allow the type of this user.",
		schemas.CodeIdentityTaken:         "The account at the identity provider belongs to another user.",
		schemas.CodeFederationFailed:      "The reply of the identity provider was rejected.",
		schemas.CodeFederationDeclined:    "The user declined at the identity provider.",
		schemas.CodeFederationUnavailable: "The identity provider did not answer.",
		schemas.CodeInvalidLink:           "The link was invalid, used before, or expired.",
	}
	maps.Copy(all, passkeyTexts())
	maps.Copy(all, federationTexts())
	return all
}

// passkeyTexts returns the sentence for each step of the verification of a passkey.
func passkeyTexts() map[string]string {
	return expand(schemas.PasskeyReasonPrefix, map[string][]string{
		"The passkey answered too late: its request had expired.":                                              {"expiry"},
		"The answer of the browser was malformed, or belongs to another request.":                              {"ceremony", "response", "type", "challenge"},
		"The passkey is none of this account: it belongs to another account, or was removed.":                  {"credential"},
		"The passkey was used on a page that may not use it: check the allowed origins and the relying party.": {"origin", "cross_origin", "relying_party"},
		"The authenticator did not confirm that the user was present.":                                         {"user_presence"},
		"The authenticator did not verify the user by PIN or biometrics, which is required.":                   {"user_verification"},
		"The authenticator reports another kind of backup than at the registration of the passkey.":            {"backup"},
		"The answer names no user, or another user than the owner of the passkey.":                             {"user_handle"},
		"The signature of the passkey was wrong.":                                                              {"signature"},
		"The passkey may have been copied and was refused.":                                                    {"counter"},
		"The passkey does not satisfy the policy of the server.":                                               {"algorithm", "attestation", "policy"},
	})
}

// federationTexts returns the sentence for each check of the reply of an identity provider.
func federationTexts() map[string]string {
	return expand(schemas.FederationReasonPrefix, map[string][]string{
		"The identity provider did not answer.":                                                            {"reachable"},
		"The metadata of the identity provider was rejected.":                                              {"metadata"},
		"The identity provider was changed or removed during the sign-in, or its settings are incomplete.": {"settings"},
		"The reply of the identity provider belongs to another sign-in.":                                   {"state", "nonce"},
		"The reply is from another identity provider, or for another client.":                              {"sender", "issuer", "audience"},
		"The user declined at the identity provider.":                                                      {"denied"},
		"The identity provider replied with an error.":                                                     {"response"},
		"The identity provider gave no ID token for its code: check the client id and the client secret.":  {"token"},
		"The ID token has no valid signature of the identity provider.":                                    {"signature", "hash"},
		"The ID token was expired, or issued in the future: compare the clocks.":                           {"time"},
		"The user authenticated too long ago at the identity provider.":                                    {"age"},
		"The ID token lacks a claim that the flow needs.":                                                  {"subject", "claims"},
		"The identity provider did not describe the user, or it described another user.":                   {"userinfo"},
	})
}

// expand returns the sentence of each reason of a list of sentences with their reasons.
func expand(prefix string, reasons map[string][]string) map[string]string {
	all := map[string]string{}
	for text, list := range reasons {
		for _, reason := range list {
			all[prefix+reason] = text
		}
	}
	return all
}

// notMailedTexts returns the sentence for each reason why a requested code was not mailed.
func notMailedTexts() map[string]string {
	return map[string]string{
		schemas.ReasonUnknownUser: "A code was requested, but there is no user with the name that was entered. An address that is not verified identifies no user.",
		schemas.ReasonNoAddress:   "A code was requested, but not mailed: the account has no email address.",
		schemas.ReasonUnverified:  "A code was requested, but not mailed: the address of the account is not verified.",
	}
}

// wrongMailedTexts returns the sentence for each reason why an entered code was wrong.
func wrongMailedTexts() map[string]string {
	return map[string]string{
		schemas.ReasonWrongMailedCode: "The mailed code was wrong.",
		schemas.ReasonUnknownUser:     "A code was entered that was never mailed: there is no user with the name that was entered.",
		schemas.ReasonNoAddress:       "A code was entered that was never mailed: the account has no email address.",
		schemas.ReasonUnverified:      "A code was entered that was never mailed: the address of the account is not verified.",
	}
}
