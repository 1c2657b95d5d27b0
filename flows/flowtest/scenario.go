package flowtest

import (
	"encoding/json"
	"time"

	"github.com/postern-id/postern/schemas"
)

// File is a scenario file.
type File struct {
	// Flow is the flow's file, by its path from this one. By default it is the
	// one beside this with its name but for "_test".
	Flow string `json:"flow,omitempty"`
	// Users exist before every scenario, by a name the scenarios use.
	Users map[string]Given `json:"users,omitempty"`
	// Devices are authenticators that are unlike the others, by their names.
	Devices map[string]Device `json:"devices,omitempty"`
	// Application is whose sign-in the flow serves: members of a
	// schemas.Application.
	Application json.RawMessage `json:"application,omitempty"`
	// Clock is when every scenario begins; by default 2030-01-02T03:04:05Z.
	Clock     time.Time  `json:"clock,omitzero"`
	Scenarios []Scenario `json:"scenarios"`

	path string
	doc  *schemas.Document
}

// Given is a user who exists. Attributes are the user's own; the rest is how
// they can sign in and what they may do.
type Given struct {
	Attributes map[string]any `json:"attributes"`
	Password   string         `json:"password,omitempty"`
	Passkeys   []string       `json:"passkeys,omitempty"` // names of devices
	TOTP       string         `json:"totp,omitempty"`     // name of the device that has the authenticator app
	// RecoveryCodes are those that the user has put aside.
	RecoveryCodes []string `json:"recoveryCodes,omitempty"`
	Permissions   []string `json:"permissions,omitempty"`
	// Identities are what identity providers call the user, by the providers' handles.
	Identities map[string]string `json:"identities,omitempty"`
	// Status and LockedUntil are those of schemas.User.
	Status      string    `json:"status,omitempty"`
	LockedUntil time.Time `json:"lockedUntil,omitzero"`
}

// Device is an authenticator. By default it is built into something, counts its
// signatures, verifies its user, and its passkeys stay on it.
type Device struct {
	// Synced passkeys can be backed up, and are (BE, BS); the device does not count.
	Synced bool `json:"synced,omitempty"`
	// Uncounted leaves the signature counter at 0.
	Uncounted bool `json:"uncounted,omitempty"`
	// Unverified has neither PIN nor biometrics.
	Unverified bool `json:"unverified,omitempty"`
	// Attested devices have an attestation key that chains to a trust anchor.
	Attested bool `json:"attested,omitempty"`
	// Attachment is platform or cross-platform.
	Attachment string `json:"attachment,omitempty"`
	// Algorithms are those it knows, by their names (ES256, EdDSA, RS256).
	Algorithms []string `json:"algorithms,omitempty"`
}

// Scenario is one run of the flow.
type Scenario struct {
	Name  string            `json:"name"`
	Start map[string]string `json:"start,omitempty"` // inputs sent with the start
	// Request is whether the run answers an authorization request, and Login what
	// that asks of the sign-in; to ask for anything there must be one.
	Request Request             `json:"request,omitzero"`
	Login   *schemas.LoginRules `json:"login,omitempty"`
	// Session is the one that the browser has from an earlier sign-in. A run is
	// told of it if it answers an authorization request.
	Session *Session `json:"session,omitempty"`
	// Consents are what users have agreed to before, by their names in the file:
	// scopes that the application may have.
	Consents map[string][]string `json:"consents,omitempty"`
	// Down are the handles of identity providers that do not answer.
	Down []string `json:"down,omitempty"`
	// NoMail says that the server has no mail server.
	NoMail bool `json:"noMail,omitempty"`
	// Application has members in which the application is unlike that of the file.
	Application json.RawMessage `json:"application,omitempty"`
	// HTTP is what services answer to the queries of the flow, by the names of the
	// targets, first to last.
	HTTP  map[string][]Answer `json:"http,omitempty"`
	Steps []Exchange          `json:"steps"`
}

// Request is an authorization request.
type Request struct {
	// Bound says that there is one.
	Bound bool `json:"bound,omitempty"`
	// Scopes are what the client asks for.
	Scopes []string `json:"scopes,omitempty"`
	// LoginHint is whom the client expects.
	LoginHint string `json:"loginHint,omitempty"`
}

// Session is an earlier sign-in. It lasts twelve hours.
type Session struct {
	// User is one of the file's; any other name is that of a user who is gone.
	User string   `json:"user"`
	AMR  []string `json:"amr"`
	ACR  string   `json:"acr,omitempty"`
	Age  string   `json:"age,omitempty"` // how long ago it began ("10m"), by default just now
}

// Exchange is a request and its reply. The first of a scenario starts the run
// and sends nothing.
type Exchange struct {
	Send   Send   `json:"send,omitzero"`
	Expect Expect `json:"expect,omitzero"`
}

// Send is an answer to the step before.
type Send struct {
	Action  string            `json:"action,omitempty"`
	Inputs  map[string]string `json:"inputs,omitempty"`
	Passkey *Ceremony         `json:"passkey,omitempty"`
	TOTP    *Code             `json:"totp,omitempty"`
	// Federated signs in at the identity provider that the step before sends to.
	Federated *Federated `json:"federated,omitempty"`
	// RecoveryCode is the nth of the recovery codes that the run has shown, from 1.
	RecoveryCode int `json:"recoveryCode,omitempty"`
	// MailedCode sends the input code of email-otp: that of the "newest" mail, or of
	// the "previous" one.
	MailedCode string `json:"mailedCode,omitempty"`
	// Meanwhile is what users have linked in another run before this is sent: subjects
	// by the handles of providers, by the users' names in the file.
	Meanwhile map[string]map[string]string `json:"meanwhile,omitempty"`
	// After is how long the client waits before it sends ("31m").
	After string `json:"after,omitempty"`
	// Stale sends the challenge token of the step before the last.
	Stale bool `json:"stale,omitempty"`
	// Resume asks for the step again instead of answering it.
	Resume bool `json:"resume,omitempty"`
	// Elsewhere sends it from another browser, which knows the id of the run alone.
	Elsewhere bool `json:"elsewhere,omitempty"`
}

// Ceremony is what a software authenticator answers to the options the last
// step offered: a registration or an authentication.
type Ceremony struct {
	Device string `json:"device"`
	// Fault is how the authenticator or its browser misbehaves.
	Fault string `json:"fault,omitempty"`
	// Old answers the options of the step before the last.
	Old bool `json:"old,omitempty"`
	// Replay sends the device's last answer once more.
	Replay bool `json:"replay,omitempty"`
	// As answers with the passkey of that user, where the device holds several.
	As string `json:"as,omitempty"`
	// Origin is that of the page; by default the allowed one.
	Origin string `json:"origin,omitempty"`
	// Name is the label a person gives a new passkey.
	Name string `json:"name,omitempty"`
}

// Code is what the authenticator app of a device shows. If the last step offered
// a key the app takes that first.
type Code struct {
	Device string `json:"device"`
	// Ahead is how far the device's clock is ahead ("30s", "-1m").
	Ahead string `json:"ahead,omitempty"`
	// Input is the identifier under which the code is sent; by default otp.
	Input string `json:"input,omitempty"`
}

// Expect is what must come. What is left out is not looked at, but for errors:
// a step or reply with an error fails unless Error or Refused names it.
type Expect struct {
	Status      schemas.RunStatus `json:"status,omitempty"`
	Step        string            `json:"step,omitempty"`
	Error       string            `json:"error,omitempty"`       // code of the step's error
	Check       string            `json:"check,omitempty"`       // the check of the passkey that failed: a passkey.Step
	Refused     string            `json:"refused,omitempty"`     // code of an error instead of a step
	Declined    string            `json:"declined,omitempty"`    // why the device sent nothing
	Like        int               `json:"like,omitempty"`        // number of the step whose reply this one's looks like, from 1
	FieldErrors []string          `json:"fieldErrors,omitempty"` // identifiers
	Inputs      []string          `json:"inputs,omitempty"`      // identifiers, all of them
	Actions     []string          `json:"actions,omitempty"`     // refs, all of them
	Data        []string          `json:"data,omitempty"`        // keys of additionalData, among others
	Values      map[string]string `json:"values,omitempty"`      // members of additionalData, among others
	User        string            `json:"user,omitempty"`        // whom the assertion is about
	Claims      map[string]any    `json:"claims,omitempty"`      // of the assertion, among others
	NoClaims    []string          `json:"noClaims,omitempty"`    // that the assertion lacks
	RedirectURL string            `json:"redirectURL,omitempty"` // where the browser is to go
	Provider    string            `json:"provider,omitempty"`    // handle of the identity provider that the browser is sent to
	Identities  map[string]int    `json:"identities,omitempty"`  // how many identities users have linked now
	Mails       []string          `json:"mails,omitempty"`       // addresses that this step sends mails to, all of them
	Requests    []Call            `json:"requests,omitempty"`    // what this step asks and tells services, all of it
	Events      []Event           `json:"events,omitempty"`      // audit events of this step, all of them
	Users       *int              `json:"users,omitempty"`       // how many users there are now
	Sessions    *int              `json:"sessions,omitempty"`    // how many sessions there are now
	Passkeys    map[string]int    `json:"passkeys,omitempty"`    // how many passkeys users have now
	Consents    []string          `json:"consents,omitempty"`    // scopes that the step asks consent for, all of them
	Refusal     string            `json:"refusal,omitempty"`     // error that the client is told instead of being granted its request
}

// Event is an audit event. A file may give its action alone.
type Event struct {
	Action string            `json:"action"`
	User   string            `json:"user,omitempty"`   // whom it is about, by the name in the file
	Detail map[string]string `json:"detail,omitempty"` // among others
}

// UnmarshalJSON reads an event, or the text that is its action.
func (e *Event) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, &e.Action); err == nil {
		return nil
	}
	type event Event // without this method
	return json.Unmarshal(text, (*event)(e))
}

// duration reads a duration, if there is one.
func duration(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	return time.ParseDuration(text)
}
