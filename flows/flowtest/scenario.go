package flowtest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/schemas"
)

// File is a scenario file.
type File struct {
	// Flow is the flow's file, by its path from this one. By default it is the
	// one beside this with its name but for "_test".
	Flow string `json:"flow,omitempty"`
	// Users exist before every scenario, by a name the scenarios use.
	Users map[string]Given `json:"users,omitempty"`
	// Application is whose sign-in the flow serves.
	Application schemas.Application `json:"application,omitzero"`
	Scenarios   []Scenario          `json:"scenarios"`

	path string
}

// Given is a user who exists. Attributes are the user's own; the rest is how
// they can sign in and what they may do.
type Given struct {
	Attributes  map[string]any `json:"attributes"`
	Password    string         `json:"password,omitempty"`
	Passkeys    []string       `json:"passkeys,omitempty"` // names of devices
	Permissions []string       `json:"permissions,omitempty"`
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
	// Application has members in which the application is unlike that of the file.
	Application json.RawMessage `json:"application,omitempty"`
	Steps       []Exchange      `json:"steps"`
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
	// After is how long the client waits before it sends ("31m").
	After string `json:"after,omitempty"`
	// Stale sends the challenge token of the step before the last.
	Stale bool `json:"stale,omitempty"`
}

// Ceremony is what a software authenticator answers to the options the last
// step offered: a registration or an authentication.
type Ceremony struct {
	Device string `json:"device"`
	// Fault is how the authenticator or its browser misbehaves.
	Fault string `json:"fault,omitempty"`
	// Old answers the options of the step before the last.
	Old bool `json:"old,omitempty"`
	// Origin is that of the page; by default the allowed one.
	Origin string `json:"origin,omitempty"`
	// Name is the label a person gives a new passkey.
	Name string `json:"name,omitempty"`
}

// Expect is what must come. What is left out is not looked at, but for errors:
// a step or reply with an error fails unless Error or Refused names it.
type Expect struct {
	Status      schemas.RunStatus `json:"status,omitempty"`
	Step        string            `json:"step,omitempty"`
	Error       string            `json:"error,omitempty"`       // code of the step's error
	Refused     string            `json:"refused,omitempty"`     // code of an error instead of a step
	FieldErrors []string          `json:"fieldErrors,omitempty"` // identifiers
	Inputs      []string          `json:"inputs,omitempty"`      // identifiers, all of them
	Actions     []string          `json:"actions,omitempty"`     // refs, all of them
	Data        []string          `json:"data,omitempty"`        // keys of additionalData, among others
	Claims      map[string]any    `json:"claims,omitempty"`      // of the assertion, among others
	RedirectURL string            `json:"redirectURL,omitempty"` // where the browser is to go
	Events      []string          `json:"events,omitempty"`      // audit actions of this step, all of them
	Users       *int              `json:"users,omitempty"`       // how many users there are now
	Sessions    *int              `json:"sessions,omitempty"`    // how many sessions there are now
	Consents    []string          `json:"consents,omitempty"`    // scopes that the step asks consent for, all of them
	Refusal     string            `json:"refusal,omitempty"`     // error that the client is told instead of being granted its request
}

//go:embed scenario.schema.json
var scenarioSchemaText string

// Schema is the JSON Schema of scenario files.
func Schema() *schemas.Schema { return schemas.MustSchema("scenario", scenarioSchemaText) }

// Load reads a scenario file. The error lists everything that is wrong with
// it, by line and column, or says that no flow is named or beside it.
func Load(path string) (*File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, _, problems := parse(path, text)
	if len(problems) > 0 {
		return nil, flows.Faults(path, problems)
	}
	if f.Flow == "" {
		f.Flow, err = flows.FlowOf(path)
	}
	return f, err
}

// parse reads the text of a scenario file, as far as the text alone tells.
func parse(path string, text []byte) (*File, *schemas.Document, []schemas.Problem) {
	doc, problems := schemas.ParseYAML(text)
	f := &File{path: path}
	if len(problems) == 0 {
		problems = doc.Decode(Schema(), f)
	}
	return f, doc, problems
}

// Check returns everything that is wrong with a scenario file, but for what only
// running it tells, and how many scenarios it has.
func Check(path string, text []byte) (scenarios int, problems []schemas.Problem) {
	f, doc, problems := parse(path, text)
	if len(problems) > 0 {
		return 0, problems
	}
	if f.Flow == "" {
		if _, err := flows.FlowOf(path); err != nil {
			return 0, []schemas.Problem{{Message: strings.TrimPrefix(err.Error(), path+": "), Line: 1, Column: 1}}
		}
	} else if _, err := os.Stat(filepath.Join(filepath.Dir(path), f.Flow)); err != nil {
		missing := fmt.Sprintf("there is no flow %q; expected its path from this file", f.Flow)
		return 0, doc.Locate([]schemas.Problem{{Path: "flow", Message: missing}})
	}
	return len(f.Scenarios), nil
}

// wait returns how long the client waits.
func (s Send) wait() (time.Duration, error) { return duration(s.After) }

// duration reads a duration, if there is one.
func duration(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	return time.ParseDuration(text)
}
