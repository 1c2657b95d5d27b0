package nodes_test

import (
	"testing"
	"time"

	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// TestEnrollment accepts offers, and rejects those of others, old ones, and wrong codes.
func TestEnrollment(t *testing.T) {
	box, err := token.NewCipher(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	e, now := nodes.Enrollment{Box: box, Name: "Example"}, time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	app, err := e.OfferTOTP(&schemas.User{ID: "ann"}, now)
	if err != nil {
		t.Fatal(err)
	}
	codes := e.OfferRecoveryCodes("ann", now)
	key := totp.Key{Secret: app.Secret, Algorithm: totp.SHA1, Digits: 6}
	code, err := key.Code(now)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		user, token, code string
		at                time.Time
		want              string
	}{
		"right":             {"ann", app.SessionToken, code[:3] + " " + code[3:], now, ""},
		"another user":      {"bob", app.SessionToken, code, now, schemas.CodeStaleSession},
		"too late":          {"ann", app.SessionToken, code, now.Add(15 * time.Minute), schemas.CodeStaleSession},
		"no token":          {"ann", "", code, now, schemas.CodeStaleSession},
		"recovery codes":    {"ann", codes.SessionToken, code, now, schemas.CodeStaleSession},
		"a code long after": {"ann", app.SessionToken, code, now.Add(5 * time.Minute), schemas.CodeInvalidRequest},
		"no code":           {"ann", app.SessionToken, "", now, schemas.CodeInvalidRequest},
	} {
		got, err := e.AcceptTOTP(tt.user, tt.token, tt.code, tt.at)
		if tt.want == "" && (err != nil || got.UserID != "ann" || got.LastStep != totp.Step(now)) || tt.want != "" && !schemas.HasCode(err, tt.want) {
			t.Errorf("%s: %+v, %v; expected %q", name, got, err, tt.want)
		}
	}
	hashes, err := e.AcceptRecoveryCodes("ann", codes.SessionToken, now)
	if err != nil || len(hashes) != 10 || string(hashes[3]) != string(nodes.HashRecoveryCode(codes.Codes[3])) {
		t.Errorf("%d hashes, %v", len(hashes), err)
	}
	for user, token := range map[string]string{"bob": codes.SessionToken, "ann": app.SessionToken} {
		if _, err := e.AcceptRecoveryCodes(user, token, now); !schemas.HasCode(err, schemas.CodeStaleSession) {
			t.Errorf("recovery codes of another offer for %s: %v", user, err)
		}
	}
}
