package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// tenClaims are claims of every kind, for ID tokens and access tokens.
const tenClaims = `{"name":"nick","source":"attribute","attribute":"given_name"},{"name":"groups","source":"groups"},{"name":"team","source":"groups","prefix":"argocd-","removePrefix":true},
	{"name":"realm_access.roles","source":"roles"},{"name":"build","source":"permissions","resourceServer":"build"},{"name":"unit","source":"organizationUnit","format":"path"},
	{"name":"kind","source":"userType"},{"name":"tenant","source":"constant","value":"acme"},
	{"name":"level","source":"expression","expression":"'developers' in user.groups ? 3 : 1"},{"name":"label","source":"expression","expression":"user.attributes.given_name + ' of ' + user.unit"}`

// BenchmarkSignInWithClaims measures whole sign-ins with a passkey, of an application without claims and of one with ten, in
// turn: the authorization request, the two steps of the flow, the code, and the tokens. It reports the processor time of both.
func BenchmarkSignInWithClaims(b *testing.B) {
	for _, algorithm := range []string{"ES256", "RS256"} {
		b.Run(algorithm, func(b *testing.B) {
			w := newTestApp(b)
			w.createStaff()
			w.enrol("ada")
			user := w.userNamed("ada")
			for _, item := range w.items(w.admin(), "/groups?limit=100", "groups") {
				if name := item["name"].(string); name != "others" {
					w.put("/groups/"+item["id"].(string), fmt.Sprintf(`{"name":%q,"members":[{"type":"user","id":%q}]}`, name, user), w.admin())
				}
			}
			bare := `"redirectUris":["` + rpRedirect + `"],"token":{"idToken":{"signedResponseAlg":"` + algorithm + `"}}`
			parties := []*party{w.configuredClient(b, bare), w.configuredClient(b, bare+`,"claims":[`+strings.ReplaceAll(tenClaims, "}", `,"targets":["idToken","accessToken"]}`)+`]`)}
			used := make([]time.Duration, 2)
			for range b.N {
				for i, p := range parties {
					used[i] += p.measureSignIn(b)
				}
			}
			per := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(b.N) }
			b.ReportMetric(per(used[0]), "none-µs")
			b.ReportMetric(per(used[1]), "ten-µs")
			b.ReportMetric(100*(per(used[1])/per(used[0])-1), "%-more")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// measureSignIn signs ada in, and returns the processor time of the server's requests.
func (p *party) measureSignIn(b *testing.B) (used time.Duration) {
	p.http = newBrowser(b, p.testApp.http)
	timed := func(do func()) {
		begin := processorTime(b)
		do()
		used += processorTime(b) - begin
	}
	var step, done schemas.Step
	var id string
	timed(func() {
		reply, _ := p.visit(p.at("/oauth2/authorize?" + p.request("scope", "openid").Encode()))
		id = p.location(reply).Query().Get("executionId")
		step = p.step(map[string]any{"executionId": id})
	})
	inputs := p.assertion(step) // the work of the authenticator
	var got *tokens
	var status int
	timed(func() {
		done = p.step(map[string]any{"executionId": id, "challengeToken": step.ChallengeToken, "inputs": inputs})
		got, status = p.redeem(p.code(p.follow(p.visit(done.Data.RedirectURL))))
	})
	if status != http.StatusOK || got.ID == "" {
		b.Fatalf("%d %+v", status, url.Values{"error": {got.Error}})
	}
	return used
}
