package e2e_test

import (
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"testing"

	"github.com/emersion/go-smtp"

	"github.com/postern-id/postern/internal/datatest"
)

// mailbox is a mail server that delivers mails to the test.
type mailbox struct{ mails chan string }

func (b mailbox) NewSession(*smtp.Conn) (smtp.Session, error) { return b, nil }

func (mailbox) Mail(string, *smtp.MailOptions) error { return nil }

func (mailbox) Rcpt(string, *smtp.RcptOptions) error { return nil }

func (b mailbox) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err == nil {
		b.mails <- string(text)
	}
	return err
}

func (mailbox) Reset() {}

func (mailbox) Logout() error { return nil }

// openMailbox starts a mail server, and returns the environment of a server that uses it.
func openMailbox(t *testing.T) (mailbox, []string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := mailbox{make(chan string, 8)}
	server := smtp.NewServer(b)
	go func() { _ = server.Serve(l) }() // ends with the test
	t.Cleanup(func() {
		_ = server.Close()
		_ = l.Close()
	})
	return b, []string{"POSTERN_MAIL_HOST=127.0.0.1", "POSTERN_MAIL_PORT=" + strconv.Itoa(l.Addr().(*net.TCPAddr).Port),
		"POSTERN_MAIL_TLS=none", "POSTERN_MAIL_FROM=no-reply@example.com"}
}

// mails returns the mails to an address in the mailbox of serve --try, newest first.
func (p *postern) mails(to string) (texts []string) {
	p.t.Helper()
	var mails []struct{ To, Text string }
	datatest.Unmarshal(p.t, p.send(http.MethodGet, "/try/mail", "", "Accept: application/json").body, &mails)
	for _, m := range mails {
		if m.To == to {
			texts = append(texts, m.Text)
		}
	}
	return texts
}

// mailed returns the part of the newest mail to an address that matches a pattern, once there is
// one.
func (p *postern) mailed(to, pattern string) (match string) {
	p.t.Helper()
	eventually(p.t, "a mail with "+pattern, func() bool {
		for _, text := range p.mails(to) {
			if found := regexp.MustCompile(pattern).FindStringSubmatch(text); found != nil {
				match = found[1]
				return true
			}
		}
		return false
	})
	return match
}

// mailedCode returns the code in the newest mail to an address in the mailbox of serve --try.
func (p *postern) mailedCode(to string) string {
	p.t.Helper()
	return p.mailed(to, `(?m)^    ([0-9]{6})$`)
}

// The page asks for the mailed code, rejects a wrong one with a reason, and reports when a
// new one is requested too early.
func TestGateAcceptsMailedCodes(t *testing.T) {
	t.Parallel()
	box, environ := openMailbox(t)
	p := serve(t, environ...)
	app := p.storeFlow(t, "email_code.yaml")
	made, err := p.post("/users", adminToken(t, p), object{"type": "Person", "attributes": object{"username": "ada", "email": "ada@example.org", "email_verified": true}})
	if err != nil || made.status != http.StatusCreated {
		t.Fatalf("%v %s", err, made.body)
	}
	g := openGate(t, p)
	g.open(p.base + "/gate/signin?applicationId=" + app)
	g.shows("step/who")
	g.enter("email", "ada@example.org")
	g.click("action-continue")
	g.shows("step/code")
	g.click("action-resend") // before the pause of 30 seconds between two codes is over
	g.alerted("a moment ago")
	g.checkAccessibility("a code by mail")
	g.enter("code", "123")
	g.click("action-submit")
	g.until(`document.getElementById("error-code")?.textContent.includes("Incorrect code")`)
	code := regexp.MustCompile(`(?m)^    ([0-9]{6})\r$`).FindStringSubmatch(<-box.mails)
	if code == nil {
		t.Fatal("the mail has no code")
	}
	g.enter("code", code[1])
	g.click("action-submit")
	g.shows("step/key") // the account page needs more than a mailed code
}
