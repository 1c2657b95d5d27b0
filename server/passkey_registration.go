package server

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/schemas"
)

// registrationStart is the body of POST /register/passkey/start. Only the user is required.
type registrationStart struct {
	UserID                 *string `json:"userId"`
	RelyingPartyID         string  `json:"relyingPartyId"`
	RelyingPartyName       string  `json:"relyingPartyName"`
	AuthenticatorSelection struct {
		UserVerification        string `json:"userVerification"`
		AuthenticatorAttachment string `json:"authenticatorAttachment"`
		ResidentKey             string `json:"residentKey"`
		RequireResidentKey      bool   `json:"requireResidentKey"`
	} `json:"authenticatorSelection"`
	Attestation string `json:"attestation"`
}

// check validates every member: a ceremony would report only the first fault.
func (b *registrationStart) check() []schemas.Problem {
	var problems []schemas.Problem
	if text(b.UserID) == "" {
		problems = append(problems, missingMember("userId", "the id of the user to register a passkey for"))
	}
	preference := []string{passkey.Required, passkey.Preferred, passkey.Discouraged}
	selection := b.AuthenticatorSelection
	for _, member := range []struct {
		path, value string
		known       []string
	}{
		{"authenticatorSelection.userVerification", selection.UserVerification, preference},
		{"authenticatorSelection.authenticatorAttachment", selection.AuthenticatorAttachment, []string{passkey.Platform, passkey.CrossPlatform}},
		{"authenticatorSelection.residentKey", selection.ResidentKey, preference},
		{"attestation", b.Attestation, []string{"none", "indirect", "direct", "enterprise"}},
	} {
		if member.value != "" {
			problems = append(problems, checkChoice(member.path, member.value, member.known...)...)
		}
	}
	return problems
}

// residentKey follows WebAuthn Level 3 §5.4.4: requireResidentKey counts only without residentKey.
func (b *registrationStart) residentKey() string {
	selection := b.AuthenticatorSelection
	if selection.ResidentKey == "" && selection.RequireResidentKey {
		return passkey.Required
	}
	return selection.ResidentKey
}

type registrationOptions struct {
	Options      json.RawMessage `json:"publicKeyCredentialCreationOptions"`
	SessionToken string          `json:"sessionToken"`
}

// startRegistration handles POST /register/passkey/start.
func (s *server) startRegistration(w http.ResponseWriter, r *http.Request, c *caller) error {
	var body registrationStart
	if err := readJSON(w, r, smallBody, &body); err != nil {
		return err
	}
	var user *schemas.User
	guard := func(ctx context.Context, call directory.Call, userID string) (err error) {
		user, err = s.Directory.ManagedAccount(ctx, call, userID)
		return err
	}
	if err := s.mayRegister(r.Context(), c, *body.UserID, guard); err != nil {
		return err
	}
	options, state, err := s.beginRegistration(r, &body, user)
	if err != nil {
		return requestFault(err)
	}
	token, err := s.openSession(r.Context(), schemas.RegistrationCeremony, s.registrationOwner(&body), state)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, registrationOptions{options, token})
}

// beginRegistration begins a ceremony for a user; nil is one that was not read yet.
func (s *server) beginRegistration(r *http.Request, body *registrationStart, user *schemas.User) (options, state json.RawMessage, err error) {
	if user == nil {
		if user, err = s.Store.User(r.Context(), *body.UserID); err != nil {
			return nil, nil, err
		}
	}
	exclude, err := s.Store.Credentials(r.Context(), user.ID)
	if err != nil {
		return nil, nil, err
	}
	return s.Passkeys.BeginRegistration(passkey.RegistrationRequest{
		User:             passkey.User{ID: user.ID, Name: user.AccountName(), DisplayName: user.DisplayName()},
		Exclude:          exclude,
		RPID:             body.RelyingPartyID,
		RPName:           body.RelyingPartyName,
		UserVerification: body.AuthenticatorSelection.UserVerification,
		Attachment:       body.AuthenticatorSelection.AuthenticatorAttachment,
		ResidentKey:      body.residentKey(),
		Attestation:      body.Attestation,
	})
}

// registrationFinish is the body of POST /register/passkey/finish.
type registrationFinish struct {
	finishBody
	CredentialName string `json:"credentialName"`

	answer passkey.RegistrationResponse
}

func (b *registrationFinish) check() (problems []schemas.Problem) {
	b.answer, problems = parseAttestation(b.PublicKeyCredential)
	b.answer.Name = b.CredentialName
	return append(b.finishBody.check(), problems...)
}

// registeredPasskey describes the new passkey.
type registeredPasskey struct {
	CredentialID   string    `json:"CredentialID"`
	CredentialName string    `json:"CredentialName"`
	CreatedAt      time.Time `json:"CreatedAt"`
}

// finishRegistration handles POST /register/passkey/finish. The token must be one for the user of
// the ceremony. The recent sign-in was checked at the start, and its session token is valid for
// minutes only.
func (s *server) finishRegistration(w http.ResponseWriter, r *http.Request, c *caller) error {
	var body registrationFinish
	session, err := s.readFinish(w, r, &body, schemas.RegistrationCeremony)
	if err != nil {
		return err
	}
	if err := s.mayRegister(r.Context(), c, userOfRegistration(session.Owner), s.Directory.MayAccessAccount); err != nil {
		return err
	}
	credential, err := s.Passkeys.FinishRegistration(session.State, body.answer, s.now())
	if err != nil {
		return err
	}
	if err := s.addPasskey(r, c, credential); err != nil {
		return requestFault(err)
	}
	return writeJSON(w, http.StatusOK, registeredPasskey{credential.ID.String(), credential.Name, credential.CreatedAt})
}

// addPasskey stores a passkey, if the caller may still register it.
func (s *server) addPasskey(r *http.Request, c *caller, credential *schemas.Credential) error {
	if s.Directory != nil {
		return s.Directory.AddPasskey(r.Context(), c.Call, credential)
	}
	event := s.event(r, "passkey.registered", credential.UserID, map[string]string{"credentialId": credential.ID.String()})
	event.Event.Actor = c.Actor // callers with system register for other users
	return s.Store.Apply(r.Context(), []schemas.Change{schemas.CreateCredential{Credential: *credential}, event})
}
