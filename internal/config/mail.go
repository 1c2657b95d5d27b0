package config

import "net/mail"

// fault finds errors in the mail server's settings. Without TLS the codes and the password are
// readable on the network, so that is allowed only on this machine.
func (m *Mail) fault() (key, fault string) {
	switch {
	case m.Host == "" && (m.From != "" || m.Username != "" || m.Password != ""):
		return "mail.host", "required with the other keys of mail: the name of the mail server"
	case m.Host == "":
		return "", ""
	case m.From == "":
		return "mail.from", "required with mail.host: the sender, such as Example <no-reply@example.com>"
	case !sender(m.From):
		return "mail.from", "expected an address, or a name with an address in angle brackets, such as Example <no-reply@example.com>"
	case m.TLS == "none" && !loopback(m.Host):
		return "mail.tls", "a mail server that is not on this machine must be reached over TLS: set starttls or implicit"
	case m.Password != "" && m.Username == "":
		return "mail.username", "required with mail.password: the username"
	case m.Username != "" && m.Password == "":
		return "mail.password", "required with mail.username; preferably set it as POSTERN_MAIL_PASSWORD"
	}
	return "", ""
}

func sender(text string) bool {
	_, err := mail.ParseAddress(text)
	return err == nil
}
