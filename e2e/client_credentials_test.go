package e2e_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// optionB is the specification's way for a machine to use the API: an application created
// with an administrator's token, and its id and secret as HTTP Basic credentials.
const optionB = `
ADMIN_TOKEN=$("$POSTERN" token)
member() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

APPLICATION=$(curl -fsSk -X POST "$BASE_URL/applications" \
  -H "Authorization: Bearer $ADMIN_TOKEN" -H 'Content-Type: application/json' \
  -d '{"name": "MCP client", "inboundAuthConfig": [{"type": "oauth2",
       "config": {"grantTypes": ["client_credentials"], "scope": "system"}}]}')
CLIENT_ID=$(printf %s "$APPLICATION" | member clientId)
CLIENT_SECRET=$(printf %s "$APPLICATION" | member clientSecret)

TOKEN=$(curl -fsSk -X POST "$BASE_URL/oauth2/token" -u "$CLIENT_ID:$CLIENT_SECRET" \
  -d grant_type=client_credentials -d scope=system)
ACCESS_TOKEN=$(printf %s "$TOKEN" | member access_token)
echo "$TOKEN"

curl -fsSk -w '\nstatus %{http_code}\n' "$BASE_URL/applications" -H "Authorization: Bearer $ACCESS_TOKEN"
curl -sk -o /dev/null -w 'without %{http_code}\n' "$BASE_URL/applications"
curl -sk -w '\nwrong %{http_code}\n' "$BASE_URL/oauth2/token" -u "$CLIENT_ID:x" -d grant_type=client_credentials
`

// The specification's Option B, with curl.
func TestSpecifiedClientCredentials(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "sed"} {
		if _, err := exec.LookPath(tool); err != nil {
			missingFrom(t, "%s is not installed", tool)
		}
	}
	path := binary(t)
	p := serveAt(t, "https", "localhost", "POSTERN_SERVER_HTTP_ONLY=false")
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", optionB)
	cmd.Dir, cmd.Env = p.dir, append(p.env, "BASE_URL="+p.base, "POSTERN="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		`"token_type":"Bearer"`, `"expires_in":3600`, `"scope":"system"`, // the token
		`"name":"MCP client"`, "status 200", // what it reads
		"without 401", `{"error":"invalid_client",`, "wrong 401",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	if strings.Count(string(out), "clientSecret") > 0 || strings.Contains(p.log.String(), "oidc_error") {
		t.Errorf("the secret is shown again, or a library logs by itself:\n%s\n%s", out, p.log)
	}
}
