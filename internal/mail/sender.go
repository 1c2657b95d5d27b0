package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/textproto"
	"strconv"
	"syscall"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/internal/translations"
	"github.com/postern-id/postern/schemas"
)

// The encryption of the connection to the mail server.
const (
	// StartTLS begins in the clear and continues only after STARTTLS (RFC 3207): a server
	// or an attacker that does not offer it receives nothing.
	StartTLS = "starttls"
	// Implicit is TLS from the beginning (RFC 8314 §3.3).
	Implicit = "implicit"
	// NoTLS is for a mail server on this machine, or in a private network.
	NoTLS = "none"
)

// timeout applies to each command to the mail server.
const timeout = 15 * time.Second

// Options configure the mail server and the sender address.
type Options struct {
	Host string
	Port int
	TLS  string // StartTLS, Implicit or NoTLS
	// Username and Password authenticate to the server; without a username there is no
	// authentication.
	Username, Password string
	// From is an address, with or without a display name (RFC 5322 §3.4).
	From string
	// Languages are the texts of mails; nil means the built-in ones.
	Languages *translations.Catalog
	// RootCAs are the trusted certificate authorities; nil means the system's.
	RootCAs *x509.CertPool
}

// Sender sends mails, each over its own connection.
type Sender struct{ options Options }

// New returns a sender for a mail server.
func New(o Options) *Sender { return &Sender{o} }

// Send sends the mail of a delivery whose body is a schemas.Mail as JSON. A mail without a
// recipient counts as sent. Errors contain no address.
func (s *Sender) Send(ctx context.Context, d schemas.Delivery) error {
	m, err := readMail(d)
	if err != nil || m.To == "" {
		return err
	}
	msg, err := newMessage(d, s.options.From, m.To, contentOf(s.options.Languages, m))
	if err != nil {
		return err
	}
	return s.connect(ctx, func(client *gomail.Client, connection *smtp.Client) error {
		if err := client.SendWithSMTPClient(connection, msg); err != nil {
			return deliveryError("the mail server did not accept the mail", err)
		}
		return nil
	})
}

func readMail(d schemas.Delivery) (m schemas.Mail, err error) {
	if err := json.Unmarshal(d.Body, &m); err != nil {
		return m, fmt.Errorf("%w: its body is not a mail", delivery.ErrRefused)
	}
	return m, nil
}

// Check connects to the mail server and authenticates, and sends nothing.
func (s *Sender) Check(ctx context.Context) error {
	return s.connect(ctx, func(*gomail.Client, *smtp.Client) error { return nil })
}

// connect calls use with a connection of its own.
func (s *Sender) connect(ctx context.Context, use func(*gomail.Client, *smtp.Client) error) error {
	var conn net.Conn
	dial := func(ctx context.Context, network, _ string) (_ net.Conn, err error) {
		conn, err = s.dial(ctx, network)
		return conn, err
	}
	client, err := gomail.NewClient(s.options.Host, append(s.settings(), gomail.WithDialContextFunc(dial))...)
	if err != nil {
		return fmt.Errorf("configuring the mail server: %w", err)
	}
	connection, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		if conn != nil {
			_ = conn.Close() // the library leaves it open after some errors
		}
		return deliveryError("reaching the mail server", err)
	}
	// An error after the server has accepted or rejected the mail changes nothing.
	defer func() { _ = client.CloseWithSMTPClient(connection) }()
	return use(client, connection)
}

// privateOnly refuses an address outside of private networks, whatever a name resolves to.
func privateOnly(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if addr := to.Addr().Unmap(); err == nil && !addr.IsLoopback() && !addr.IsPrivate() && !addr.IsLinkLocalUnicast() {
		err = fmt.Errorf("mail.tls is none, and %v is not an address in a private network: set mail.tls to starttls or implicit", addr)
	}
	return err
}

// dial connects to the mail server. The library sets a deadline for each command of a mail, but none for
// the greeting, STARTTLS and the authentication: a server that stays silent would hold the caller forever.
// ctx has the deadline of the connection.
func (s *Sender) dial(ctx context.Context, network string) (conn net.Conn, err error) {
	address := net.JoinHostPort(s.options.Host, strconv.Itoa(s.options.Port)) // that of the library has no brackets
	switch s.options.TLS {
	case Implicit:
		conn, err = (&tls.Dialer{Config: s.tlsConfig()}).DialContext(ctx, network, address)
	case NoTLS:
		conn, err = (&net.Dialer{Control: privateOnly}).DialContext(ctx, network, address)
	default:
		conn, err = new(net.Dialer).DialContext(ctx, network, address)
	}
	if err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		err = conn.SetDeadline(deadline)
	}
	return conn, err
}

func (s *Sender) tlsConfig() *tls.Config {
	return &tls.Config{ServerName: s.options.Host, MinVersion: tls.VersionTLS12, RootCAs: s.options.RootCAs}
}

func (s *Sender) settings() []gomail.Option {
	o := s.options
	settings := []gomail.Option{
		gomail.WithPort(o.Port), gomail.WithTimeout(timeout), gomail.WithoutNoop(),
		gomail.WithTLSConfig(s.tlsConfig()),
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

// deliveryError classifies a mail server's error by its code; the text may contain the
// address. Replies from 500 on are permanent (RFC 5321 §4.2.1), except while connecting:
// those concern the configuration, which the operator may fix before the mail expires.
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
