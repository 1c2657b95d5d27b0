package e2e_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// The members of these bodies are those of the specification's tables, all of them and no
// more.

func TestSpecifiedPasskeyRegistration(t *testing.T) {
	t.Parallel()
	p := serve(t)
	assertion, user := p.user(t, "ada")
	device := passkeytest.New()

	start := object{
		"userId":                 user,
		"relyingPartyId":         "localhost",
		"relyingPartyName":       "Postern",
		"authenticatorSelection": object{"userVerification": "preferred", "authenticatorAttachment": "platform"},
		"attestation":            "none",
	}
	older, newer := p.startRegistration(t, assertion, start), p.startRegistration(t, assertion, start)
	made, err := device.Register(newer.CreationOptions, p.base)
	if err != nil {
		t.Fatal(err)
	}
	finish := object{
		"publicKeyCredential": object{
			"id": made.ID, "type": "public-key",
			"response": object{"clientDataJSON": made.ClientDataJSON, "attestationObject": made.AttestationObject},
		},
		"sessionToken":   older.SessionToken,
		"credentialName": "My phone",
	}
	p.expectError(t, "/register/passkey/finish", assertion, finish, 400, schemas.CodeStaleSession)

	finish["sessionToken"] = newer.SessionToken
	var metadata map[string]string
	p.must(t, "/register/passkey/finish", assertion, finish, &metadata)
	if got := slices.Sorted(maps.Keys(metadata)); !slices.Equal(got, []string{"CreatedAt", "CredentialID", "CredentialName"}) {
		t.Errorf("the reply has the members %v", got)
	}
	if metadata["CredentialID"] != made.ID || metadata["CredentialName"] != "My phone" {
		t.Errorf("the reply is %v, want the credential %s named My phone", metadata, made.ID)
	}
	p.expectError(t, "/register/passkey/finish", assertion, finish, 400, schemas.CodeStaleSession)
	p.expectError(t, "/register/passkey/start", "", start, 401, "unauthorized")
	if _, err := p.signIn(device); err != nil {
		t.Errorf("the new passkey does not sign in: %v", err)
	}
}

func TestSpecifiedPasskeyAuthentication(t *testing.T) {
	t.Parallel()
	p := serve(t)
	device := passkeytest.New()
	_, user := p.userWith(t, "ada", device)

	for _, test := range []struct {
		name  string
		start object
		skip  bool
	}{
		{"of a user", object{"userId": user, "relyingPartyId": "localhost"}, false},
		{"usernameless", object{"relyingPartyId": "localhost"}, false},
		{"without an assertion", object{"userId": user, "relyingPartyId": "localhost"}, true},
	} {
		var begun struct {
			Options      json.RawMessage `json:"publicKeyCredentialRequestOptions"`
			SessionToken string          `json:"sessionToken"`
		}
		p.must(t, "/auth/passkey/start", "", test.start, &begun)
		answer, err := device.Authenticate(begun.Options, p.base)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		finish := object{
			"publicKeyCredential": object{
				"id": answer.ID, "type": "public-key",
				"response": object{
					"clientDataJSON": answer.ClientDataJSON, "authenticatorData": answer.AuthenticatorData,
					"signature": answer.Signature, "userHandle": answer.UserHandle,
				},
			},
			"sessionToken":  begun.SessionToken,
			"skipAssertion": test.skip,
		}
		var done struct{ ID, Type, OUID, Assertion string }
		p.must(t, "/auth/passkey/finish", "", finish, &done)
		if done.ID != user || done.Type != "Person" {
			t.Errorf("%s: the reply is %+v, want user %s of type Person", test.name, done, user)
		}
		if (done.Assertion == "") != test.skip {
			t.Errorf("%s: the assertion is %q", test.name, done.Assertion)
		}
		p.expectError(t, "/auth/passkey/finish", "", finish, 400, schemas.CodeStaleSession)
	}
	nobody := object{"userId": "01900000-0000-7000-8000-00000000dead", "relyingPartyId": "localhost"}
	var begun struct {
		Options      json.RawMessage `json:"publicKeyCredentialRequestOptions"`
		SessionToken string
	}
	p.must(t, "/auth/passkey/start", "", nobody, &begun) // it does not reveal whether the user exists, and fails at the end
	answer, err := device.Authenticate(withoutList(t, begun.Options), p.base)
	if err != nil {
		t.Fatal(err)
	}
	p.expectError(t, "/auth/passkey/finish", "", object{"sessionToken": begun.SessionToken, "publicKeyCredential": object{"id": answer.ID, "type": "public-key",
		"response": object{"clientDataJSON": answer.ClientDataJSON, "authenticatorData": answer.AuthenticatorData, "signature": answer.Signature, "userHandle": answer.UserHandle}}},
		400, schemas.CodePasskeyFailed)
}

// withoutList removes allowCredentials, so that any passkey of a device answers the
// options.
func withoutList(t *testing.T, options json.RawMessage) json.RawMessage {
	t.Helper()
	var members map[string]json.RawMessage
	datatest.Unmarshal(t, options, &members)
	delete(members, "allowCredentials")
	return datatest.Marshal(t, members)
}

// These flows use the specification's requests as printed: no challenge token, no verbose.
func TestSpecifiedFlows(t *testing.T) {
	t.Parallel()
	p := serve(t)
	device := passkeytest.New()

	s := p.step(t, object{"applicationId": tryID, "flowType": "REGISTRATION"})
	s = p.step(t, object{"executionId": s.ExecutionID, "action": "continue", "inputs": object{"username": "ada"}})
	inputs, err := creationInputs(s, device, p.base)
	if err != nil {
		t.Fatal(err)
	}
	s = p.step(t, object{"executionId": s.ExecutionID, "action": s.Data.Actions[0].Ref, "inputs": inputs})
	if s.FlowStatus != schemas.Complete || s.Data.AdditionalData["passkeyCredentialID"] != inputs["credentialId"] {
		t.Fatalf("the registration ended with %+v", s)
	}
	user := claims(t, s.Assertion)["sub"]

	s = p.step(t, object{"applicationId": tryID, "flowType": "AUTHENTICATION"})
	inputs, err = requestInputs(s, device, p.base)
	if err != nil {
		t.Fatal(err)
	}
	s = p.step(t, object{"executionId": s.ExecutionID, "action": s.Data.Actions[0].Ref, "inputs": inputs})
	if s.FlowStatus != schemas.Complete || claims(t, s.Assertion)["sub"] != user {
		t.Fatalf("the authentication ended with %+v", s)
	}

	// userHandle is optional if the user was named.
	s = p.step(t, object{"applicationId": tryID, "flowType": "AUTHENTICATION"})
	s = p.step(t, object{"executionId": s.ExecutionID, "action": "username"})
	s = p.step(t, object{"executionId": s.ExecutionID, "action": "continue", "inputs": object{"username": "ada"}})
	inputs, err = requestInputs(s, device, p.base)
	if err != nil {
		t.Fatal(err)
	}
	delete(inputs, "userHandle")
	s = p.step(t, object{"executionId": s.ExecutionID, "action": s.Data.Actions[0].Ref, "inputs": inputs})
	if s.FlowStatus != schemas.Complete || claims(t, s.Assertion)["sub"] != user {
		t.Fatalf("the authentication by name ended with %+v", s)
	}
}

// step posts to /flow/execute and expects a step.
func (p *postern) step(t *testing.T, body object) *schemas.Step {
	t.Helper()
	s, err := p.execute(body)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// user creates a user through the sign-up flow, with a discarded passkey.
func (p *postern) user(t *testing.T, username string) (assertion, id string) {
	t.Helper()
	return p.userWith(t, username, passkeytest.New())
}

func (p *postern) userWith(t *testing.T, username string, device *passkeytest.Authenticator) (assertion, id string) {
	t.Helper()
	s, err := p.signUp(device, username)
	if err != nil {
		t.Fatal(err)
	}
	return s.Assertion, claims(t, s.Assertion)["sub"].(string)
}

// registrationStart is the reply of POST /register/passkey/start.
type registrationStart struct {
	CreationOptions json.RawMessage `json:"publicKeyCredentialCreationOptions"`
	SessionToken    string          `json:"sessionToken"`
}

func (p *postern) startRegistration(t *testing.T, token string, body object) registrationStart {
	t.Helper()
	var begun registrationStart
	p.must(t, "/register/passkey/start", token, body, &begun)
	return begun
}

// expectError expects an error with a status and a code.
func (p *postern) expectError(t *testing.T, path, token string, body object, status int, code string) {
	t.Helper()
	r, err := p.post(path, token, body)
	if err != nil {
		t.Fatal(err)
	}
	if r.status != status || r.code() != code {
		t.Errorf("POST %s: status %d, code %s; want %d, %s: %s", path, r.status, r.code(), status, code, r.body)
	}
}
