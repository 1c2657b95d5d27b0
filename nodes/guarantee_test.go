package nodes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
)

// Guarantees of flows of the real kinds, and the run that violates them where they do not
// hold.
func TestFlowsGuarantee(t *testing.T) {
	const session, key, secret = "  - {id: s, use: session-check, next: {active: done, none: %s}}\n",
		"  - {id: key, use: passkey-authenticate, next: done}\n", "  - {id: secret, use: password-authenticate, next: done}\n"
	const name = "  - {id: who, use: prompt, with: {inputs: [{identifier: username, type: TEXT_INPUT, required: true}], actions: [{ref: go}]}, next: find}\n"
	const find = "  - {id: find, use: user-resolve, with: {by: [username], from: username, conceal: true}, next: %s}\n"
	const named = "  - {id: find, use: user-resolve, with: {by: [username], from: username}, next: {found: ask, missing: key}}\n"
	const ask = "  - {id: ask, use: http-request, with: {target: t, mode: query, body: {id: user.id}}, next: {success: key, failure: key}}\n"
	tests := []struct{ name, guarantees, nodes, want string }{
		{"a passkey", "phishingResistant: true", key, ""},
		{"a passkey verifies its user only where it must", "userVerified: true", key, "key —success→ done"},
		{"possession alone is one factor", `acr: "urn:postern:acr:mfa"`, key, "key —success→ done"},
		{"a verified user is another", `acr: "urn:postern:acr:mfa-phr", amr: [mfa]`, strings.Replace(key, ", next", ", with: {userVerification: required}, next", 1), ""},
		{"where it must", "userVerified: true", strings.Replace(key, ", next", ", with: {userVerification: required}, next", 1), ""},
		{"a synced one may be used", "acr: phrh", key, "key —success→ done"},
		{"a session must be worth as much", "phishingResistant: true, noEnumeration: true", fmt.Sprintf(session, "key") + key, ""},
		{"a password is not phishing-resistant", "phishingResistant: true", name + fmt.Sprintf(find, "secret") + secret,
			"who —go→ find —found→ secret —success→ done"},
		{"both make two factors", `amr: [mfa], acr: "urn:postern:acr:mfa-phr"`, name + fmt.Sprintf(find, "secret") + strings.Replace(secret, "next: done", "next: key", 1) + key, ""},
		{"concealed", "noEnumeration: true", name + fmt.Sprintf(find, "secret") + secret, ""},
		{"a service that is asked about who was named", "noEnumeration: true", name + named + ask + key,
			"who —go→ findwho —go→ find —found→ ask"},
		{"a service that is asked about who has authenticated", "noEnumeration: true", strings.Replace(key, "next: done", "next: ask", 1) +
			strings.NewReplacer("success: key", "success: done", "failure: key", "failure: done").Replace(ask), ""},
		{"a service that is notified of the name", "noEnumeration: true", name + named +
			strings.NewReplacer("query", "notify", "{success: key, failure: key}", "key").Replace(ask) + key, "who —go→ find"},
		{"not concealed", "noEnumeration: true", name +
			strings.Replace(fmt.Sprintf(find, "{found: key, missing: who}"), ", conceal: true", "", 1) + key, "who —go→ find"},
		{"not concealed from who has authenticated", "noEnumeration: true", strings.Replace(key, "next: done", "next: who", 1) + name +
			strings.Replace(fmt.Sprintf(find, "{found: again, missing: who}"), ", conceal: true", "", 1) + "  - {id: again, use: passkey-authenticate, next: done}\n", "key —success→ who —go→ find —missing→ who —go→ find"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text := "handle: f\nname: f\nflowType: AUTHENTICATION\nguarantees: {" + test.guarantees + "}\nnodes:\n" + test.nodes + "  - {id: done, use: authorization-code}\n"
			_, g, problems := engine.Check([]byte(text), true, Kinds(Deps{}))
			got := ""
			for _, p := range problems {
				got += p.Trace.String()
				if p.Rule != engine.RuleGuarantee {
					t.Error(p)
				}
			}
			if got != test.want || (g == nil) != (test.want != "") {
				t.Errorf("the run %q breaks it, want %q: %v", got, test.want, problems)
			}
		})
	}
}
