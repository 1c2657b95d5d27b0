package schemas

import (
	"regexp"
	"slices"
)

// scheme is a URI scheme in lower case that is no domain name backwards: RFC 3986
// §3.1.
var scheme = regexp.MustCompile(`^[a-z][a-z0-9+-]{0,62}$`)

// PrivateUseScheme reports whether an app on a device may be given a URI scheme
// without a dot for its own, such as myapp, although RFC 8252 §7.1 wants a domain name
// backwards. Browsers and systems act on others themselves: they would run the answer
// to an authorization request (javascript), show it (data), or send it on (http).
func PrivateUseScheme(name string) bool {
	return scheme.MatchString(name) && !slices.Contains([]string{
		"about", "blob", "chrome", "chrome-extension", "content", "cid", "data", "dav", "edge", "feed", "file", "filesystem", "ftp", "ftps",
		"geo", "git", "http", "https", "imap", "intent", "itms", "jar", "javascript", "jscript", "ldap", "ldaps", "livescript", "mailto", "market",
		"mid", "mocha", "moz-extension", "news", "nntp", "pop", "res", "resource", "rtsp", "search-ms", "sftp", "shell", "sip", "sips", "sms",
		"smsto", "ssh", "tel", "telnet", "urn", "vbs", "vbscript", "view-source", "webcal", "ws", "wss", "wyciwyg", "xmpp",
	}, name)
}
