package passkey_test

import (
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// A passkey whose backup eligibility changes is refused and reported with its user, or accepted by the policy: then
// it counts as one that can leave its device, whichever way it changed.
func TestBackupEligibilityChanges(t *testing.T) {
	for name, device := range map[string][]passkeytest.Option{"of a device": nil, "synced": {passkeytest.Synced()}} {
		t.Run(name, func(t *testing.T) {
			strict, _ := registered(t, passkey.Policy{}, device...)
			_, err := strict.authenticate(passkey.AuthenticationRequest{}, passkeytest.BEChanged)
			mustRefuse(t, err, passkey.StepBackup, "differs from its registration", "passkey.eligibility_change")
			if passkey.CopiedOf(err) != alice {
				t.Errorf("reported of %q", passkey.CopiedOf(err))
			}

			lax, credential := registered(t, passkey.Policy{EligibilityChange: passkey.Allow}, device...)
			credential.Attested = true
			v, err := lax.authenticate(passkey.AuthenticationRequest{}, passkeytest.BEChanged)
			if err != nil {
				t.Fatal(err)
			}
			if !v.EligibilityChanged || v.ACR == schemas.ACRMultiFactorPRProtected || strings.Join(v.Methods, " ") != "swk pop user mfa" {
				t.Errorf("verified as %+v", v)
			}
			if v, err = lax.authenticate(passkey.AuthenticationRequest{}); err != nil || v.EligibilityChanged {
				t.Errorf("as registered: %+v, %v", v, err)
			}
			unsynced, _ := registered(t, passkey.Policy{EligibilityChange: passkey.Allow}, device...)
			bound := newFixture(t, passkey.Policy{EligibilityChange: passkey.Allow, SyncedPasskeys: passkey.Refuse})
			bound.device, bound.stored = unsynced.device, unsynced.stored
			_, err = bound.authenticate(passkey.AuthenticationRequest{}, passkeytest.BEChanged)
			mustRefuse(t, err, passkey.StepPolicy, "other devices")
		})
	}
}

const androidApp = "android:apk-key-hash:47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"

// An Android app whose certificate is allowed takes part in ceremonies; others do not, and no browser reads of it.
func TestOriginsOfAndroidApps(t *testing.T) {
	c, err := passkey.New(passkey.Config{Origins: []string{androidApp, site}})
	if err != nil {
		t.Fatal(err)
	}
	if c.RPID("") != "login.example.com" || len(c.Origins()) != 1 || c.Origins()[0] != site {
		t.Errorf("the relying party is %s, and browsers read %v", c.RPID(""), c.Origins())
	}
	for origin, fine := range map[string]bool{
		androidApp: true, site: true, strings.ToLower(androidApp): false, androidApp + "=": false, "android:apk-key-hash:47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFY": false,
	} {
		w := newFixture(t, passkey.Policy{})
		w.Ceremonies = c
		options, session := w.beginRegistration(passkey.RegistrationRequest{})
		answer, err := w.device.Register(options, origin)
		if err != nil {
			t.Fatal(err)
		}
		credential, err := w.FinishRegistration(session, answer, noon)
		if (err == nil) != fine {
			t.Errorf("a registration from %s: %v", origin, err)
		}
		if !fine {
			continue
		}
		w.stored[credential.ID.String()] = credential
		options, session = w.beginAuthentication(passkey.AuthenticationRequest{})
		signed, err := w.device.Authenticate(options, origin)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := w.FinishAuthentication(t.Context(), session, signed, w.find, noon); err != nil || v.Origin != origin {
			t.Errorf("a sign-in from %s: %+v, %v", origin, v, err)
		}
	}
	for _, wrong := range []string{"android:apk-key-hash:", "android:apk-key-hash:AAAA", androidApp + "A", "Android:apk-key-hash:47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU",
		"android:apk-key-hash:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU", "android:com.example.app", androidApp + "\n"} {
		if _, err := passkey.New(passkey.Config{Origins: []string{site, wrong}}); err == nil {
			t.Errorf("accepted %q", wrong)
		}
	}
	if _, err := passkey.New(passkey.Config{Origins: []string{site, "ios:bundle-id:com.example.app"}}); err == nil {
		t.Error("accepted an origin that no standard describes")
	}
}
