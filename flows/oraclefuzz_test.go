package flows_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// pieces are the nodes of random flows, each with its outcomes.
var pieces = []struct {
	use, with string
	outcomes  []string
}{
	{"prompt", `{"inputs": [{"identifier": "username", "type": "TEXT_INPUT", "required": true}], "actions": [{"ref": "go"}, {"ref": "back", "inputs": []}]}`, []string{"go", "back"}},
	{"prompt", `{"inputs": [{"identifier": "email", "type": "EMAIL_INPUT"}], "actions": [{"ref": "go"}, {"ref": "back"}]}`, []string{"go", "back"}},
	{"prompt", `{"inputs": [{"identifier": "username", "type": "TEXT_INPUT", "required": true}, {"identifier": "pin", "type": "TEXT_INPUT", "required": true, "autocomplete": "one-time-code"}], "actions": [{"ref": "go"}, {"ref": "back"}]}`, []string{"go", "back"}},
	{"user-create", `{"attributes": {"username": "username", "nickname": "pin"}}`, []string{"created", "taken"}},
	{"decision", `{"cases": [{"when": "has(inputs.pin) && inputs.pin == 'x'", "outcome": "yes"}]}`, []string{"yes", "otherwise"}},
	{"prompt", `{"actions": [{"ref": "go"}, {"ref": "back"}]}`, []string{"go", "back"}},
	{"user-resolve", `{"by": ["username"], "from": "username"}`, []string{"found", "missing"}},
	{"user-resolve", `{"by": ["email"], "from": "email"}`, []string{"found", "missing"}},
	{"user-resolve", `{"by": ["username"], "from": "username", "conceal": true}`, []string{""}},
	{"user-create", `{}`, []string{"created", "taken"}},
	{"passkey-authenticate", `{}`, []string{"success", "failure"}},
	{"passkey-authenticate", `{"mode": "usernameless", "alternatives": [{"ref": "other"}]}`, []string{"success", "other"}},
	{"passkey-register", `{"optional": true}`, []string{"success", "skip"}},
	{"password-authenticate", `{}`, []string{"success", "failure"}},
	{"email-otp", `{}`, []string{"success", "failure"}},
	{"invitation", `{}`, []string{"success", "failure"}},
	{"email-change", `{}`, []string{"success", "failure"}},
	{"email-change", `{}`, []string{"success", "unavailable"}},
	{"email-otp", `{}`, []string{"success", "missing"}},
	{"email-otp", `{}`, []string{"success", "unavailable"}},
	{"password-set", `{}`, []string{"success"}},
	{"password-set", `{"minLength": 8}`, []string{"success"}},
	{"totp", `{}`, []string{"success", "failure", "none"}},
	{"totp", `{"alone": true, "alternatives": [{"ref": "other"}]}`, []string{"success", "other"}},
	{"totp-register", `{"optional": true}`, []string{"success", "kept", "skip"}},
	{"recovery-codes", `{}`, []string{"success", "kept"}},
	{"recovery-code", `{}`, []string{"success", "failure"}},
	{"attributes", `{"attributes": ["given_name"], "optional": true}`, []string{"done", "skip"}},
	{"federated-oidc", `{"provider": "corp"}`, []string{"success", "unknown", "failure"}},
	{"federated-oidc", `{"provider": "club", "claims": {"email": "email"}, "required": ["email"]}`, []string{"success", "unknown"}},
	{"federated-link", ``, []string{"success", "taken"}},
	{"session-check", `{}`, []string{"active", "none"}},
	{"session-check", `{"acr": "urn:postern:acr:vouched"}`, []string{"active", "none"}},
	{"session-check", `{"methods": ["pwd"]}`, []string{"active", "none"}},
	{"passkey-authenticate", `{"userVerification": "required"}`, []string{"success", "failure"}},
	{"decision", `{"cases": [{"when": "user.isAuthenticated", "outcome": "yes"}]}`, []string{"yes", "otherwise"}},
	{"decision", `{"cases": [{"when": "!user.isNew && !user.isAuthenticated", "outcome": "yes"}]}`, []string{"yes", "otherwise"}},
	{"decision", `{"cases": [{"when": "user.isAuthenticated || user.isNew", "outcome": "yes"}, {"when": "request.language == 'de'", "outcome": "no"}]}`, []string{"yes", "no", "otherwise"}},
	{"http-request", `{"target": "t", "mode": "query", "body": {"id": "user.id"}, "as": "risk", "reply": {"ok": {"at": "/ok", "type": "boolean"}}}`, []string{"success", "failure"}},
	{"http-request", `{"target": "t", "mode": "query", "body": {"name": "inputs.username"}, "as": "risk", "reply": {"ok": {"at": "/ok", "type": "boolean"}}}`, []string{"success", "failure"}},
	{"http-request", `{"target": "t", "mode": "query", "body": {"first": "replies.risk.ok"}, "as": "more", "reply": {"ok": {"at": "/ok", "type": "boolean"}}}`, []string{"success", "failure"}},
	{"http-request", `{"target": "t", "mode": "notify", "body": {"ok": "replies.risk.ok"}}`, []string{"queued"}},
	{"decision", `{"cases": [{"when": "replies.risk.ok", "outcome": "yes"}]}`, []string{"yes", "otherwise"}},
	{"decision", `{"cases": [{"when": "user.isAuthenticated && replies.more.ok", "outcome": "yes"}]}`, []string{"yes", "otherwise"}},
	{"decision", `{"cases": [{"when": "user.attributes.email == 'x'", "outcome": "yes"}]}`, []string{"yes", "otherwise"}},
	{"decision", `{"cases": [{"when": "has(user.attributes.email) && user.attributes.email == 'x'", "outcome": "yes"}]}`, []string{"yes", "otherwise"}},
	{"decision", `{"cases": [{"when": "!has(user.attributes.username) || user.attributes.username == 'x'", "outcome": "yes"}]}`, []string{"yes", "otherwise"}},
	{"decision", `{"cases": [{"when": "'system' in user.permissions || 'a' in request.scopes", "outcome": "yes"}]}`, []string{"yes", "otherwise"}},
	{"decision", `{"cases": [{"when": "user.isAuthenticated && !user.knowsBrowser", "outcome": "yes"}]}`, []string{"yes", "otherwise"}},
	{"http-request", `{"target": "t", "mode": "query", "body": {"groups": "user.groups"}, "as": "risk", "reply": {"ok": {"at": "/ok", "type": "boolean"}}}`, []string{"success", "failure"}},
	{"decision", `{"cases": [{"when": "has(user.attributes.email)", "outcome": "yes"}]}`, []string{"yes", "otherwise"}},
	{"http-request", `{"target": "t", "mode": "notify", "body": {"name": "user.attributes.username"}}`, []string{"queued"}},
	{"authorization-code", ``, nil},
	{"deny", ``, nil},
}

// random builds a flow from bytes: for each node its kind, then the targets of its outcomes.
func random(data []byte) *schemas.Flow {
	next := func() int {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return int(b)
	}
	f := &schemas.Flow{Handle: "random", Name: "random", FlowType: schemas.Authentication}
	if next()%4 == 0 {
		f.FlowType = schemas.Registration
	}
	size := 2 + next()%7
	for i := range size {
		p := pieces[next()%len(pieces)]
		if i == size-1 {
			p = pieces[len(pieces)-1]
		}
		n := schemas.Node{ID: fmt.Sprintf("n%d", i), Use: p.use, With: json.RawMessage(p.with)}
		for _, outcome := range p.outcomes {
			to := schemas.End
			if t := next() % (size + 1); t < size {
				to = fmt.Sprintf("n%d", t)
			}
			if outcome == "" {
				n.Next.To = to
				continue
			}
			if n.Next.By == nil {
				n.Next.By = map[string]string{}
			}
			n.Next.By[outcome] = to
		}
		f.Nodes = append(f.Nodes, n)
	}
	return f
}

// FuzzProofs builds flows of any shape. A flow in which the adversary succeeds, or a run gets
// stuck, is never accepted. Some harmless flows are rejected: the analysis also counts paths
// that no client could take.
func FuzzProofs(f *testing.F) {
	for i := range byte(200) {
		seed := make([]byte, 30)
		for j := range seed {
			seed[j] = byte((int(i)*7919 + j*j*131 + int(i)*j*17) >> 3)
		}
		f.Add(seed)
	}
	kinds := nodes.Kinds(nodes.Deps{})
	f.Fuzz(func(t *testing.T, data []byte) {
		flow := random(data)
		var n tally
		n.compare(t, "random", flow, kinds)
		if t.Failed() {
			text, _ := json.MarshalIndent(flow, "", "  ") // it is JSON
			t.Logf("%s", text)
		}
	})
}
