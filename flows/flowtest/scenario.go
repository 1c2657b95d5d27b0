package flowtest

import (
	"encoding/json"
	"time"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/schemas"
)

// File is a scenario file.
type File struct {
	// Flow is the path of the flow, relative to this file. The default is this file's path
	// without "_test".
	Flow string `json:"flow,omitempty"`
	// Users are the users that exist before every scenario, by the names that scenarios
	// use.
	Users map[string]Given `json:"users,omitempty"`
	// Devices are authenticators with other properties than the default, by name.
	Devices map[string]Device `json:"devices,omitempty"`
	// Application contains members of the schemas.Application that the flow serves.
	Application json.RawMessage `json:"application,omitempty"`
	// Clock is the time at which every scenario begins; by default 2030-01-02T03:04:05Z.
	Clock     time.Time  `json:"clock,omitzero"`
	Scenarios []Scenario `json:"scenarios"`

	files     flows.Files // nil: those of the disk
	path      string
	doc       *schemas.Document
	flow      *Definition // nil: the flow is in a file
	language  string      // of the browser
	expansion *expansion
}

// Given is an existing user with credentials and permissions.
type Given struct {
	Attributes map[string]any `json:"attributes"`
	Password   string         `json:"password,omitempty"`
	Passkeys   []string       `json:"passkeys,omitempty"` // names of devices
	TOTP       string         `json:"totp,omitempty"`     // name of the device with the authenticator app
	TOTPUsed   bool           `json:"totpUsed,omitempty"` // the app was used to sign in before
	// RecoveryCodes are the user's unused recovery codes.
	RecoveryCodes []string `json:"recoveryCodes,omitempty"`
	Permissions   []string `json:"permissions,omitempty"`
	// Groups and Roles are names; they give no permissions.
	Groups []string `json:"groups,omitempty"`
	Roles  []string `json:"roles,omitempty"`
	// Identities are the user's subjects at identity providers, by the providers' handles.
	Identities map[string]string `json:"identities,omitempty"`
	// Invited users have an invitation to the application.
	Invited bool `json:"invited,omitempty"`
	// Status and LockedUntil are the members of schemas.User.
	Status      string    `json:"status,omitempty"`
	LockedUntil time.Time `json:"lockedUntil,omitzero"`
}

// Device is an authenticator. By default it is a platform authenticator that counts
// signatures, verifies its user, and does not back up its passkeys.
type Device struct {
	// Synced passkeys can be backed up and are (flags BE and BS); the device does not
	// count signatures.
	Synced bool `json:"synced,omitempty"`
	// Uncounted leaves the signature counter at 0.
	Uncounted bool `json:"uncounted,omitempty"`
	// Unverified devices have neither PIN nor biometrics.
	Unverified bool `json:"unverified,omitempty"`
	// Attested devices have an attestation key that chains to a trust anchor.
	Attested bool `json:"attested,omitempty"`
	// Attachment is platform or cross-platform.
	Attachment string `json:"attachment,omitempty"`
	// Algorithms are the supported algorithms, by name (ES256, EdDSA, RS256).
	Algorithms []string `json:"algorithms,omitempty"`
}

// Scenario is one run of the flow. A scenario of a file that has a table (`each`) is one Scenario for
// each row.
type Scenario struct {
	Name  string            `json:"name"`
	Start map[string]string `json:"start,omitempty"` // inputs sent with the start
	// Request is the authorization request of the run, if any, and Login its demands on
	// the sign-in. Login requires an authorization request.
	Request Request             `json:"request,omitzero"`
	Login   *schemas.LoginRules `json:"login,omitempty"`
	// Session is the browser's session from an earlier sign-in. A run receives it if it
	// answers an authorization request.
	Session *Session `json:"session,omitempty"`
	// KnownBrowser simulates that all users have signed in with the browser before.
	KnownBrowser KnownBrowser `json:"knownBrowser,omitzero"`
	// Consents are the scopes that users have granted the application before, by the
	// users' names in the file.
	Consents map[string][]string `json:"consents,omitempty"`
	// Down are the handles of identity providers that do not answer.
	Down []string `json:"down,omitempty"`
	// NoMail simulates a server without a mail server.
	NoMail bool `json:"noMail,omitempty"`
	// Application contains members that override those of the file's application.
	Application json.RawMessage `json:"application,omitempty"`
	// HTTP contains the answers of services to the flow's queries, in order, by target.
	HTTP  map[string][]Answer `json:"http,omitempty"`
	Steps []Exchange          `json:"steps"`
}

// Request is an authorization request.
type Request struct {
	// Bound reports whether the run answers an authorization request.
	Bound bool `json:"bound,omitempty"`
	// Scopes are the requested scopes.
	Scopes []string `json:"scopes,omitempty"`
	// LoginHint is the login_hint of the request.
	LoginHint string `json:"loginHint,omitempty"`
}

// Session is an earlier sign-in. It lasts twelve hours.
type Session struct {
	// User is a user of the file; any other name stands for a deleted user.
	User string   `json:"user"`
	AMR  []string `json:"amr"`
	ACR  string   `json:"acr,omitempty"`
	Age  string   `json:"age,omitempty"` // how long ago it began ("10m"), by default just now
}

// Exchange is a request and its reply. The first of a scenario starts the run and sends
// nothing.
type Exchange struct {
	Send   Send   `json:"send,omitzero"`
	Expect Expect `json:"expect,omitzero"`
}

// Send is an answer to the previous step.
type Send struct {
	Action  string            `json:"action,omitempty"`
	Inputs  map[string]string `json:"inputs,omitempty"`
	Passkey *Ceremony         `json:"passkey,omitempty"`
	TOTP    *Code             `json:"totp,omitempty"`
	// Federated signs in at the identity provider to which the previous step redirects.
	Federated *Federated `json:"federated,omitempty"`
	// RecoveryCode selects the nth recovery code that the run has shown, from 1.
	RecoveryCode int `json:"recoveryCode,omitempty"`
	// MailedCode sends the input code of email-otp: the code of the "newest" or the
	// "previous" mail.
	MailedCode string `json:"mailedCode,omitempty"`
	// Invitation sends the token of a user's invitation, by the user's name in the file, as the input
	// invitation.
	Invitation string `json:"invitation,omitempty"`
	// Meanwhile links identities in another run before this is sent: subjects by provider
	// handle, by the users' names in the file.
	Meanwhile map[string]map[string]string `json:"meanwhile,omitempty"`
	// After is how long the client waits before it sends ("31m").
	After string `json:"after,omitempty"`
	// Stale sends the challenge token of the step before the last.
	Stale bool `json:"stale,omitempty"`
	// Resume requests the step again instead of answering it.
	Resume bool `json:"resume,omitempty"`
	// Elsewhere sends the request from another browser, which has only the ID of the run.
	Elsewhere bool `json:"elsewhere,omitempty"`
}

// Ceremony is the answer of a software authenticator to the registration or authentication
// options of the previous step.
type Ceremony struct {
	Device string `json:"device"`
	// Fault is how the authenticator or its browser misbehaves.
	Fault string `json:"fault,omitempty"`
	// Old answers the options of the step before the last.
	Old bool `json:"old,omitempty"`
	// Replay sends the device's last answer again.
	Replay bool `json:"replay,omitempty"`
	// As selects the passkey of that user if the device has several.
	As string `json:"as,omitempty"`
	// Origin is the origin of the page; by default the allowed one.
	Origin string `json:"origin,omitempty"`
	// Name is the label that the user gives a new passkey.
	Name string `json:"name,omitempty"`
}

// Code is the code that the authenticator app of a device shows. If the last step offered
// a key, the app enrolls it first.
type Code struct {
	Device string `json:"device"`
	// Ahead is how far the device's clock is ahead ("30s", "-1m").
	Ahead string `json:"ahead,omitempty"`
	// Input is the identifier of the input for the code; by default otp.
	Input string `json:"input,omitempty"`
}

// duration parses a duration that matches the schema; "" is zero.
func duration(text string) time.Duration {
	d, _ := time.ParseDuration(text)
	return d
}
