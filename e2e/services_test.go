package e2e_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/postern-id/postern/schemas"
)

const (
	// signingSecret is a secret of Standard Webhooks.
	signingSecret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"
	riskToken     = "Bearer of tidings"
	// secretInput is user input that the store must not contain in the clear.
	secretInput = "the seventh wave at dawn"
)

// neighbor is a service on this machine that a flow calls. It is unavailable until the
// test enables it.
type externalService struct {
	t    *testing.T
	site *httptest.Server

	mu              sync.Mutex
	back            bool
	asked, notified []message
}

type message struct {
	header http.Header
	path   string
	body   []byte
}

func newExternalService(t *testing.T) *externalService {
	n := &externalService{t: t}
	n.site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the peer has disconnected
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		m := message{r.Header, r.URL.RequestURI(), body}
		if r.URL.Path == "/v1/assess" {
			n.asked = append(n.asked, m)
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"score": 12.5}`)
			return
		}
		n.notified = append(n.notified, m)
		if !n.back {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(n.site.Close)
	return n
}

func (n *externalService) messages() (asked, reported []message) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked, n.notified
}

func (n *externalService) restart() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.back = true
}

// targets is the environment of a server that has the service as two targets.
func (n *externalService) targets() []string {
	text, err := json.Marshal(object{
		"risk": object{"url": n.site.URL + "/v1", "authorization": riskToken, "timeout": "10s"},
		"crm":  object{"url": n.site.URL + "/hooks", "secret": signingSecret},
	})
	if err != nil {
		n.t.Fatal(err)
	}
	return []string{"POSTERN_HTTP_TARGETS=" + string(text), "POSTERN_OUTBOUND_ALLOW=127.0.0.0/8", "POSTERN_THROTTLE_ENABLED=false"}
}

// verified verifies the signature by the text of Standard Webhooks.
func verified(t *testing.T, m message) {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(signingSecret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", m.header.Get("webhook-id"), m.header.Get("webhook-timestamp"), m.body)
	if got, want := m.header.Get("webhook-signature"), "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)); got != want {
		t.Errorf("the signature is %q, expected %q", got, want)
	}
}

// secretSteps is a flow that sends user input to the service.
func secretSteps() object {
	node := func(id, use string, with, next any) object {
		return object{"id": id, "use": use, "with": with, "next": next}
	}
	return object{"handle": "confiding", "name": "Confiding", "flowType": "AUTHENTICATION", "nodes": []object{
		node("who", "prompt", object{
			"inputs":  []object{{"identifier": "note", "type": "TEXT_INPUT", "required": true}},
			"actions": []object{{"ref": "go", "label": "Go"}},
		}, "ask"),
		node("ask", "http-request", object{
			"target": "risk", "path": "/assess?level=high", "mode": "query", "body": object{"note": "inputs.note"},
			"as": "risk", "reply": object{"score": object{"at": "/score", "type": "number"}},
		}, object{"success": "tell", "failure": "key"}),
		node("tell", "http-request", object{
			"target": "crm", "path": "/notes", "mode": "notify", "event": "note.taken", "body": object{"note": "inputs.note", "score": "replies.risk.score"},
		}, "key"),
		node("key", "passkey-authenticate", object{}, object{"success": "done"}),
		{"id": "done", "use": "authorization-code"},
	}}
}

// tellSecret has 16 concurrent requests answer the step whose flow calls the service.
func tellSecret(t *testing.T, p *postern) {
	t.Helper()
	token := adminToken(t, p)
	var made struct{ ID string }
	for _, one := range []func() (string, object){
		func() (string, object) { return "/flows", secretSteps() },
		func() (string, object) { return "/applications", object{"name": "Diary", "authFlowId": made.ID} },
	} {
		path, body := one()
		if r, err := p.post(path, token, body); err != nil || r.status != http.StatusCreated || json.Unmarshal(r.body, &made) != nil {
			t.Fatalf("POST %s: %+v, %v", path, r, err)
		}
	}
	s := p.step(t, object{"applicationId": made.ID, "flowType": "AUTHENTICATION"})
	tally := p.runTogether(16, answerTo(s, "go", map[string]string{"note": secretInput}))
	if tally["200"] != 1 || tally["409 "+schemas.CodeStaleStep] != 15 {
		t.Fatalf("16 answers to one step got %v", tally)
	}
}

// A notification of a step is sent if and after the step is committed, even if the server
// is killed before the service accepts it. A query may be sent for steps that are not
// committed, always with one id.
func TestExternalServices(t *testing.T) {
	t.Parallel()
	n := newExternalService(t)
	p := serve(t, n.targets()...)
	tellSecret(t, p)
	// Only then has the server recorded the attempt. A server that is killed earlier has
	// claimed the delivery for 65 seconds, and the test takes so much longer.
	eventually(t, "the service got the notification while down", func() bool { return strings.Contains(p.log.String(), "will be retried") })
	p.kill()
	log := p.log.String()
	hiddenMembers(t, p.dir)
	n.restart()
	_, before := n.messages()
	p.start()
	eventually(t, "the service is notified after the crash", func() bool { _, reported := n.messages(); return len(reported) > len(before) })
	asked, reported := n.messages()
	for _, m := range asked {
		if m.path != "/v1/assess?level=high" || string(m.body) != `{"note":"`+secretInput+`"}` || m.header.Get("Authorization") != riskToken ||
			m.header.Get("Idempotency-Key") != asked[0].header.Get("Idempotency-Key") || m.header.Get("webhook-signature") != "" {
			t.Errorf("asked %s %s %v", m.path, m.body, m.header)
		}
	}
	for _, m := range reported {
		verified(t, m)
		var said struct {
			Type, Timestamp string
			Data            object
		}
		if err := json.Unmarshal(m.body, &said); err != nil || said.Type != "note.taken" || said.Timestamp == "" || said.Data["note"] != secretInput || said.Data["score"] != 12.5 ||
			m.path != "/hooks/notes" || m.header.Get("webhook-id") != reported[0].header.Get("webhook-id") || m.header.Get("Idempotency-Key") != m.header.Get("webhook-id") {
			t.Errorf("notified %s %s %v, %v", m.path, m.body, m.header, err)
		}
	}
	if log += p.log.String(); strings.Contains(log, secretInput) || strings.Contains(log, "tidings") {
		t.Errorf("the log contains: %s", log)
	}
}

// hiddenMembers makes sure that no file of a folder contains the user input.
func hiddenMembers(t *testing.T, dir string) {
	t.Helper()
	flows := 0 // stored unencrypted, so finding none means that the search failed
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte("note.taken")) {
			flows++
		}
		if bytes.Contains(text, []byte(secretInput)) {
			t.Errorf("%s contains the notification in the clear", path)
		}
		return err
	})
	if err != nil || flows == 0 {
		t.Fatalf("%d files have the flow: %v", flows, err)
	}
}
