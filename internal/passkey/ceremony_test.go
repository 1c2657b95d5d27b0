package passkey_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// TestCeremonies registers and authenticates with every algorithm, with and without a user
// name, with and without attestation.
func TestCeremonies(t *testing.T) {
	for alg, name := range map[int64]string{passkey.ES256: "ES256", passkey.EdDSA: "EdDSA", passkey.RS256: "RS256"} {
		for _, attestation := range []string{"none", "direct"} {
			t.Run(name+"/"+attestation, func(t *testing.T) {
				w := newFixture(t, passkey.Policy{}, passkeytest.Algorithms(alg))
				credential := w.register(passkey.RegistrationRequest{Attestation: attestation})
				if credential.Algorithm != alg {
					t.Errorf("expected algorithm %d, got %d", alg, credential.Algorithm)
				}
				if want := map[string]string{"none": "none", "direct": "packed"}[attestation]; credential.AttestationFormat != want {
					t.Errorf("expected attestation format %s, got %s", want, credential.AttestationFormat)
				}
				for _, request := range []passkey.AuthenticationRequest{
					{UserID: alice, Allow: []schemas.Credential{*credential}},
					{UserID: alice},
					{Allow: []schemas.Credential{*credential}},
					{},
				} {
					v, err := w.authenticate(request)
					if err != nil {
						t.Fatalf("%+v: %v", request, err)
					}
					if v.UserID != alice || v.Credential != credential {
						t.Errorf("expected alice with her credential, got %q with %v", v.UserID, v.Credential)
					}
				}
			})
		}
	}
}

func TestRegistrationRecord(t *testing.T) {
	aaguid := [16]byte{0xba, 0xda, 0x55, 0x66, 0xa7, 0xaa, 0x40, 0x1f, 0xbd, 0x96, 0x45, 0x61, 0x9a, 0x55, 0x12, 0x0d}
	w := newFixture(t, passkey.Policy{}, passkeytest.AAGUID(aaguid), passkeytest.Synced(), passkeytest.Attachment("platform", "internal", "hybrid", "internal", "<script>"))
	got := w.register(passkey.RegistrationRequest{})
	held := w.device.Credentials()[0]
	want := &schemas.Credential{
		ID: held.ID, UserID: alice, Name: "1Password", RPID: rpID, PublicKey: got.PublicKey, Algorithm: passkey.ES256,
		AttestationFormat: "none", AAGUID: "bada5566-a7aa-401f-bd96-45619a55120d", Attachment: "platform",
		Transports: []string{"internal", "hybrid"}, UserVerified: true, BackupEligible: true, BackupState: true, CreatedAt: noon,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("expected\n%+v\ngot\n%+v", want, got)
	}
	if string(held.UserHandle) != alice {
		t.Errorf("expected the user handle to be the id's text, got %q", held.UserHandle)
	}
}

// TestRegistrationTolerates omits members that clients omit.
func TestRegistrationTolerates(t *testing.T) {
	w := newFixture(t, passkey.Policy{})
	options, session := w.beginRegistration(passkey.RegistrationRequest{})
	answer := w.attest(options)
	answer.Transports, answer.Attachment, answer.Name = nil, "", "  My\u202e \x00laptop\n"
	answer.ClientDataJSON += "=" // padding is accepted
	credential, err := w.FinishRegistration(session, answer, noon)
	if err != nil {
		t.Fatal(err)
	}
	if credential.Name != "My laptop" || credential.Attachment != "" || credential.Transports != nil {
		t.Errorf("expected name %q and neither attachment nor transports, got %+v", "My laptop", credential)
	}
}

func TestVerified(t *testing.T) {
	device := func(options ...passkeytest.Option) []passkeytest.Option { return options }
	for name, test := range map[string]struct {
		device  []passkeytest.Option
		hows    []passkeytest.CeremonyOption
		methods []string
		acr     string
		count   uint32
		uv      bool
		synced  bool
	}{
		"device-bound":          {methods: []string{"pop", "user", "mfa"}, acr: schemas.ACRMultiFactorPR, count: 1, uv: true},
		"device-bound, no UV":   {hows: []passkeytest.CeremonyOption{passkeytest.NoUV}, methods: []string{"pop"}, acr: "phr", count: 1},
		"synced":                {device: device(passkeytest.Synced()), methods: []string{"swk", "pop", "user", "mfa"}, acr: schemas.ACRMultiFactorPR, uv: true, synced: true},
		"device without any UV": {device: device(passkeytest.CannotVerify()), methods: []string{"pop"}, acr: "phr", count: 1},
	} {
		t.Run(name, func(t *testing.T) {
			w, credential := registered(t, passkey.Policy{}, test.device...)
			v, err := w.authenticate(passkey.AuthenticationRequest{}, test.hows...)
			if err != nil {
				t.Fatal(err)
			}
			want := &passkey.Verified{
				UserID: alice, Credential: credential, UserVerified: test.uv, Origin: site, Methods: test.methods, ACR: test.acr,
				Use: schemas.UseCredential{ID: credential.ID, SignCount: test.count, BackupState: test.synced, At: noon, MustGrow: true},
			}
			if !reflect.DeepEqual(v, want) {
				t.Errorf("expected\n%+v\ngot\n%+v", want, v)
			}
		})
	}
}

// TestSeveralUsers registers two users on one device.
func TestSeveralUsers(t *testing.T) {
	w, _ := registered(t, passkey.Policy{})
	w.register(passkey.RegistrationRequest{User: passkey.User{ID: bob, Name: "bob"}})
	for _, user := range []string{alice, bob} {
		v, err := w.authenticate(passkey.AuthenticationRequest{}, passkeytest.As(user))
		if err != nil {
			t.Fatal(err)
		}
		if v.UserID != user {
			t.Errorf("expected %s, got %s", user, v.UserID)
		}
	}
}

func TestStoreFails(t *testing.T) {
	w, _ := registered(t, passkey.Policy{})
	options, session := w.beginAuthentication(passkey.AuthenticationRequest{})
	answer := w.assert(options)
	broken := fmt.Errorf("the disk is full")
	_, err := w.FinishAuthentication(t.Context(), session, answer, func(context.Context, schemas.Bytes) (*schemas.Credential, error) { return nil, broken }, noon)
	if !errors.Is(err, broken) || schemas.AsError(err).Class != schemas.Internal {
		t.Errorf("expected an internal error that wraps the store's, got %v", err)
	}
	_, err = w.FinishAuthentication(t.Context(), session, answer, func(context.Context, schemas.Bytes) (*schemas.Credential, error) { return nil, nil }, noon)
	mustRefuse(t, err, passkey.StepCredential, "is unknown")
}

// TestSessionsAreBound checks that sessions are bound to their ceremony and expire.
func TestSessionsAreBound(t *testing.T) {
	w, _ := registered(t, passkey.Policy{})
	creation, forRegistration := w.beginRegistration(passkey.RegistrationRequest{})
	request, forAuthentication := w.beginAuthentication(passkey.AuthenticationRequest{})
	assertion := w.assert(request)
	attestation := w.attest(creation)
	_, err := w.FinishAuthentication(t.Context(), forRegistration, assertion, w.find, noon)
	mustRefuse(t, err, passkey.StepCeremony, "started for registration")
	_, err = w.FinishRegistration(forAuthentication, attestation, noon)
	mustRefuse(t, err, passkey.StepCeremony, "started for authentication")

	end := noon.Add(passkey.DefaultTimeout)
	_, err = w.FinishAuthentication(t.Context(), forAuthentication, assertion, w.find, end)
	mustRefuse(t, err, passkey.StepExpiry, "12:05:00")
	_, err = w.FinishRegistration(forRegistration, attestation, end)
	mustRefuse(t, err, passkey.StepExpiry, "12:05:00")
	if _, err = w.FinishAuthentication(t.Context(), forAuthentication, assertion, w.find, end.Add(-time.Nanosecond)); err != nil {
		t.Errorf("expected the last moment to count, got %v", err)
	}
	if _, err = w.FinishRegistration(forRegistration, attestation, end.Add(-time.Nanosecond)); err != nil {
		t.Errorf("expected the last moment to count, got %v", err)
	}
	for _, garbage := range []string{``, `null`, `{}`, `[]`, `{"ceremony":"authentication"}`} {
		if _, err := w.FinishAuthentication(t.Context(), []byte(garbage), assertion, w.find, noon); schemas.AsError(err).Class != schemas.Internal || err == nil {
			t.Errorf("expected session %q to be an internal error, got %v", garbage, err)
		}
	}
}
