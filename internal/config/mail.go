package config

import (
	"net/mail"
	"net/netip"
)

// violations finds errors in the mail server's settings. Without TLS the codes are readable on the network, so that
// is allowed only on this machine or by an explicit choice. A password is never sent there without TLS.
func (m Mail) violations() []violation {
	if m.Host == "" {
		return []violation{{"mail.host", m.From != "" || m.Username != "" || m.Password != "", "required with the other keys of mail: the name of the mail server"}}
	}
	return []violation{
		{"mail.from", m.From == "", "required with mail.host: the sender, such as Example <no-reply@example.com>"},
		{"mail.from", !sender(m.From), "expected an address, or a name with an address in angle brackets, such as Example <no-reply@example.com>"},
		{"mail.tls", m.isRemoteWithoutTLS() && !m.AllowPlaintext, "a mail server that is not on this machine must be reached over TLS: set starttls or implicit; for one in a private network that has no TLS, set mail.allow_plaintext"},
		{"mail.host", m.isReadable() && isPublicAddress(m.Host), "with tls none, the mail server must be in a private network, and this address is not: set mail.tls to starttls or implicit"},
		{"mail.username", m.isReadable() && m.Username != "", "the password would be readable in the network with tls none: remove mail.username and mail.password, and let the mail server accept this machine by its address; or set mail.tls to starttls or implicit"},
		{"mail.username", m.Password != "" && m.Username == "", "required with mail.password: the username"},
		{"mail.password", m.Username != "" && m.Password == "", "required with mail.username; preferably set it as POSTERN_MAIL_PASSWORD"},
	}
}

func (m Mail) isRemoteWithoutTLS() bool { return m.Host != "" && m.TLS == "none" && !loopback(m.Host) }

// isReadable reports whether programs in a network can read mails, by choice of the operator.
func (m Mail) isReadable() bool { return m.isRemoteWithoutTLS() && m.AllowPlaintext }

// isPublicAddress reports whether a host is an address outside of private networks. Names are resolved when a mail
// is sent: package mail connects without TLS to private addresses only.
func isPublicAddress(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && !addr.Unmap().IsPrivate() && !addr.Unmap().IsLinkLocalUnicast()
}

func sender(text string) bool {
	_, err := mail.ParseAddress(text)
	return err == nil
}
