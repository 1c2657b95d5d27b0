package e2e_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// object is a JSON object as a client writes it.
type object = map[string]any

// reply is the server's reply.
type reply struct {
	status int
	body   []byte
}

const jsonBody = "Content-Type: application/json"

// bearer is the header of a token, or "" without one.
func bearer(token string) string {
	if token == "" {
		return ""
	}
	return "Authorization: Bearer " + token
}

// do sends a request with headers such as jsonBody; "" is none. The error is one of the connection;
// any status is a reply.
func (p *postern) do(method, path, body string, headers ...string) (*reply, error) {
	r, err := http.NewRequest(method, p.base+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for _, header := range headers {
		if name, value, found := strings.Cut(header, ": "); found {
			r.Header.Set(name, value)
		}
	}
	w, err := p.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer w.Body.Close()
	answer, err := io.ReadAll(w.Body)
	return &reply{w.StatusCode, answer}, err
}

// send is do that expects a reply.
func (p *postern) send(method, path, body string, headers ...string) *reply {
	p.t.Helper()
	r, err := p.do(method, path, body, headers...)
	if err != nil {
		p.t.Fatalf("%s %s: %v", method, path, err)
	}
	return r
}

// post sends JSON.
func (p *postern) post(path, token string, body any) (*reply, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return p.do(http.MethodPost, path, string(text), jsonBody, bearer(token))
}

// get reads a resource as the administrator.
func (p *postern) get(t *testing.T, path string, into any) {
	t.Helper()
	r := p.send(http.MethodGet, path, "", bearer(adminToken(t, p)))
	if r.status != http.StatusOK {
		t.Fatalf("GET %s: status %d: %s", path, r.status, r.body)
	}
	datatest.Unmarshal(t, r.body, into)
}

// must is post that expects the status 200 and decodes the reply into out.
func (p *postern) must(t *testing.T, path, token string, body, out any) {
	t.Helper()
	r, err := p.post(path, token, body)
	if err != nil {
		t.Fatalf("POST %s: %v", path, err)
	}
	if r.status != http.StatusOK {
		t.Fatalf("POST %s: status %d: %s", path, r.status, r.body)
	}
	if err := json.Unmarshal(r.body, out); err != nil {
		t.Fatalf("POST %s: %v: %s", path, err, r.body)
	}
}

// code returns the error code of a reply.
func (r *reply) code() string {
	var e schemas.Error
	if json.Unmarshal(r.body, &e) != nil {
		return fmt.Sprintf("no error body: %.200s", r.body)
	}
	return e.Code
}

// execute posts to /flow/execute. A reply that is not a step is an error with its status
// and code.
func (p *postern) execute(body object) (*schemas.Step, error) {
	r, err := p.post("/flow/execute", "", body)
	if err != nil {
		return nil, err
	}
	if r.status != http.StatusOK {
		return nil, fmt.Errorf("POST /flow/execute: status %d, %s", r.status, r.code())
	}
	var step schemas.Step
	if err := json.Unmarshal(r.body, &step); err != nil {
		return nil, err
	}
	return &step, nil
}

// begin starts a flow of the application Try it.
func (p *postern) begin(flowType string) (*schemas.Step, error) {
	return p.execute(object{"applicationId": tryID, "flowType": flowType})
}

// next answers a step.
func (p *postern) next(s *schemas.Step, action string, inputs map[string]string) (*schemas.Step, error) {
	return p.execute(answerTo(s, action, inputs))
}

// answerTo is the body that answers a step. Without an action the member is omitted.
func answerTo(s *schemas.Step, action string, inputs map[string]string) object {
	body := object{"executionId": s.ExecutionID, "challengeToken": s.ChallengeToken, "inputs": inputs}
	if action != "" {
		body["action"] = action
	}
	return body
}

// signUp registers a user with a passkey on the device, and returns the COMPLETE step,
// which guarantees that the account exists.
func (p *postern) signUp(device *passkeytest.Authenticator, username string) (*schemas.Step, error) {
	s, err := p.begin("REGISTRATION")
	if err != nil {
		return nil, err
	}
	s, err = p.next(s, "continue", map[string]string{"username": username})
	if err != nil {
		return nil, err
	}
	return p.createPasskey(s, device)
}

// createPasskey answers a step that offers creation options.
func (p *postern) createPasskey(s *schemas.Step, device *passkeytest.Authenticator) (*schemas.Step, error) {
	inputs, err := creationInputs(s, device, p.base)
	if err != nil {
		return nil, err
	}
	s, err = p.next(s, "passkey", inputs)
	if err == nil && s.FlowStatus != schemas.Complete {
		err = fmt.Errorf("the sign-up is %s at %s: %v", s.FlowStatus, s.StepID, s.Error)
	}
	return s, err
}

// signIn signs in with a passkey of the device, without a name.
func (p *postern) signIn(device *passkeytest.Authenticator) (*schemas.Step, error) {
	s, err := p.begin("AUTHENTICATION")
	if err != nil {
		return nil, err
	}
	return p.answerPasskey(s, device)
}

// answerPasskey answers the last step of a sign-in with a passkey of the device.
func (p *postern) answerPasskey(s *schemas.Step, device *passkeytest.Authenticator) (*schemas.Step, error) {
	inputs, err := requestInputs(s, device, p.base)
	if err != nil {
		return nil, err
	}
	s, err = p.next(s, "passkey", inputs)
	if err == nil && s.FlowStatus != schemas.Complete {
		err = fmt.Errorf("the sign-in is %s at %s: %v", s.FlowStatus, s.StepID, s.Error)
	}
	return s, err
}

// creationInputs answers a step's creation options, as a page of the origin would, with the
// specification's inputs of a registration.
func creationInputs(s *schemas.Step, device *passkeytest.Authenticator, origin string) (map[string]string, error) {
	r, err := device.Register(json.RawMessage(s.Data.AdditionalData["passkeyCreationOptions"]), origin)
	return map[string]string{
		"credentialId": r.ID, "clientDataJSON": r.ClientDataJSON, "attestationObject": r.AttestationObject,
		"credentialName": "Test key",
	}, err
}

// requestInputs answers a step's request options with the specification's
// inputs of an authentication.
func requestInputs(s *schemas.Step, device *passkeytest.Authenticator, origin string) (map[string]string, error) {
	r, err := device.Authenticate(json.RawMessage(s.Data.AdditionalData["passkeyChallenge"]), origin)
	return map[string]string{
		"credentialId": r.ID, "clientDataJSON": r.ClientDataJSON, "authenticatorData": r.AuthenticatorData,
		"signature": r.Signature, "userHandle": r.UserHandle,
	}, err
}

// claims decodes the payload of a JWT.
func claims(t *testing.T, jwt string) object {
	t.Helper()
	parts := strings.Split(jwt, ".")
	if len(parts) != 3 {
		t.Fatalf("a JWT has three parts, this has %d: %q", len(parts), jwt)
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	var c object
	datatest.Unmarshal(t, payload, &c)
	return c
}
