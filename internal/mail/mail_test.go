package mail

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http/httptest"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/schemas"
)

// server is a configurable mail server on this machine.
type server struct {
	mu       sync.Mutex
	mails    [][]byte
	to       []string
	users    []string
	refusal  error // reply to MAIL, RCPT and DATA
	at       string
	host     string
	port     int
	password string
}

// serve starts a mail server. Its TLS certificate is that of httptest, which is valid for
// example.com and 127.0.0.1.
func serve(t *testing.T, how string) (*server, *x509.CertPool) {
	t.Helper()
	return serveAt(t, how, "127.0.0.1")
}

// serveAt is serve at another address of this machine.
func serveAt(t *testing.T, how, host string) (*server, *x509.CertPool) {
	t.Helper()
	certified := httptest.NewTLSServer(nil)
	t.Cleanup(certified.Close)
	pool := x509.NewCertPool()
	pool.AddCert(certified.Certificate())
	s := &server{password: "secret"}
	smtpd := smtp.NewServer(s)
	smtpd.Domain, smtpd.AllowInsecureAuth = "mail.example.com", how == NoTLS
	certificates := &tls.Config{Certificates: certified.TLS.Certificates}
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().(*net.TCPAddr)
	s.host, s.port = addr.IP.String(), addr.Port
	switch how {
	case StartTLS:
		smtpd.TLSConfig = certificates
	case Implicit:
		l = tls.NewListener(l, certificates)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = smtpd.Serve(l) // returns after Close
	}()
	t.Cleanup(func() {
		_ = smtpd.Close()
		_ = l.Close() // Close of a server that has not started to serve does not close the listener
		<-ended
	})
	return s, pool
}

func (s *server) NewSession(*smtp.Conn) (smtp.Session, error) { return &session{server: s}, nil }

type session struct {
	*server
	user string
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if password != s.password {
			return smtp.ErrAuthFailed
		}
		s.user = user
		return nil
	}), nil
}

func (s *session) refuse(at string) error {
	if s.at == at {
		return s.refusal
	}
	return nil
}

func (s *session) Mail(string, *smtp.MailOptions) error { return s.refuse("MAIL") }

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to, s.users = append(s.to, to), append(s.users, s.user)
	return s.refuse("RCPT")
}

func (s *session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err == nil {
		err = s.refuse("DATA")
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mails = append(s.mails, text)
	return nil
}

func (*session) Reset() {}

func (*session) Logout() error { return nil }

// code is the delivery of a mail.
func code(t *testing.T, m schemas.Mail) schemas.Delivery {
	t.Helper()
	body := datatest.Marshal(t, m)
	return schemas.Delivery{ID: "01900000-0000-7000-8000-000000000042", Kind: schemas.MailDelivery, Body: body}
}

func ada() schemas.Mail {
	return schemas.Mail{To: "ada@example.org", Code: "012345", Minutes: 10, Application: "Shop", Language: "en"}
}

func (s *server) options(how string, pool *x509.CertPool) Options {
	return Options{Host: s.host, Port: s.port, TLS: how, Username: "postern", Password: "secret", From: "Example <no-reply@example.com>", RootCAs: pool}
}

// Mails arrive over every kind of encryption, from authenticated senders.
func TestSend(t *testing.T) {
	for _, how := range []string{StartTLS, Implicit, NoTLS} {
		t.Run(how, func(t *testing.T) {
			s, pool := serve(t, how)
			if err := New(s.options(how, pool)).Send(t.Context(), code(t, ada())); err != nil {
				t.Fatal(err)
			}
			if len(s.mails) != 1 || s.to[0] != "ada@example.org" || s.users[0] != "postern" {
				t.Errorf("%d mails, to %q, from %q", len(s.mails), s.to, s.users)
			}
		})
	}
}

// Temporary failures are retried and permanent ones are not, and no error contains the
// address.
func TestFailures(t *testing.T) {
	reply := func(status int) error {
		return &smtp.SMTPError{Code: status, EnhancedCode: smtp.EnhancedCode{status / 100, 1, 1}, Message: "<ada@example.org> is unknown"}
	}
	tests := []struct {
		name    string
		at      string
		refusal error
		change  func(*Options)
		refused bool
	}{
		{"no such mailbox", "RCPT", reply(550), nil, true},
		{"greylisted", "RCPT", reply(451), nil, false},
		{"a sender who may not", "MAIL", reply(553), nil, true},
		{"a full disk", "MAIL", reply(452), nil, false},
		{"content that is refused", "DATA", reply(554), nil, true},
		{"content that is put off", "DATA", reply(421), nil, false},
		{"a wrong password", "", nil, func(o *Options) { o.Password = "wrong" }, false},
		{"no server listens", "", nil, func(o *Options) { o.Port = 1 }, false},
		{"an untrusted certificate", "", nil, func(o *Options) { o.RootCAs = x509.NewCertPool() }, false},
		{"a certificate of another name", "", nil, func(o *Options) { o.Host = "localhost" }, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, pool := serve(t, StartTLS)
			s.at, s.refusal = test.at, test.refusal
			o := s.options(StartTLS, pool)
			if test.change != nil {
				test.change(&o)
			}
			err := New(o).Send(t.Context(), code(t, ada()))
			if err == nil || errors.Is(err, delivery.ErrRefused) != test.refused {
				t.Errorf("got %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "ada") {
				t.Errorf("the log would tell who it is: %v", err)
			}
			if len(s.mails) > 0 {
				t.Error("a mail arrived")
			}
		})
	}
}

// A mail server that accepts the connection and stays silent does not hold the caller: the attempt ends with
// its deadline, and the connection is closed.
func TestSilentServer(t *testing.T) {
	for _, how := range []string{NoTLS, StartTLS, Implicit} {
		t.Run(how, func(t *testing.T) {
			silent, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer silent.Close()
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				if conn, err := silent.Accept(); err == nil {
					_, _ = io.Copy(io.Discard, conn) // until the sender closes it
				}
			}()
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			o := Options{Host: "127.0.0.1", Port: silent.Addr().(*net.TCPAddr).Port, TLS: how, From: "a@example.org"}
			if err := New(o).Check(ctx); err == nil || !strings.Contains(err.Error(), "reaching the mail server") {
				t.Errorf("the error is %v", err)
			}
			<-ended
		})
	}
}

// Without STARTTLS nothing is sent, even if an attacker removed it from the server's
// capabilities.
func TestNoDowngrade(t *testing.T) {
	s, pool := serve(t, NoTLS)
	if err := New(s.options(StartTLS, pool)).Send(t.Context(), code(t, ada())); err == nil || len(s.to) > 0 {
		t.Errorf("sent in the clear: %v, to %q", err, s.to)
	}
}

// A mail without a recipient is not sent, and an invalid body is not retried.
func TestDecoy(t *testing.T) {
	nowhere := New(Options{Host: "127.0.0.1", Port: 1})
	if err := nowhere.Send(t.Context(), code(t, schemas.Mail{Code: "123456"})); err != nil {
		t.Error(err)
	}
	if err := nowhere.Send(t.Context(), schemas.Delivery{Body: []byte("x")}); !errors.Is(err, delivery.ErrRefused) {
		t.Error(err)
	}
}

// read sends a mail and returns its fields and its parts by type.
func read(t *testing.T, m schemas.Mail) (mail.Header, map[string]string) {
	t.Helper()
	s, _ := serve(t, NoTLS)
	if err := New(s.options(NoTLS, nil)).Send(t.Context(), code(t, m)); err != nil {
		t.Fatal(err)
	}
	msg, err := mail.ReadMessage(bytes.NewReader(s.mails[0]))
	if err != nil {
		t.Fatal(err)
	}
	_, params, err := mime.ParseMediaType(msg.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	parts := map[string]string{}
	for all := multipart.NewReader(msg.Body, params["boundary"]); ; {
		part, err := all.NextRawPart()
		if errors.Is(err, io.EOF) {
			return msg.Header, parts
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := strings.Cut(part.Header.Get("Content-Type"), ";")
		parts[kind] = string(text)
	}
}

func TestLanguages(t *testing.T) {
	for tag, want := range map[string][2]string{
		"": {"Your code for Shop", "en"}, "de-AT": {"Ihr Code für Shop", "de"}, "fr": {"Votre code pour Shop", "fr"},
		"it": {"Il suo codice per Shop", "it"}, "pt-BR": {"O seu código para Shop", "pt"}, "fi": {"Your code for Shop", "en"}, "not a tag": {"Your code for Shop", "en"},
	} {
		m := ada()
		m.Language = tag
		header, parts := read(t, m)
		subject, err := new(mime.WordDecoder).DecodeHeader(header.Get("Subject"))
		if err != nil || subject != want[0] || header.Get("Content-Language") != want[1] {
			t.Errorf("%q: the subject %q in %q, %v", tag, subject, header.Get("Content-Language"), err)
		}
		for kind, text := range parts {
			if !strings.Contains(text, "012345") || !strings.Contains(text, "10") || strings.Contains(text, "{") && kind == "text/plain" {
				t.Errorf("%q: %s is %s", tag, kind, text)
			}
		}
		if len(parts) != 2 || header.Get("Message-Id") != "<01900000-0000-7000-8000-000000000042@example.com>" || header.Get("Auto-Submitted") != "auto-generated" {
			t.Errorf("%q: %d parts, fields %v", tag, len(parts), header)
		}
	}
}

// An invitation has the link and the time at which it expires, in each language. One that was sent
// again begins with what it replaces.
func TestInvitations(t *testing.T) {
	for _, test := range []struct{ tag, subject, replaces string }{
		{"en", "Your invitation to Shop", "replaces the earlier one"},
		{"de-AT", "Ihre Einladung zu Shop", "ersetzt die frühere"},
		{"fr", "Votre invitation à Shop", "remplace la précédente"},
	} {
		for _, again := range []bool{false, true} {
			const link = "https://id.example.org/gate/invitation?applicationId=1#token"
			header, parts := read(t, schemas.Mail{To: "ada@example.org", Invitation: true, Replaces: again, At: time.Date(2030, 1, 2, 3, 4, 0, 0, time.UTC), Link: link, Application: "Shop", Language: test.tag})
			got, err := new(mime.WordDecoder).DecodeHeader(header.Get("Subject"))
			if err != nil || got != test.subject {
				t.Errorf("%s: the subject is %q, %v", test.tag, got, err)
			}
			for kind, text := range parts {
				if !strings.Contains(text, link) || !strings.Contains(text, "2030-01-02 03:04 UTC") || strings.Contains(text, test.replaces) != again || strings.Contains(text, "{") && kind == "text/plain" {
					t.Errorf("%s, sent again %v: %s is %s", test.tag, again, kind, text)
				}
			}
		}
	}
}

// No value injects header fields or HTML elements.
func TestInjection(t *testing.T) {
	m := ada()
	m.Application = "Shop\r\nBcc: eve@example.org\r\n\r\n<img src=x> {code}\u2028{minutes}"
	header, parts := read(t, m)
	if header.Get("Bcc") != "" || len(header) > 12 {
		t.Errorf("fields %v", header)
	}
	if html := parts["text/html"]; strings.Contains(html, "<img") || !strings.Contains(html, "&lt;img") {
		t.Errorf("the page is %s", html)
	}
	for _, to := range []string{"ada@example.org\r\nRCPT TO:<eve@example.org>", "a@example.org, b@example.org", "<ada@example.org>\r\nBcc: eve@example.org", "ada"} {
		s, _ := serve(t, NoTLS)
		m := ada()
		m.To = to
		if err := New(s.options(NoTLS, nil)).Send(t.Context(), code(t, m)); !errors.Is(err, delivery.ErrRefused) || len(s.to) > 0 {
			t.Errorf("%q: sent to %q, %v", to, s.to, err)
		}
	}
}

// The mail server can be an IPv6 address, with and without TLS.
func TestSendToIPv6(t *testing.T) {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skipf("this machine has no IPv6: %v", err)
	}
	_ = l.Close()
	for _, how := range []string{StartTLS, Implicit, NoTLS} {
		s, pool := serveAt(t, how, "::1")
		if err := New(s.options(how, pool)).Send(t.Context(), code(t, ada())); err != nil || len(s.mails) != 1 {
			t.Errorf("%s: %v, %d mails", how, err, len(s.mails))
		}
	}
}

// Without TLS, no connection leaves private networks, whatever the configuration names.
func TestNoTLSIsForPrivateNetworks(t *testing.T) {
	for _, host := range []string{"192.0.2.25", "2001:db8::25", "::ffff:192.0.2.25"} {
		err := New(Options{Host: host, Port: 25, TLS: NoTLS, From: "a@example.com"}).Check(t.Context())
		if err == nil || !strings.Contains(err.Error(), "is not an address in a private network") {
			t.Errorf("%s: %v", host, err)
		}
	}
}
