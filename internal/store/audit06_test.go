package store_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// formerAssurances are the classes and methods that an earlier release stated.
func formerAssurances() map[string]schemas.Session {
	session := func(acr string, amr ...string) schemas.Session { return schemas.Session{ACR: acr, AMR: amr} }
	return map[string]schemas.Session{
		"01a00000-0000-7000-8000-0000000000a1": session("phrh", "hwk", "pop"),
		"01a00000-0000-7000-8000-0000000000a2": session("phrh", "hwk", "pop", "user"),
		"01a00000-0000-7000-8000-0000000000a3": session("phr", "swk", "pop"),
		"01a00000-0000-7000-8000-0000000000a4": session("phr", "swk", "pop", "user", "otp"),
		"01a00000-0000-7000-8000-0000000000a5": session("phrh", "pwd", "hwk", "pop", "mfa"),
		"01a00000-0000-7000-8000-0000000000a6": session(schemas.ACRPassword, "pwd"),
		"01a00000-0000-7000-8000-0000000000a7": session(schemas.ACRMultiFactor, "pwd", "otp", "mfa"),
	}
}

// What an earlier release kept is worth no more after the upgrade than it proves: a
// session, what a client may refresh its tokens by, and a passkey.
func TestAudit06UpgradeRevaluesWhatIsKept(t *testing.T) {
	sequential(t)
	var later []string
	for id, s := range formerAssurances() {
		later = append(later,
			"INSERT INTO sessions (id, user_id, application_id, amr, acr, client, created_at, expires_at) VALUES ('"+id+"', '"+annID+"', 'app', '"+
				strings.Join(s.AMR, "\n")+"\n', '"+s.ACR+"', '', 1000000, 9000000000000000)",
			"INSERT INTO refresh_families (id, session_id, application_id, client_id, granted, generation, rotated_at, created_at, expires_at) VALUES ('"+id+"', '"+id+"', '"+consoleID+"', 'CONSOLE', '"+
				`{"userId":"`+annID+`","sessionId":"`+id+`","authTime":"2026-01-01T00:00:00Z","amr":["`+strings.Join(s.AMR, `","`)+`"],"acr":"`+s.ACR+`","consented":true}`+
				"', 1, 1000000, 1000000, 9000000000000000)")
	}
	for name, where := range databases() {
		t.Run(name, func(t *testing.T) {
			c := where(t)
			storetest.FirstVersion(t, c, firstVersion)
			storetest.AtVersion(t, c, 15, strings.Join(later, ";\n"))
			s, err := store.Open(t.Context(), c)
			noError(t, err)
			t.Cleanup(func() { noError(t, s.Close()) })
			for id, former := range formerAssurances() {
				acr, amr := schemas.RevaluedAssurance(former.ACR, former.AMR)
				found, err := s.Session(t.Context(), id)
				noError(t, err)
				family, err := s.RefreshFamily(t.Context(), id)
				noError(t, err)
				for what, got := range map[string]schemas.Session{"the session": *found, "the family": {ACR: family.Grant.ACR, AMR: family.Grant.AMR}} {
					slices.Sort(got.AMR)
					if want := slices.Sorted(slices.Values(amr)); got.ACR != acr || !slices.Equal(got.AMR, want) {
						t.Errorf("%s of %s %v: %s %v, expected %s %v", what, former.ACR, former.AMR, got.ACR, got.AMR, acr, want)
					}
				}
			}
			keys, err := s.Credentials(t.Context(), annID)
			noError(t, err)
			if len(keys) != 1 || keys[0].Attested {
				t.Errorf("the passkeys: %+v", keys)
			}
			gone, err := s.Session(t.Context(), "01a00000-0000-7000-8000-0000000000ff")
			if noError(t, err); gone != nil {
				t.Errorf("found %+v", gone)
			}
		})
	}
}

// The worth of what an earlier release stated.
func TestAudit06RevaluedAssurance(t *testing.T) {
	for _, one := range []struct {
		acr  string
		amr  string
		want string
	}{
		{"phrh", "hwk pop", "phr pop"},
		{"phrh", "hwk pop user", schemas.ACRMultiFactorPR + " pop user mfa"},
		{"phr", "swk pop", "phr swk pop"},
		{"phr", "pwd swk pop mfa", schemas.ACRMultiFactorPR + " pwd swk pop mfa"},
		{schemas.ACRPassword, "pwd", schemas.ACRPassword + " pwd"},
		{"high", "x", "high x"},
		{"", "", ""},
	} {
		acr, amr := schemas.RevaluedAssurance(one.acr, strings.Fields(one.amr))
		if got := strings.TrimSpace(acr + " " + strings.Join(amr, " ")); got != one.want {
			t.Errorf("%s %s: %s", one.acr, one.amr, got)
		}
	}
}
