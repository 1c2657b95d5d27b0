package passkey_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// sameJSON compares options with the expected ones, and returns the random challenge,
// which it does not compare.
func sameJSON(t *testing.T, got json.RawMessage, want string) (challenge string) {
	t.Helper()
	var g, w map[string]any
	datatest.Unmarshal(t, got, &g)
	datatest.Unmarshal(t, []byte(want), &w)
	challenge, _ = g["challenge"].(string)
	delete(g, "challenge")
	if !reflect.DeepEqual(g, w) {
		t.Errorf("expected\n%s\ngot\n%s", want, got)
	}
	raw, err := schemas.ParseBytes(challenge)
	if err != nil || len(raw) != 32 || strings.Contains(challenge, "=") {
		t.Errorf("expected a challenge of 32 bytes in base64url without padding, got %q", challenge)
	}
	return challenge
}

func TestCreationOptions(t *testing.T) {
	w := newFixture(t, passkey.Policy{})
	first, _ := w.beginRegistration(passkey.RegistrationRequest{})
	one := sameJSON(t, first, `{
		"rp": {"id": "example.com", "name": "Postern"},
		"user": {"id": "MDE4OTBhNWQtYWM5Ni03NzRiLWJjY2UtYjMwMjA5OWE4MDU3", "name": "alice", "displayName": "Alice"},
		"pubKeyCredParams": [{"type": "public-key", "alg": -7}, {"type": "public-key", "alg": -8}, {"type": "public-key", "alg": -257}],
		"timeout": 300000,
		"authenticatorSelection": {"residentKey": "preferred", "requireResidentKey": false, "userVerification": "preferred"},
		"attestation": "none"}`)
	second, _ := w.beginRegistration(passkey.RegistrationRequest{
		RPID: "login.example.com", RPName: "Shop", UserVerification: "required", Attachment: "cross-platform", ResidentKey: "required", Attestation: "enterprise",
		Exclude: []schemas.Credential{{ID: []byte{1, 2, 3}, Transports: []string{"usb"}}, {ID: []byte{4}}},
	})
	two := sameJSON(t, second, `{
		"rp": {"id": "login.example.com", "name": "Shop"},
		"user": {"id": "MDE4OTBhNWQtYWM5Ni03NzRiLWJjY2UtYjMwMjA5OWE4MDU3", "name": "alice", "displayName": "Alice"},
		"pubKeyCredParams": [{"type": "public-key", "alg": -7}, {"type": "public-key", "alg": -8}, {"type": "public-key", "alg": -257}],
		"timeout": 300000,
		"excludeCredentials": [{"type": "public-key", "id": "AQID", "transports": ["usb"]}, {"type": "public-key", "id": "BA"}],
		"authenticatorSelection": {"authenticatorAttachment": "cross-platform", "residentKey": "required", "requireResidentKey": true, "userVerification": "required"},
		"attestation": "enterprise"}`)
	if one == two {
		t.Error("expected a new challenge each time")
	}
}

func TestRequestOptions(t *testing.T) {
	w := newFixture(t, passkey.Policy{UserVerification: passkey.Required})
	anybody, _ := w.beginAuthentication(passkey.AuthenticationRequest{UserVerification: passkey.Discouraged})
	sameJSON(t, anybody, `{"rpId": "example.com", "timeout": 300000, "userVerification": "required"}`)
	one, _ := w.beginAuthentication(passkey.AuthenticationRequest{UserID: alice, Allow: []schemas.Credential{{ID: []byte{9}, Transports: []string{"usb"}}, {ID: []byte{1}}}})
	sameJSON(t, one, `{"rpId": "example.com", "timeout": 300000, "userVerification": "required",
		"allowCredentials": [{"type": "public-key", "id": "AQ", "transports": ["hybrid", "internal", "nfc", "usb"]}, {"type": "public-key", "id": "CQ", "transports": ["usb"]}]}`)
	// Passkeys of another relying party cannot answer and are not listed.
	only, _ := w.beginAuthentication(passkey.AuthenticationRequest{UserID: alice, Allow: []schemas.Credential{{ID: []byte{9}, RPID: "example.org"}, {ID: []byte{1}, RPID: "example.com", BackupEligible: true}}})
	sameJSON(t, only, `{"rpId": "example.com", "timeout": 300000, "userVerification": "required", "allowCredentials": [{"type": "public-key", "id": "AQ", "transports": ["hybrid", "internal"]}]}`)
}

// TestBeginRefuses checks unknown values and options that the policy excludes.
func TestBeginRefuses(t *testing.T) {
	w := newFixture(t, passkey.Policy{Attachment: passkey.Platform})
	user := passkey.User{ID: alice}
	for words, r := range map[string]passkey.RegistrationRequest{
		"needs a user":            {},
		"1 to 64 bytes":           {User: passkey.User{ID: strings.Repeat("x", 65)}},
		"userVerification":        {User: user, UserVerification: "maybe"},
		"residentKey":             {User: user, ResidentKey: "maybe"},
		"got \"usb\"":             {User: user, Attachment: "usb"},
		"platform authenticators": {User: user, Attachment: passkey.CrossPlatform},
		"attestation":             {User: user, Attestation: "maybe"},
	} {
		_, _, err := w.BeginRegistration(r)
		if !schemas.HasCode(err, schemas.CodeInvalidRequest) || !strings.Contains(err.Error(), words) {
			t.Errorf("expected %s with %q, got %v", schemas.CodeInvalidRequest, words, err)
		}
	}
	if _, _, err := w.BeginAuthentication(passkey.AuthenticationRequest{UserVerification: "maybe"}); !schemas.HasCode(err, schemas.CodeInvalidRequest) {
		t.Errorf("expected %s, got %v", schemas.CodeInvalidRequest, err)
	}
}

// TestNames checks that names are safe to display: one line, no invisible characters, 64
// bytes.
func TestNames(t *testing.T) {
	w := newFixture(t, passkey.Policy{})
	for _, test := range []struct{ name, display, wantName, wantDisplay string }{
		{"alice", "", "alice", "alice"},
		{"", "Alice", "Alice", "Alice"},
		{"", "", "User", "User"},
		{"a\nb\tc", "  d  e ", "a b c", "d e"},
		{"evil\u202egpj.exe", "a\u200bb\x00\x1b[31m", "evilgpj.exe", "ab[31m"},
		{"\xff\xfe", "Zo\u00eb \U0001f511", "Zo\u00eb \U0001f511", "Zo\u00eb \U0001f511"},
		{strings.Repeat("é", 40), strings.Repeat("x", 99), strings.Repeat("é", 32), strings.Repeat("x", 64)},
	} {
		options, _ := w.beginRegistration(passkey.RegistrationRequest{User: passkey.User{ID: alice, Name: test.name, DisplayName: test.display}})
		var o struct {
			User struct{ Name, DisplayName string }
		}
		datatest.Unmarshal(t, options, &o)
		if o.User.Name != test.wantName || o.User.DisplayName != test.wantDisplay || !utf8.ValidString(o.User.Name) {
			t.Errorf("%q, %q: expected %q, %q, got %q, %q", test.name, test.display, test.wantName, test.wantDisplay, o.User.Name, o.User.DisplayName)
		}
	}
}

// TestDecoysLookReal: the reply for a user without a passkey differs only in the IDs from
// that for a user with as many of the same authenticators, and the order of IDs reveals
// nothing.
func TestDecoysLookReal(t *testing.T) {
	w, credential := registered(t, passkey.Policy{})
	shape := func(r passkey.AuthenticationRequest) (shape string, ids [][]byte) {
		options, _ := w.beginAuthentication(r)
		var o struct {
			Challenge        string
			AllowCredentials []map[string]any
		}
		datatest.Unmarshal(t, options, &o)
		text := strings.Replace(string(options), o.Challenge, "…", 1)
		for _, d := range o.AllowCredentials {
			raw, err := schemas.ParseBytes(d["id"].(string))
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, raw)
			text = strings.Replace(text, d["id"].(string), strings.Repeat("…", len(raw)), 1)
		}
		return text, ids
	}
	for i := range 50 {
		decoys := passkey.Decoys([]byte("secret"), fmt.Sprint("mallory", i))
		fake, ids := shape(passkey.AuthenticationRequest{Decoys: decoys})
		var allow []schemas.Credential
		for k, decoy := range decoys {
			own := *credential
			own.ID, own.Transports = append(schemas.Bytes{byte(k)}, decoy.ID[1:]...), decoy.Transports
			allow = append(allow, own)
		}
		slices.SortFunc(allow, func(a, b schemas.Credential) int {
			return cmp.Compare(slices.IndexFunc(ids, func(id []byte) bool { return bytes.Equal(id[1:], a.ID[1:]) }), slices.IndexFunc(ids, func(id []byte) bool { return bytes.Equal(id[1:], b.ID[1:]) }))
		})
		for k := range allow { // so that the IDs are ordered like the decoys
			allow[k].ID[0] = byte(k)
		}
		if real, _ := shape(passkey.AuthenticationRequest{UserID: alice, Allow: allow, Decoys: decoys}); real != fake {
			t.Errorf("expected the same but for ids, got\n%s\nand\n%s", real, fake)
		}
		if len(ids) != len(decoys) || !slices.IsSortedFunc(ids, bytes.Compare) {
			t.Errorf("expected %d ids in order, got %x", len(decoys), ids)
		}
	}
}

// TestDecoysNeverVerify: a passkey that was registered with a decoy's ID is rejected with
// the error of a wrong signature.
func TestDecoysNeverVerify(t *testing.T) {
	w, credential := registered(t, passkey.Policy{})
	for name, request := range map[string]passkey.AuthenticationRequest{
		"unknown user":         {Decoys: []schemas.Credential{*credential}},
		"user without passkey": {UserID: alice, Decoys: []schemas.Credential{*credential}},
	} {
		t.Run(name, func(t *testing.T) {
			_, decoy := w.authenticate(request, passkeytest.NoUserHandle)
			_, wrong := w.authenticate(passkey.AuthenticationRequest{UserID: alice, Allow: []schemas.Credential{*credential}}, passkeytest.BadSignature)
			mustRefuse(t, decoy, passkey.StepSignature)
			if decoy.Error() != wrong.Error() {
				t.Errorf("expected the words of a wrong signature\n%v\ngot\n%v", wrong, decoy)
			}
		})
	}
	_, err := w.authenticate(passkey.AuthenticationRequest{Decoys: []schemas.Credential{*credential}})
	mustRefuse(t, err, passkey.StepUserHandle)
	// A session with only decoys is not a usernameless one.
	options, session := w.beginAuthentication(passkey.AuthenticationRequest{Decoys: []schemas.Credential{{ID: []byte{1, 2, 3}}}})
	answer := w.assert(patch(t, options, map[string]any{"allowCredentials": nil}))
	_, err = w.FinishAuthentication(t.Context(), session, answer, w.find, noon)
	mustRefuse(t, err, passkey.StepCredential, "not one of the requested")
	// In a list with a decoy, the real passkey still works.
	if _, err := w.authenticate(passkey.AuthenticationRequest{UserID: alice, Allow: []schemas.Credential{*credential}, Decoys: []schemas.Credential{{ID: []byte{1, 2, 3}}}}); err != nil {
		t.Error(err)
	}
}

// TestDecoyCostsAsMuch: a decoy causes one store lookup, as a passkey does.
func TestDecoyCostsAsMuch(t *testing.T) {
	w, credential := registered(t, passkey.Policy{})
	for _, request := range []passkey.AuthenticationRequest{
		{UserID: alice, Allow: []schemas.Credential{*credential}},
		{UserID: alice, Decoys: []schemas.Credential{*credential}},
	} {
		w.finds = 0
		_, err := w.authenticate(request, passkeytest.BadSignature)
		mustRefuse(t, err, passkey.StepSignature)
		if w.finds != 1 {
			t.Errorf("expected the store to be asked once, got %d", w.finds)
		}
	}
}

func TestDecoys(t *testing.T) {
	secret := []byte("0123456789abcdef0123456789abcdef")
	show := func(secret []byte, name string) string { return fmt.Sprint(passkey.Decoys(secret, name)) }
	first := show(secret, "alice@example.com")
	if show(secret, " Alice@Example.com ") != first {
		t.Error("expected case and surrounding spaces to make no difference")
	}
	if show(secret, "alice2@example.com") == first || show([]byte("another secret"), "alice@example.com") == first {
		t.Error("expected name and secret to make a difference")
	}
	counts, lengths := map[int]int{}, map[int]int{}
	for i := range 1000 {
		list := passkey.Decoys(secret, fmt.Sprint(i))
		counts[len(list)]++
		for _, decoy := range list {
			lengths[len(decoy.ID)]++
		}
	}
	if len(counts) != 3 || counts[1] < 600 || counts[2] < 50 || counts[3] < 50 || len(lengths) != 4 {
		t.Errorf("names have %v decoys, of %v bytes", counts, lengths)
	}
}

func TestAuthenticatorName(t *testing.T) {
	if got := passkey.AuthenticatorName("FBFC3007-154E-4ECC-8C0B-6E020557D7BD"); got != "Apple Passwords" {
		t.Errorf("expected Apple Passwords, got %q", got)
	}
	if got := passkey.AuthenticatorName("00000000-0000-0000-0000-000000000000"); got != "" {
		t.Errorf("expected no name for an authenticator without an AAGUID, got %q", got)
	}
}
