package schemas

import (
	"regexp"
	"slices"
)

// scheme matches a URI scheme in lower case that is not a reversed domain name: RFC 3986 §3.1.
var scheme = regexp.MustCompile(`^[a-z][a-z0-9+-]{0,62}$`)

// PrivateUseScheme reports whether an app on a device may use a URI scheme without a dot, such as
// myapp, although RFC 8252 §7.1 requires a reversed domain name. Schemes that browsers and systems
// handle are excluded: they would execute the authorization response (javascript), display it
// (data), or forward it (http).
func PrivateUseScheme(name string) bool {
	return scheme.MatchString(name) && !slices.Contains([]string{
		"about", "blob", "chrome", "chrome-extension", "content", "cid", "data", "dav", "edge", "feed", "file", "filesystem", "ftp", "ftps",
		"geo", "git", "http", "https", "imap", "intent", "itms", "jar", "javascript", "jscript", "ldap", "ldaps", "livescript", "mailto", "market",
		"mid", "mocha", "moz-extension", "news", "nntp", "pop", "res", "resource", "rtsp", "search-ms", "sftp", "shell", "sip", "sips", "sms",
		"smsto", "ssh", "tel", "telnet", "urn", "vbs", "vbscript", "view-source", "webcal", "ws", "wss", "wyciwyg", "xmpp",
	}, name)
}
