package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/textproto"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/schemas"
)

// How the connection to the mail server is encrypted.
const (
	// StartTLS begins in the clear and goes on only when STARTTLS has worked
	// (RFC 3207): a server, or whoever is between, that does not offer it gets nothing.
	StartTLS = "starttls"
	// Implicit is TLS from the beginning (RFC 8314 §3.3).
	Implicit = "implicit"
	// NoTLS is for a mail server on this machine.
	NoTLS = "none"
)

// timeout is for each thing that is said to a mail server.
const timeout = 15 * time.Second

// Options are the mail server and who the mails are from.
type Options struct {
	Host string
	Port int
	TLS  string // StartTLS, Implicit or NoTLS
	// Username and Password authenticate to the server; without a name nobody does.
	Username, Password string
	// From is an address, or a name with one in angle brackets (RFC 5322 §3.4).
	From string
	// RootCAs are who may have signed the server's certificate; nil means those that
	// the system trusts.
	RootCAs *x509.CertPool
}

// Sender sends mails. It makes a connection for each.
type Sender struct{ options Options }

// New returns the sender for a mail server.
func New(o Options) *Sender { return &Sender{o} }

// Send sends the mail of a delivery whose body is a schemas.Mail as JSON; one to
// nobody counts as sent. Its errors tell no address.
func (s *Sender) Send(ctx context.Context, d schemas.Delivery) error {
	var m schemas.Mail
	if err := json.Unmarshal(d.Body, &m); err != nil {
		return fmt.Errorf("%w: its body is no mail", delivery.ErrRefused)
	}
	if m.To == "" {
		return nil
	}
	msg, err := newMessage(d, s.options.From, m)
	if err != nil {
		return err
	}
	client, err := gomail.NewClient(s.options.Host, s.settings()...)
	if err != nil {
		return fmt.Errorf("the mail server as it is configured: %w", err)
	}
	connection, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return deliveryError("reaching the mail server", err)
	}
	// What is said after the mail was taken, or not, changes nothing about it.
	defer func() { _ = client.CloseWithSMTPClient(connection) }()
	if err := client.SendWithSMTPClient(connection, msg); err != nil {
		return deliveryError("the mail server did not take the mail", err)
	}
	return nil
}

func (s *Sender) settings() []gomail.Option {
	o := s.options
	settings := []gomail.Option{
		gomail.WithPort(o.Port), gomail.WithTimeout(timeout), gomail.WithoutNoop(),
		gomail.WithTLSConfig(&tls.Config{ServerName: o.Host, MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs}),
	}
	auth := gomail.SMTPAuthPlain
	switch o.TLS {
	case Implicit:
		settings = append(settings, gomail.WithSSL())
	case NoTLS:
		settings = append(settings, gomail.WithTLSPolicy(gomail.NoTLS))
		auth = gomail.SMTPAuthPlainNoEnc
	default:
		settings = append(settings, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	if o.Username != "" {
		settings = append(settings, gomail.WithSMTPAuth(auth), gomail.WithUsername(o.Username), gomail.WithPassword(o.Password))
	}
	return settings
}

// deliveryError tells by its code what a mail server said; its words may have the address
// in them. Replies from 500 on are for good (RFC 5321 §4.2.1), but while a connection
// is made they are about us, and the operator may mend that before the mail expires.
func deliveryError(what string, err error) error {
	if sent, ok := errors.AsType[*gomail.SendError](err); ok {
		if code := sent.ErrorCode(); code >= 500 && !sent.IsTemp() {
			return fmt.Errorf("%w: %s: it answered %d %s", delivery.ErrRefused, what, code, sent.EnhancedStatusCode())
		} else if code > 0 {
			return fmt.Errorf("%s: it answered %d %s", what, code, sent.EnhancedStatusCode())
		}
		return fmt.Errorf("%s: the connection broke", what)
	}
	if reply, ok := errors.AsType[*textproto.Error](err); ok {
		return fmt.Errorf("%s: it answered %d", what, reply.Code)
	}
	return fmt.Errorf("%s: %w", what, err)
}
