package passkey_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// b64 changes the decoded bytes of base64url text.
func b64(text string, change func([]byte) []byte) string {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(change(raw))
}

func appendByte(b []byte) []byte { return append(b, 0) }

// TestAuthenticationRefusals violates each step of Level 3 §7.2 separately. The answers
// are otherwise correct, including the signature if the violation happens on the
// authenticator.
func TestAuthenticationRefusals(t *testing.T) {
	type response = passkey.AuthenticationResponse
	type request = passkey.AuthenticationRequest
	named := func(c *schemas.Credential) request { return request{UserID: alice, Allow: []schemas.Credential{*c}} }
	usernameless := func(*schemas.Credential) request { return request{} }
	for name, test := range map[string]struct {
		policy  passkey.Policy
		request func(*schemas.Credential) request
		hows    []passkeytest.CeremonyOption
		change  func(*response)
		store   func(*fixture, *schemas.Credential)
		step    passkey.Step
		words   string
	}{
		// Steps 5–7: the credential.
		"id not in allowCredentials":                 {request: named, hows: []passkeytest.CeremonyOption{passkeytest.ForeignCredential, passkeytest.NoUserHandle}, step: passkey.StepCredential, words: "not one of the requested"},
		"credential unknown, usernameless":           {request: usernameless, hows: []passkeytest.CeremonyOption{passkeytest.ForeignCredential}, step: passkey.StepCredential, words: "is unknown"},
		"credential removed meanwhile":               {request: named, store: func(w *fixture, c *schemas.Credential) { delete(w.stored, c.ID.String()) }, step: passkey.StepCredential, words: "is unknown"},
		"credential of another user":                 {request: func(*schemas.Credential) request { return request{UserID: bob} }, hows: []passkeytest.CeremonyOption{passkeytest.NoUserHandle}, step: passkey.StepCredential, words: "not one of the requested"},
		"credential given to another user meanwhile": {request: named, hows: []passkeytest.CeremonyOption{passkeytest.NoUserHandle}, store: func(_ *fixture, c *schemas.Credential) { c.UserID = bob }, step: passkey.StepCredential, words: "not one of the requested"},
		"userHandle of another user":                 {request: named, hows: []passkeytest.CeremonyOption{passkeytest.WrongUserHandle}, step: passkey.StepUserHandle, words: "another user"},
		"usernameless, userHandle of another":        {request: usernameless, hows: []passkeytest.CeremonyOption{passkeytest.WrongUserHandle}, step: passkey.StepUserHandle, words: "another user"},
		"usernameless without userHandle":            {request: usernameless, hows: []passkeytest.CeremonyOption{passkeytest.NoUserHandle}, step: passkey.StepUserHandle, words: "missing"},
		"usernameless, record is another user's":     {request: usernameless, store: func(_ *fixture, c *schemas.Credential) { c.UserID = bob }, step: passkey.StepUserHandle, words: "another user"},
		"listed without a user, record is another's": {request: func(c *schemas.Credential) request { return request{Allow: []schemas.Credential{*c}} }, store: func(_ *fixture, c *schemas.Credential) { c.UserID = bob }, step: passkey.StepUserHandle, words: "another user"},
		// Steps 8–10: client data is UTF-8 JSON.
		"client data not UTF-8": {request: named, change: func(r *response) {
			r.ClientDataJSON = b64(r.ClientDataJSON, func(b []byte) []byte { return bytes.Replace(b, []byte(`{`), []byte("{\"x\":\"\xff\","), 1) })
		}, step: passkey.StepResponse, words: "UTF-8"},
		"client data not JSON":        {request: named, change: func(r *response) { r.ClientDataJSON = "bm8" }, step: passkey.StepResponse, words: "JSON object"},
		"client data with a tail":     {request: named, change: func(r *response) { r.ClientDataJSON = b64(r.ClientDataJSON, appendByte) }, step: passkey.StepResponse, words: "JSON object"},
		"client data not an object":   {request: named, change: func(r *response) { r.ClientDataJSON = "W10" }, step: passkey.StepResponse, words: "JSON object"},
		"client data missing":         {request: named, change: func(r *response) { r.ClientDataJSON = "" }, step: passkey.StepResponse, words: "clientDataJSON is missing"},
		"client data null":            {request: named, change: func(r *response) { r.ClientDataJSON = "bnVsbA" }, step: passkey.StepType, words: "webauthn.get"},
		"client data oversized":       {request: named, change: func(r *response) { r.ClientDataJSON = strings.Repeat("A", 12<<10) }, step: passkey.StepResponse, words: "too long"},
		"authenticator data missing":  {request: named, change: func(r *response) { r.AuthenticatorData = "" }, step: passkey.StepResponse, words: "authenticatorData is missing"},
		"authenticator data short":    {request: named, change: func(r *response) { r.AuthenticatorData = r.AuthenticatorData[:48] }, step: passkey.StepResponse, words: "too short"},
		"authenticator data oversize": {request: named, change: func(r *response) { r.AuthenticatorData = strings.Repeat("A", 12<<10) }, step: passkey.StepResponse, words: "too long"},
		"signature missing":           {request: named, change: func(r *response) { r.Signature = "" }, step: passkey.StepResponse, words: "signature is missing"},
		"signature oversized":         {request: named, change: func(r *response) { r.Signature = strings.Repeat("A", 12<<10) }, step: passkey.StepResponse, words: "too long"},
		"signature not base64url":     {request: named, change: func(r *response) { r.Signature = "a+b/" }, step: passkey.StepResponse, words: "signature: expected base64url"},
		"signature with a line break": {request: named, change: func(r *response) { r.Signature += "\n" }, step: passkey.StepResponse, words: "line break"},
		"id missing":                  {request: named, change: func(r *response) { r.ID = "" }, step: passkey.StepResponse, words: "id is missing"},
		"id not base64url":            {request: named, change: func(r *response) { r.ID = "?" }, step: passkey.StepResponse, words: "id: expected base64url"},
		"id of padding alone":         {request: named, change: func(r *response) { r.ID = "==" }, step: passkey.StepResponse, words: "1 to 1023"},
		"userHandle oversized":        {request: named, change: func(r *response) { r.UserHandle = strings.Repeat("A", 88) }, step: passkey.StepResponse, words: "64 bytes"},
		// Steps 11–14.
		"type":         {request: named, hows: []passkeytest.CeremonyOption{passkeytest.WrongType}, step: passkey.StepType, words: "webauthn.get"},
		"challenge":    {request: named, hows: []passkeytest.CeremonyOption{passkeytest.WrongChallenge}, step: passkey.StepChallenge, words: "another challenge"},
		"origin":       {request: named, hows: []passkeytest.CeremonyOption{passkeytest.WrongOrigin}, step: passkey.StepOrigin, words: "https://evil.example"},
		"cross origin": {request: named, hows: []passkeytest.CeremonyOption{passkeytest.CrossOrigin}, step: passkey.StepCrossOrigin, words: "frame"},
		"topOrigin alone": {request: named, change: func(r *response) {
			r.ClientDataJSON = b64(r.ClientDataJSON, func(b []byte) []byte {
				return bytes.Replace(b, []byte(`{`), []byte(`{"topOrigin":"https://login.example.com",`), 1)
			})
		}, step: passkey.StepCrossOrigin, words: "frame"},
		// Steps 15–18.
		"rpIdHash":               {request: named, hows: []passkeytest.CeremonyOption{passkeytest.WrongRPID}, step: passkey.StepRelyingParty, words: "example.com"},
		"UP":                     {request: named, hows: []passkeytest.CeremonyOption{passkeytest.NoUP}, step: passkey.StepPresence, words: "UP"},
		"UV required by policy":  {policy: passkey.Policy{UserVerification: passkey.Required}, request: named, hows: []passkeytest.CeremonyOption{passkeytest.NoUV}, step: passkey.StepVerification, words: "UV"},
		"UV required by request": {request: func(c *schemas.Credential) request { return request{UserID: alice, UserVerification: passkey.Required} }, hows: []passkeytest.CeremonyOption{passkeytest.NoUV}, step: passkey.StepVerification, words: "UV"},
		"BS without BE":          {request: named, hows: []passkeytest.CeremonyOption{passkeytest.BSWithoutBE}, step: passkey.StepBackup, words: "BS"},
		"BE changed":             {request: named, hows: []passkeytest.CeremonyOption{passkeytest.BEChanged}, step: passkey.StepBackup, words: "differs from its registration"},
		"trailing bytes":         {request: named, hows: []passkeytest.CeremonyOption{passkeytest.TrailingBytes}, step: passkey.StepResponse, words: "authenticator data"},
		// Steps 19–21.
		"signature": {request: named, hows: []passkeytest.CeremonyOption{passkeytest.BadSignature}, step: passkey.StepSignature, words: "signature"},
		"signature over other client data": {request: named, change: func(r *response) {
			r.ClientDataJSON = b64(r.ClientDataJSON, func(b []byte) []byte { return append(b, ' ') })
		}, step: passkey.StepSignature, words: "signature"},
		"signature with a tail": {request: named, change: func(r *response) { r.Signature = b64(r.Signature, appendByte) }, step: passkey.StepSignature, words: "signature"},
		"signature by another key": {request: named, store: func(w *fixture, c *schemas.Credential) {
			c.PublicKey = w.register(passkey.RegistrationRequest{User: passkey.User{ID: bob}}).PublicKey
		}, step: passkey.StepSignature, words: "signature"},
		"stored key is garbage": {request: named, store: func(_ *fixture, c *schemas.Credential) { c.PublicKey = []byte("no key") }, step: passkey.StepSignature, words: "signature"},
		// Step 22 and policy.
		"counter":          {request: named, hows: []passkeytest.CeremonyOption{passkeytest.CounterRegress}, step: passkey.StepCounter, words: "counter"},
		"counter far back": {request: named, store: func(_ *fixture, c *schemas.Credential) { c.SignCount = 1000 }, step: passkey.StepCounter, words: "counter"},
		"id oversized":     {request: named, hows: []passkeytest.CeremonyOption{passkeytest.OversizedID}, step: passkey.StepResponse, words: "1023"},
	} {
		t.Run(name, func(t *testing.T) {
			w, credential := registered(t, test.policy)
			first, err := w.authenticate(passkey.AuthenticationRequest{})
			if err != nil {
				t.Fatal(err)
			}
			credential.SignCount = first.Use.SignCount
			options, session := w.beginAuthentication(test.request(credential))
			answer := w.assert(options, test.hows...)
			if test.change != nil {
				test.change(&answer)
			}
			if test.store != nil {
				test.store(w, credential)
			}
			v, err := w.FinishAuthentication(t.Context(), session, answer, w.find, noon)
			if v != nil {
				t.Errorf("expected only the error, got %+v", v)
			}
			mustRefuse(t, err, test.step, test.words)
			if unknown := schemas.AsError(err).Description.Key == "error.unknown_passkey"; unknown != (test.words == "is unknown") {
				t.Errorf("the page learns that the passkey is unknown: %v", unknown)
			}
		})
	}
}

// TestSyncedPasskeysRefused: the policy applies at authentication too, because it may be
// newer than the passkey.
func TestSyncedPasskeysRefused(t *testing.T) {
	w, credential := registered(t, passkey.Policy{}, passkeytest.Synced())
	strict := newFixture(t, passkey.Policy{SyncedPasskeys: passkey.Refuse})
	strict.device, strict.stored = w.device, w.stored
	_, err := strict.authenticate(passkey.AuthenticationRequest{UserID: alice, Allow: []schemas.Credential{*credential}})
	mustRefuse(t, err, passkey.StepPolicy, "other devices")
}

func TestCounterRegressionAllowed(t *testing.T) {
	w, credential := registered(t, passkey.Policy{CounterRegression: passkey.Allow})
	credential.SignCount = 1000
	v, err := w.authenticate(passkey.AuthenticationRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if !v.CounterRegressed || v.Use.SignCount != 1000 {
		t.Errorf("expected the regression to be reported and the highest count (1000) kept, got %t and %d", v.CounterRegressed, v.Use.SignCount)
	}
}

// TestRegistrationRefusals violates each step of Level 3 §7.1 separately.
func TestRegistrationRefusals(t *testing.T) {
	type response = passkey.RegistrationResponse
	type request = passkey.RegistrationRequest
	device := func(options ...passkeytest.Option) []passkeytest.Option { return options }
	faults := func(f ...passkeytest.CeremonyOption) []passkeytest.CeremonyOption { return f }
	for name, test := range map[string]struct {
		policy  passkey.Policy
		request request
		device  []passkeytest.Option
		hows    []passkeytest.CeremonyOption
		change  func(*response)
		step    passkey.Step
		words   string
	}{
		"client data not UTF-8": {change: func(r *response) {
			r.ClientDataJSON = b64(r.ClientDataJSON, func(b []byte) []byte { return bytes.Replace(b, []byte(`{`), []byte("{\"x\":\"\xff\","), 1) })
		}, step: passkey.StepResponse, words: "UTF-8"},
		"client data not JSON":   {change: func(r *response) { r.ClientDataJSON = "bm8" }, step: passkey.StepResponse, words: "JSON object"},
		"client data missing":    {change: func(r *response) { r.ClientDataJSON = "" }, step: passkey.StepResponse, words: "clientDataJSON is missing"},
		"client data oversized":  {change: func(r *response) { r.ClientDataJSON = strings.Repeat("A", 12<<10) }, step: passkey.StepResponse, words: "too long"},
		"id missing":             {change: func(r *response) { r.ID = "" }, step: passkey.StepResponse, words: "id is missing"},
		"id is not the attested": {hows: faults(passkeytest.ForeignCredential), step: passkey.StepCredential, words: "not the id"},
		"type":                   {hows: faults(passkeytest.WrongType), step: passkey.StepType, words: "webauthn.create"},
		"challenge":              {hows: faults(passkeytest.WrongChallenge), step: passkey.StepChallenge, words: "another challenge"},
		"origin":                 {hows: faults(passkeytest.WrongOrigin), step: passkey.StepOrigin, words: "passkey.allowed_origins"},
		"cross origin":           {hows: faults(passkeytest.CrossOrigin), step: passkey.StepCrossOrigin, words: "frame"},
		"rpIdHash":               {hows: faults(passkeytest.WrongRPID), step: passkey.StepRelyingParty, words: "example.com"},
		"UP":                     {hows: faults(passkeytest.NoUP), step: passkey.StepPresence, words: "UP"},
		"UV required by policy":  {policy: passkey.Policy{UserVerification: passkey.Required}, hows: faults(passkeytest.NoUV), step: passkey.StepVerification, words: "UV"},
		"UV required by request": {request: request{UserVerification: passkey.Required}, hows: faults(passkeytest.NoUV), step: passkey.StepVerification, words: "UV"},
		"BS without BE":          {hows: faults(passkeytest.BSWithoutBE), step: passkey.StepBackup, words: "BS"},
		"algorithm not offered":  {hows: faults(passkeytest.AlgNotOffered), step: passkey.StepAlgorithm, words: "COSE algorithm -9"},
		"object missing":         {change: func(r *response) { r.AttestationObject = "" }, step: passkey.StepResponse, words: "attestationObject is missing"},
		"object oversized":       {change: func(r *response) { r.AttestationObject = strings.Repeat("A", 88<<10) }, step: passkey.StepResponse, words: "too long"},
		"object not base64url":   {change: func(r *response) { r.AttestationObject = "%" }, step: passkey.StepResponse, words: "attestationObject: expected base64url"},
		"object not CBOR":        {change: func(r *response) { r.AttestationObject = "_____w" }, step: passkey.StepResponse, words: "CBOR"},
		"object cut":             {change: func(r *response) { r.AttestationObject = r.AttestationObject[:40] }, step: passkey.StepResponse, words: "CBOR"},
		"attested data absent":   {change: func(r *response) { r.AttestationObject = b64(r.AttestationObject, dropFlag(1<<6)) }, step: passkey.StepResponse, words: "Attested credential flag"},
		"extensions absent":      {change: func(r *response) { r.AttestationObject = b64(r.AttestationObject, setFlag(1<<7)) }, step: passkey.StepResponse, words: "xtensions"},
		"trailing bytes":         {hows: faults(passkeytest.TrailingBytes), step: passkey.StepResponse, words: "extraneous"},
		"credential id too long": {hows: faults(passkeytest.OversizedID), step: passkey.StepResponse, words: "1023"},
		"attested id too long":   {hows: faults(passkeytest.OversizedID), change: func(r *response) { r.ID = "AAAA" }, step: passkey.StepResponse, words: "id length too long"},
		"attestation signature":  {hows: faults(passkeytest.BadSignature), step: passkey.StepAttestation, words: "packed"},
		"none with a statement": {change: func(r *response) {
			r.AttestationObject = b64(r.AttestationObject, func(b []byte) []byte {
				return bytes.Replace(b, []byte("attStmt\xa0"), []byte("attStmt\xa1\x61x\x01"), 1)
			})
		}, step: passkey.StepAttestation, words: "none"},
		"format unknown": {change: func(r *response) {
			r.AttestationObject = b64(r.AttestationObject, func(b []byte) []byte { return bytes.Replace(b, []byte("dnone"), []byte("dnope"), 1) })
		}, step: passkey.StepAttestation, words: "nope"},
		"format refused":          {policy: passkey.Policy{Attestation: []string{"packed", "tpm"}}, step: passkey.StepPolicy, words: "packed, tpm"},
		"synced refused":          {policy: passkey.Policy{SyncedPasskeys: passkey.Refuse}, device: device(passkeytest.Synced()), step: passkey.StepPolicy, words: "other devices"},
		"attachment by policy":    {policy: passkey.Policy{Attachment: passkey.Platform}, change: func(r *response) { r.Attachment = passkey.CrossPlatform }, step: passkey.StepPolicy, words: "platform"},
		"attachment by request":   {request: request{Attachment: passkey.Platform}, change: func(r *response) { r.Attachment = passkey.CrossPlatform }, step: passkey.StepPolicy, words: "platform"},
		"point not on the curve":  {change: func(r *response) { r.AttestationObject = b64(r.AttestationObject, flipLast) }, step: passkey.StepAlgorithm, words: "cannot be used"},
		"id with base64 alphabet": {change: func(r *response) { r.ID = "ab+/" }, step: passkey.StepResponse, words: "base64url"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t, test.policy, test.device...)
			options, session := w.beginRegistration(test.request)
			answer := w.attest(options, test.hows...)
			if test.change != nil {
				test.change(&answer)
			}
			credential, err := w.FinishRegistration(session, answer, noon)
			if credential != nil {
				t.Errorf("expected only the error, got %+v", credential)
			}
			mustRefuse(t, err, test.step, test.words)
		})
	}
}

// flagsAt returns the offset of the flags of authenticator data in an attestation object:
// 32 bytes after the start of the data, which follows its name and a two or three byte
// header.
func flagsAt(object []byte) int {
	return bytes.Index(object, []byte("authData")) + len("authData") + 2 + 32
}

func dropFlag(flag byte) func([]byte) []byte {
	return func(b []byte) []byte { b[flagsAt(b)] &^= flag; return b }
}

func setFlag(flag byte) func([]byte) []byte {
	return func(b []byte) []byte { b[flagsAt(b)] |= flag; return b }
}

// flipLast flips a bit of the last byte of an attestation object with authData last, which
// is part of the key.
func flipLast(b []byte) []byte {
	b[len(b)-1] ^= 1
	return b
}
