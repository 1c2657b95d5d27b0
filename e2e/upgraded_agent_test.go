package e2e_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/federation/federationtest"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/schemas"
)

// agent is a user with a browser and some credentials. It answers what the flows ask, whichever that is.
type agent struct {
	*postern        // with the cookies of the browser
	name            string
	email, password string
	device          *passkeytest.Authenticator // nil for none
	app             *authenticatorApp          // nil for none
	codes           []string                   // for recovery, unused
	mailedCodes     int                        // that were used
	provider        *federationtest.Provider   // nil for none
	invitation      string                     // the token of a link
}

// newBrowser returns the server as a browser without cookies sees it.
func (p *postern) newBrowser() *postern {
	p.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	browser := *p
	browser.client = &http.Client{Jar: jar, Timeout: timeout, Transport: p.client.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &browser
}

// forgetSession removes the cookies of the browser, except the one that identifies the browser to the server.
func (a *agent) forgetSession() {
	at, err := url.Parse(a.base)
	if err != nil {
		a.t.Fatal(err)
	}
	known := slices.DeleteFunc(a.client.Jar.Cookies(at), func(c *http.Cookie) bool { return !strings.Contains(c.Name, "device") })
	a.postern = a.newBrowser()
	a.client.Jar.SetCookies(at, known)
}

// authenticatorApp makes codes. Each is of a later time step than the one before, as servers expect.
type authenticatorApp struct {
	key  totp.Key
	last int64
}

func newAuthenticatorApp(secret string) *authenticatorApp {
	return &authenticatorApp{key: totp.Key{Secret: secret, Algorithm: totp.SHA1, Digits: 6}}
}

// code returns the next code: a server accepts that of the time step before, the current and the next one.
func (a *authenticatorApp) code() (string, error) {
	now := totp.Step(time.Now())
	a.last = max(a.last+1, now-1)
	for a.last > totp.Step(time.Now())+1 {
		time.Sleep(time.Second)
	}
	return a.key.Code(time.Unix(a.last*int64(totp.Period/time.Second), 0))
}

// errNoAnswer reports a step that needs a credential that the user does not have.
var errNoAnswer = errors.New("the user has no answer to the step")

// runFlow runs a flow of an application to its end.
func (a *agent) runFlow(body object) (*schemas.Step, error) {
	s, err := a.execute(body)
	tried := map[string]int{}
	for n := 0; err == nil && s.FlowStatus == schemas.Incomplete; n++ {
		if n > 20 {
			return s, fmt.Errorf("the run does not end: it is at %s", s.StepID)
		}
		s, err = a.answer(s, tried)
	}
	return s, err
}

// answer answers a step with the first action for which the user has everything, and that was not tried at this
// step before.
func (a *agent) answer(s *schemas.Step, tried map[string]int) (*schemas.Step, error) {
	if s.Type == schemas.Redirection {
		return a.answerElsewhere(s)
	}
	if s.Error != nil && s.Error.Code != "" && tried[s.StepID+" "+s.Error.Code] > 0 {
		return s, fmt.Errorf("at %s: %s", s.StepID, s.Error.Code)
	}
	if s.Error != nil {
		tried[s.StepID+" "+s.Error.Code]++
	}
	actions := []string{""}
	if len(s.Data.Actions) > 0 {
		actions = actions[:0]
	}
	for _, action := range s.Data.Actions {
		actions = append(actions, action.Ref)
	}
	slices.SortStableFunc(actions, func(x, y string) int { return tried[s.StepID+"/"+x] - tried[s.StepID+"/"+y] })
	for _, action := range actions {
		inputs, err := a.inputsFor(s, action)
		if errors.Is(err, errNoAnswer) {
			continue
		}
		if err != nil {
			return s, err
		}
		tried[s.StepID+"/"+action]++
		return a.next(s, action, inputs)
	}
	return s, fmt.Errorf("%w %s of %s", errNoAnswer, s.StepID, a.name)
}

// leaving are actions that lead away from a way to sign in that the user may have, or end the run.
var leaving = []string{"resend", "deny", "other", "leave", "back", "usernameless", "skip", "to-recover"}

// inputsFor returns the inputs for an action of a step.
func (a *agent) inputsFor(s *schemas.Step, action string) (map[string]string, error) {
	data := s.Data.AdditionalData
	isPasskey := action == "passkey" || action == "continue" && data["passkeyChallenge"] != ""
	switch {
	case slices.Contains(leaving, action), action == "corp" && a.provider == nil, action == "key" && a.device == nil:
		return nil, errNoAnswer
	case isPasskey && a.device == nil:
		return nil, errNoAnswer
	case isPasskey && data["passkeyCreationOptions"] != "":
		return creationInputs(s, a.device, a.base)
	case isPasskey:
		inputs, err := requestInputs(s, a.device, a.base)
		if err != nil {
			return nil, errNoAnswer
		}
		return inputs, nil
	case !slices.Contains([]string{"", "continue", "submit"}, action):
		return nil, nil // a way to another step
	}
	inputs := map[string]string{}
	for _, in := range s.Data.Inputs {
		value, err := a.valueOf(s, in.Identifier)
		if err != nil {
			return nil, err
		}
		if value == "" && in.Required {
			return nil, errNoAnswer
		}
		inputs[in.Identifier] = value
	}
	return inputs, nil
}

// valueOf returns the user's value of an input, "" for none.
func (a *agent) valueOf(s *schemas.Step, identifier string) (string, error) {
	switch identifier {
	case "username":
		return a.name, nil
	case "email":
		return a.email, nil
	case "password":
		return a.password, nil
	case "invitation":
		return a.invitation, nil
	case "code":
		if a.email == "" {
			return "", nil
		}
		return a.nextMailedCode(), nil
	case "otp":
		if secret := s.Data.AdditionalData["totpSecret"]; secret != "" {
			a.app = newAuthenticatorApp(secret)
		}
		if a.app == nil {
			return "", nil
		}
		return a.app.code()
	case "recoveryCode":
		if len(a.codes) == 0 {
			return "", nil
		}
		code := a.codes[0]
		a.codes = a.codes[1:]
		return code, nil
	}
	return "", nil
}

var mailedCode = regexp.MustCompile(`(?m)^    ([0-9]{6})$`)

// nextMailedCode waits for a code that was not used yet.
func (a *agent) nextMailedCode() (code string) {
	eventually(a.t, "a code is mailed to "+a.email, func() bool {
		var codes []string // newest first
		for _, text := range a.mails(a.email) {
			if found := mailedCode.FindStringSubmatch(text); found != nil {
				codes = append(codes, found[1])
			}
		}
		if len(codes) <= a.mailedCodes {
			return false
		}
		code, a.mailedCodes = codes[0], len(codes)
		return true
	})
	return code
}

// answerElsewhere signs in at the provider.
func (a *agent) answerElsewhere(s *schemas.Step) (*schemas.Step, error) {
	r, err := a.provider.SignIn(s.Data.RedirectURL, federationtest.Person{Subject: a.name, Claims: object{"email": a.email, "given_name": a.name}}, "")
	if err != nil {
		return s, err
	}
	return a.next(s, "", map[string]string{"code": r.Code, "state": r.State, "iss": r.Issuer})
}

// outcome describes the end of a run so that two programs can be compared: an error, or the user and the scopes.
func (a *agent) outcome(s *schemas.Step, err error) outcome {
	switch {
	case err != nil:
		return outcome{Failure: err.Error()}
	case s.FlowStatus != schemas.Complete:
		return outcome{Failure: s.Error.Code}
	}
	got := claims(a.t, s.Assertion)
	scope, _ := got["scope"].(string)
	return outcome{User: fmt.Sprint(got["sub"]), Scopes: strings.Fields(scope)}
}

// outcome is the end of a sign-in.
type outcome struct {
	Failure, User string
	Scopes        []string
}
