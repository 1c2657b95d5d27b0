package oauth_test

import (
	"strings"
	"testing"
)

// pair is a redirect URI that is registered, and one that is sent.
type pair struct{ registered, sent string }

// mutations are variations of a registered URI with which an attacker would try to get codes, or
// hopes for an inexact comparison.
func mutations() map[string]func(uri string) string {
	after := func(more string) func(string) string { return func(uri string) string { return uri + more } }
	before := func(more string) func(string) string { return func(uri string) string { return more + uri } }
	// host changes what stands between the slashes and the path.
	host := func(change func(string) string) func(string) string {
		return func(uri string) string {
			scheme, rest, _ := strings.Cut(uri, "://")
			name, path, _ := strings.Cut(rest, "/")
			return scheme + "://" + change(name) + "/" + path
		}
	}
	path := func(change func(string) string) func(string) string {
		return func(uri string) string {
			at := strings.LastIndex(uri, "/") + 1
			return uri[:at] + change(uri[at:])
		}
	}
	return map[string]func(string) string{
		"a slash more": after("/"), "a letter more": after("x"), "a segment more": after("/x"), "up": after("/.."), "up and away": after("/../../evil"),
		"up, encoded": after("/%2e%2e/evil"), "a query more": after("&next=https://evil.example"), "a query": after("?x=1"), "an empty query": after("?"),
		"a fragment": after("#x"), "an empty fragment": after("#"), "a space after": after(" "), "a tab after": after("\t"), "a line after": after("\r\nX: y"),
		"NUL after": after("\x00"), "NUL after, encoded": after("%00"), "a semicolon": after(";x"), "a line, encoded": after("%0d%0a"), "a comma and another": after(",https://evil.example"),
		"a space and another": after(" https://evil.example"), "a space before": before(" "), "a line before": before("\n"), "view-source": before("view-source:"),
		"another scheme before": before("javascript:"), "in another's query": before("https://evil.example/?u="), "in another's fragment": before("https://evil.example/#"),
		"a subdomain of evil":  host(func(h string) string { return h + ".evil.example" }),
		"a user at evil":       host(func(h string) string { return h + "@evil.example" }),
		"evil's user at it":    host(func(h string) string { return "evil@" + h }),
		"a password at evil":   host(func(h string) string { return "x:" + h + "@evil.example" }),
		"a backslash":          host(func(h string) string { return `evil.example\@` + h }),
		"a backslash after":    host(func(h string) string { return h + `\.evil.example` }),
		"a fragment in it":     host(func(h string) string { return "evil.example#" + h }),
		"a query in it":        host(func(h string) string { return "evil.example?" + h }),
		"an encoded slash":     host(func(h string) string { return "evil.example%2f" + h }),
		"a below":              host(func(h string) string { return "x." + h }),
		"a dot after the host": host(func(h string) string { return h + "." }),
		"capitals in the host": host(strings.ToUpper),
		"a wide letter":        host(func(h string) string { return strings.Replace(h, "a", "ａ", 1) + "" }),
		"a Cyrillic letter":    host(func(h string) string { return "а" + h }),
		"a colon and no port":  host(func(h string) string { return h + ":" }),
		"a port that is none":  host(func(h string) string { return h + ":x" }),
		"a port and a user":    host(func(h string) string { return h + ":1@evil.example" }),
		"a zone":               host(func(h string) string { return h + "%25eth0" }),
		"no host":              host(func(string) string { return "" }),
		"capitals in the path": path(strings.ToUpper),
		"the path encoded":     path(func(p string) string { return "%63" + p[1:] }),
		"a dot segment":        path(func(p string) string { return "./" + p }),
		"a segment and back":   path(func(p string) string { return "x/../" + p }),
		"an empty segment":     path(func(p string) string { return "/" + p }),
		"the path missing":     path(func(string) string { return "" }),
		"a pattern":            path(func(string) string { return "*" }),
		"capitals in the scheme": func(uri string) string {
			scheme, rest, _ := strings.Cut(uri, ":")
			return strings.ToUpper(scheme) + ":" + rest
		},
		"without a scheme": func(uri string) string { _, rest, _ := strings.Cut(uri, ":"); return rest },
		"one slash":        func(uri string) string { return strings.Replace(uri, "://", ":/", 1) },
		"three slashes":    func(uri string) string { return strings.Replace(uri, "://", ":///", 1) },
		"backslashes":      func(uri string) string { return strings.Replace(uri, "://", `:\\`, 1) },
		"a tab in it":      func(uri string) string { return strings.Replace(uri, "://", ":\t//", 1) },
		"the other scheme": func(uri string) string {
			if rest, secure := strings.CutPrefix(uri, "https:"); secure {
				return "http:" + rest
			}
			return "https:" + strings.TrimPrefix(uri, "http:")
		},
		"another host": func(string) string { return "https://evil.example/callback" },
		"encoded as a whole": func(uri string) string {
			return strings.NewReplacer(":", "%3A", "/", "%2F").Replace(uri)
		},
	}
}

// hostilePairs are pairs that must not match. Of a loopback address the port is free,
// and no more than that.
func hostilePairs() map[string]pair {
	pairs := map[string]pair{}
	for _, registered := range []string{"https://app.example.com/callback", "https://app.example.com:8443/a/callback", "http://127.0.0.1:8000/callback",
		"http://[::1]:8000/callback", "http://localhost:8000/callback"} {
		for name, mutate := range mutations() {
			if sent := mutate(registered); sent != registered && !freePort(registered, sent) {
				pairs[registered+": "+name] = pair{registered, sent}
			}
		}
	}
	for name, p := range map[string]pair{
		"another port of a host":         {"https://app.example.com:8443/callback", "https://app.example.com:9443/callback"},
		"a port where there was none":    {"https://app.example.com/callback", "https://app.example.com:443/callback"},
		"no port where there was one":    {"https://app.example.com:443/callback", "https://app.example.com/callback"},
		"the name for the address":       {"http://127.0.0.1:8000/callback", "http://localhost:8000/callback"},
		"IPv6 for IPv4":                  {"http://127.0.0.1:8000/callback", "http://[::1]:8000/callback"},
		"another loopback address":       {"http://127.0.0.1:8000/callback", "http://127.0.0.2:8000/callback"},
		"the address in short":           {"http://127.0.0.1:8000/callback", "http://127.1:8000/callback"},
		"the address as a number":        {"http://127.0.0.1:8000/callback", "http://2130706433:8000/callback"},
		"the address in octal":           {"http://127.0.0.1:8000/callback", "http://0177.0.0.1:8000/callback"},
		"all addresses":                  {"http://127.0.0.1:8000/callback", "http://0.0.0.0:8000/callback"},
		"IPv6 at length":                 {"http://[::1]:8000/callback", "http://[0:0:0:0:0:0:0:1]:8000/callback"},
		"IPv4 within IPv6":               {"http://127.0.0.1:8000/callback", "http://[::ffff:127.0.0.1]:8000/callback"},
		"the scheme of an app, in part":  {"com.example.app:/callback", "com.example.app2:/callback"},
		"the scheme of an app, a path":   {"com.example.app:/callback", "com.example.app:/callback/x"},
		"the scheme of an app, a host":   {"com.example.app:/callback", "com.example.app://callback"},
		"the scheme of an app, capitals": {"com.example.app:/callback", "COM.EXAMPLE.APP:/callback"},
		"https for the scheme of an app": {"com.example.app:/callback", "https://com.example.app/callback"},
		"another order of the query":     {"https://app.example.com/callback?a=1&b=2", "https://app.example.com/callback?b=2&a=1"},
		"a query cut off":                {"https://app.example.com/callback?a=1&b=2", "https://app.example.com/callback?a=1"},
		"a query with another value":     {"https://app.example.com/callback?a=1", "https://app.example.com/callback?a=2"},
		"a query with a second value":    {"https://app.example.com/callback?a=1", "https://app.example.com/callback?a=1&a=2"},
		"plus for an encoded space":      {"https://app.example.com/callback?a=%20", "https://app.example.com/callback?a=+"},
		"an encoding in small letters":   {"https://app.example.com/callback?a=%2F", "https://app.example.com/callback?a=%2f"},
		"what looks like a pattern":      {"https://*.example.com/callback", "https://app.example.com/callback"},
		"what looks like a regexp":       {"https://app.example.com/.*", "https://app.example.com/callback"},
	} {
		pairs[name] = p
	}
	return pairs
}

// freePort reports whether two loopback URIs differ in the port alone, which is what
// programs on a device may do (RFC 8252 §7.3).
func freePort(registered, sent string) bool {
	return strings.HasPrefix(registered, "http://") && strings.HasPrefix(sent, strings.TrimSuffix(registered, ":8000/callback")) &&
		sent == strings.TrimSuffix(registered, ":8000/callback")+":/callback"
}

// TestHostileRedirectPairs: no code and no error goes to a URI that is not the
// registered one.
func TestHostileRedirectPairs(t *testing.T) {
	a := newSignIns(t)
	pairs := hostilePairs()
	for name, p := range pairs {
		a.clients.list["app"].OAuth().RedirectURIs = []string{p.registered}
		for _, q := range []string{"", "none"} { // also where the answer is an error
			if to := a.authorize(browser{}, ask("redirect_uri", p.sent, "prompt", q)); !strings.HasPrefix(to.String(), gateURL+"/error?error=invalid_request&") {
				t.Errorf("%s: %q led to %s", name, p.sent, to)
			}
		}
		if to := a.authorize(browser{}, ask("redirect_uri", p.registered)); !strings.HasPrefix(to.String(), gateURL+"/signin?") {
			t.Errorf("%s itself led to %s", p.registered, to)
		}
	}
	if len(pairs) < 300 {
		t.Errorf("only %d pairs", len(pairs))
	}
}
