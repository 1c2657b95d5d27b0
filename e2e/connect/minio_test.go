package connect_test

import (
	"strings"
	"testing"

	"golang.org/x/oauth2"
)

// minIO signs a user in as its console does, and reads the policies in the ID token.
func minIO(t *testing.T, p *page, a application) signIn {
	settings := readSettings(a.fill(p.block("MINIO_IDENTITY_OPENID_CLAIM_NAME")))
	const prefix = "MINIO_IDENTITY_OPENID_"
	c := newClient(a, oauth2.AuthStyleAutoDetect, false, strings.Split(settings[prefix+"SCOPES"], ",")...)
	c.Config.ClientID, c.Config.ClientSecret = settings[prefix+"CLIENT_ID"], settings[prefix+"CLIENT_SECRET"]
	if want := settings["MINIO_BROWSER_REDIRECT_URL"] + "/oauth_callback"; c.RedirectURL != want {
		t.Errorf("the page registers %s, and MinIO sends %s", c.RedirectURL, want)
	}
	return func(t *testing.T, username string) string {
		token := c.signIn(t, username)
		policies, isList := claims(t, token)[settings[prefix+"CLAIM_NAME"]].([]any)
		if !isList || len(idToken(t, token)) > 2048 {
			t.Fatalf("the ID token has %v and %d characters", policies, len(idToken(t, token)))
		}
		if len(policies) == 0 {
			return refused
		}
		return strings.Join(texts(policies), " ")
	}
}
