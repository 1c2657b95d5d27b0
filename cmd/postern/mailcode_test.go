package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// mailbox is a mail server that defers the first mail, and delivers the others.
type mailbox struct {
	mails chan string
	tries int
}

func (b *mailbox) NewSession(*smtp.Conn) (smtp.Session, error) { return b, nil }

func (*mailbox) Mail(string, *smtp.MailOptions) error { return nil }

func (b *mailbox) Rcpt(string, *smtp.RcptOptions) error {
	if b.tries++; b.tries == 1 {
		return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: "try again"}
	}
	return nil
}

func (b *mailbox) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err == nil {
		b.mails <- string(text)
	}
	return err
}

func (*mailbox) Reset() {}

func (*mailbox) Logout() error { return nil }

// code returns the code of the next mail.
func (b *mailbox) code(t testing.TB) string {
	t.Helper()
	text := <-b.mails
	found := regexp.MustCompile(`(?m)^    ([0-9]{6})\r$`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("there is no code in %s", text)
	}
	return found[1]
}

// newMailTest is a rig that sends mail to a mail server of the test.
func newMailTest(t *testing.T, environ ...string) (*testApp, *mailbox) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	box := &mailbox{mails: make(chan string, 8)}
	server := smtp.NewServer(box)
	go func() { _ = server.Serve(l) }() // ends with the test
	t.Cleanup(func() {
		_ = server.Close()
		_ = l.Close()
	})
	w := newTestApp(t, append(environ, "POSTERN_MAIL_HOST=127.0.0.1", "POSTERN_MAIL_TLS=none", "POSTERN_MAIL_FROM=Example <no-reply@example.com>",
		"POSTERN_MAIL_PORT="+strconv.Itoa(l.Addr().(*net.TCPAddr).Port))...)
	ctx, stop := context.WithCancel(context.Background())
	queue := w.deliveryQueue()
	queue.Poll, queue.Backoff = 10*time.Millisecond, func(int) time.Duration { return time.Millisecond }
	done := make(chan struct{})
	go func() {
		defer close(done)
		queue.Run(ctx)
	}()
	t.Cleanup(func() { // before the rig closes its store
		stop()
		<-done
	})
	return w, box
}

// A user signs in with a mailed code, once, although the mail server defers the first
// attempt: the whole server, from the request to the session.
func TestCodeByMail(t *testing.T) {
	w, box := newMailTest(t)
	app := w.mailedShop()
	s := w.signInTo(app)
	s = w.answer(s, "continue", map[string]string{"email": "ada@example.org"})
	code := box.code(t)
	if s.StepID != "code" || box.tries != 2 {
		t.Fatalf("the code %q after %d tries, at the step %q", code, box.tries, s.StepID)
	}
	before := s
	if s = w.answer(s, "submit", map[string]string{"code": code}); s.FlowStatus != schemas.Complete || s.Assertion == "" {
		t.Fatalf("the code did not do: %+v", s)
	}
	var refused schemas.Error
	w.send(400, "/flow/execute", "", `{"executionId": "`+before.ExecutionID+`", "action": "submit", "inputs": {"code": "`+code+`"}}`, &refused)
	if refused.Code != schemas.CodeExecutionNotFound {
		t.Errorf("the code a second time: %v", &refused)
	}
	user, err := w.store.UserByAttribute(t.Context(), "", "email", "ada@example.org")
	if err != nil || user.Attributes["email_verified"] != true {
		t.Errorf("the address of %+v is not verified: %v", user, err)
	}
}

// mailedShop creates Ada, and an application that users sign in to with codes.
func (w *testApp) mailedShop() (applicationID string) {
	token := w.admin()
	var made struct{ ID string }
	w.send(201, "/users", token, `{"type": "Person", "attributes": {"username": "ada", "email": "ada@example.org", "email_verified": true}}`, &made)
	return w.shop(token, "email_code.yaml")
}

// shop creates an application that users sign in to by a flow of the corpus.
func (w *testApp) shop(token, file string) (applicationID string) {
	return w.application(token, "Shop "+file, "authFlowId", w.storeFlow(token, file))
}

// application creates an application with a flow, with sign-up enabled.
func (w *testApp) application(token, name, member, flow string) (id string) {
	body := datatest.Marshal(w.t, map[string]any{"name": name, member: flow, "isRegistrationFlowEnabled": true})
	var made struct{ ID string }
	w.send(201, "/applications", token, string(body), &made)
	return made.ID
}

// storeFlow stores a flow of the corpus, under a handle of its own.
func (w *testApp) storeFlow(token, file string) (id string) {
	text := datatest.ReadFile(w.t, filepath.Join("..", "..", "flows", "testdata", "good", file))
	doc, problems := schemas.ParseYAML(regexp.MustCompile(`(?m)^handle: `).ReplaceAll(text, []byte("handle: corpus-")))
	if len(problems) > 0 {
		w.t.Fatal(problems)
	}
	var made struct{ ID string }
	w.send(201, "/flows", token, string(doc.JSON()), &made)
	return made.ID
}

// begin starts a run of an application.
func (w *testApp) begin(application, flowType string) (s schemas.Step) {
	w.post("/flow/execute", map[string]string{"applicationId": application, "flowType": flowType}, &s)
	return s
}

// An address is in assertions once it is verified, also if the sign-up ended at the code. Without a mail server it is
// there, as an unverified one.
func TestUnverifiedAddressInAssertions(t *testing.T) {
	with, _ := newMailTest(t)
	for _, w := range []*testApp{with, newTestApp(t)} {
		token := w.admin()
		for _, verified := range []bool{false, true} {
			name := fmt.Sprint("ada-", verified)
			w.send(201, "/users", token, fmt.Sprintf(`{"type":"Person","attributes":{"username":%q,"email":"%s@example.org","email_verified":%v,"password":"wheel of forty cogs"}}`, name, name, verified), &struct{}{})
			s := w.answer(w.signInTo(w.made(token, "/applications", fmt.Sprintf(`{"name":"Shop %v"}`, verified))), "password", nil)
			s = w.answer(s, "continue", map[string]string{"username": name, "password": "wheel of forty cogs"})
			if s.FlowStatus != schemas.Complete {
				t.Fatalf("%+v", s)
			}
			profile := payloadOf(t, s.Assertion)
			if released := profile["email"] != nil; released != (verified || w != with) || released && profile["email_verified"] != verified {
				t.Errorf("with a mail server %v, verified %v: the claims %v", w == with, verified, profile)
			}
		}
	}
}
