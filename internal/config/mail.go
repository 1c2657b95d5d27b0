package config

import "net/mail"

// violations finds errors in the mail server's settings. Without TLS the codes and the password are
// readable on the network, so that is allowed only on this machine.
func (m Mail) violations() []violation {
	if m.Host == "" {
		return []violation{{"mail.host", m.From != "" || m.Username != "" || m.Password != "", "required with the other keys of mail: the name of the mail server"}}
	}
	return []violation{
		{"mail.from", m.From == "", "required with mail.host: the sender, such as Example <no-reply@example.com>"},
		{"mail.from", !sender(m.From), "expected an address, or a name with an address in angle brackets, such as Example <no-reply@example.com>"},
		{"mail.tls", m.TLS == "none" && !loopback(m.Host), "a mail server that is not on this machine must be reached over TLS: set starttls or implicit"},
		{"mail.username", m.Password != "" && m.Username == "", "required with mail.password: the username"},
		{"mail.password", m.Username != "" && m.Password == "", "required with mail.username; preferably set it as POSTERN_MAIL_PASSWORD"},
	}
}

func sender(text string) bool {
	_, err := mail.ParseAddress(text)
	return err == nil
}
