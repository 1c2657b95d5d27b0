package throttle

import (
	"net/netip"
	"strings"
	"testing"
)

func trusting(field string, networks ...string) Proxies {
	p := Proxies{Field: field}
	for _, network := range networks {
		p.Trusted = append(p.Trusted, netip.MustParsePrefix(network))
	}
	return p
}

func TestClient(t *testing.T) {
	xff := trusting(XForwardedFor, "10.0.0.0/8", "2001:db8:1::/48", "fe80::/10")
	nobody := trusting(XForwardedFor)
	rfc := trusting(Forwarded, "10.0.0.0/8")
	for _, c := range []struct {
		name    string
		proxies Proxies
		remote  string
		lines   []string
		want    string
	}{
		{"no proxy", nobody, "203.0.113.7:1234", nil, "203.0.113.7"},
		{"no proxy is trusted", nobody, "10.0.0.1:1234", []string{"198.51.100.1"}, "10.0.0.1"},
		{"loopback is not trusted by itself", nobody, "127.0.0.1:1234", []string{"198.51.100.1"}, "127.0.0.1"},
		{"an untrusted peer sends the field", xff, "203.0.113.7:1234", []string{"198.51.100.1"}, "203.0.113.7"},
		{"an untrusted peer claims a proxy's address", xff, "203.0.113.7:1234", []string{"10.0.0.1"}, "203.0.113.7"},
		{"the proxy says nothing", xff, "10.0.0.1:1234", nil, "10.0.0.1"},
		{"the proxy says it empty", xff, "10.0.0.1:1234", []string{""}, "10.0.0.1"},
		{"one proxy", xff, "10.0.0.1:1234", []string{"203.0.113.7"}, "203.0.113.7"},
		{"the client sent an address first", xff, "10.0.0.1:1234", []string{"198.51.100.1, 203.0.113.7"}, "203.0.113.7"},
		{"the client sent a line of its own", xff, "10.0.0.1:1234", []string{"198.51.100.1", "203.0.113.7"}, "203.0.113.7"},
		{"the client sent a trusted address", xff, "10.0.0.1:1234", []string{"10.9.9.9, 203.0.113.7"}, "203.0.113.7"},
		{"two proxies", xff, "10.0.0.1:1234", []string{"203.0.113.7, 10.0.0.2"}, "203.0.113.7"},
		{"two proxies, two lines", xff, "10.0.0.1:1234", []string{"198.51.100.1, 203.0.113.7", "10.0.0.2"}, "203.0.113.7"},
		{"all trusted", xff, "10.0.0.1:1234", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"rubbish from the proxy", xff, "10.0.0.1:1234", []string{"198.51.100.1, unknown"}, "10.0.0.1"},
		{"rubbish behind a proxy", xff, "10.0.0.1:1234", []string{"198.51.100.1, unix:, 10.0.0.2"}, "10.0.0.2"},
		{"nothing between commas", xff, "10.0.0.1:1234", []string{"198.51.100.1,,10.0.0.2"}, "10.0.0.2"},
		{"a comma at the end", xff, "10.0.0.1:1234", []string{"198.51.100.1,"}, "10.0.0.1"},
		{"a name", xff, "10.0.0.1:1234", []string{"localhost"}, "10.0.0.1"},
		{"a number", xff, "10.0.0.1:1234", []string{"3325256711"}, "10.0.0.1"},
		{"an octal address", xff, "10.0.0.1:1234", []string{"0313.0.0113.07"}, "10.0.0.1"},
		{"zeros in front", xff, "10.0.0.1:1234", []string{"203.000.113.007"}, "10.0.0.1"},
		{"an address too long", xff, "10.0.0.1:1234", []string{"203.0.113.7.1"}, "10.0.0.1"},
		{"tabs and spaces", xff, "10.0.0.1:1234", []string{" 198.51.100.1 ,\t203.0.113.7 "}, "203.0.113.7"},
		{"with a port", xff, "10.0.0.1:1234", []string{"203.0.113.7:4711"}, "203.0.113.7"},
		{"IPv6", xff, "10.0.0.1:1234", []string{"2001:db8:2::7"}, "2001:db8:2::7"},
		{"IPv6 in brackets", xff, "10.0.0.1:1234", []string{"[2001:db8:2::7]"}, "2001:db8:2::7"},
		{"IPv6 with a port", xff, "10.0.0.1:1234", []string{"[2001:db8:2::7]:4711"}, "2001:db8:2::7"},
		{"a bracket that does not close", xff, "10.0.0.1:1234", []string{"[2001:db8:2::7"}, "10.0.0.1"},
		{"mapped", xff, "10.0.0.1:1234", []string{"::ffff:203.0.113.7"}, "203.0.113.7"},
		{"mapped, in hexadecimal", xff, "10.0.0.1:1234", []string{"::ffff:cb00:7107"}, "203.0.113.7"},
		{"a mapped proxy", xff, "[::ffff:10.0.0.1]:1234", []string{"203.0.113.7"}, "203.0.113.7"},
		{"a mapped proxy in the field", xff, "10.0.0.1:1234", []string{"203.0.113.7, ::ffff:10.0.0.2"}, "203.0.113.7"},
		{"an IPv6 proxy", xff, "[2001:db8:1::1]:1234", []string{"203.0.113.7"}, "203.0.113.7"},
		{"an untrusted IPv6 peer", xff, "[2001:db8:2::1]:1234", []string{"203.0.113.7"}, "2001:db8:2::1"},
		{"a zone", xff, "[fe80::1%eth0]:1234", []string{"203.0.113.7"}, "203.0.113.7"},
		{"a zone in the field", xff, "10.0.0.1:1234", []string{"2001:db8:2::1%eth0"}, "2001:db8:2::1"},
		{"the Forwarded form is not read", xff, "10.0.0.1:1234", []string{"for=203.0.113.7"}, "10.0.0.1"},
		{"no address at all", xff, "@", []string{"203.0.113.7"}, "invalid IP"},
		{"no port", xff, "203.0.113.7", nil, "203.0.113.7"},

		{"forwarded", rfc, "10.0.0.1:1", []string{"for=203.0.113.7"}, "203.0.113.7"},
		{"forwarded, with more", rfc, "10.0.0.1:1", []string{`proto=https; FOR="203.0.113.7:4711" ;by=10.0.0.1`}, "203.0.113.7"},
		{"forwarded, IPv6", rfc, "10.0.0.1:1", []string{`for="[2001:db8:2::7]:4711"`}, "2001:db8:2::7"},
		{"forwarded, the client first", rfc, "10.0.0.1:1", []string{`for=198.51.100.1, for=203.0.113.7`}, "203.0.113.7"},
		{"forwarded, two proxies", rfc, "10.0.0.1:1", []string{`for=198.51.100.1, for=203.0.113.7`, `for="10.0.0.2"`}, "203.0.113.7"},
		{"forwarded, a quote left open", rfc, "10.0.0.1:1", []string{`for="198.51.100.1, for=203.0.113.7`}, "203.0.113.7"},
		{"forwarded, a quote opened in a host", rfc, "10.0.0.1:1", []string{`for=198.51.100.1;host=", for=203.0.113.7;host="a"`}, "203.0.113.7"},
		{"forwarded, an element in a host", rfc, "10.0.0.1:1", []string{`for=203.0.113.7;host="a,for=198.51.100.1"`}, "203.0.113.7"},
		{"forwarded, a pair in a host", rfc, "10.0.0.1:1", []string{`proto=http;host="a;for=198.51.100.1"`}, "10.0.0.1"},
		{"forwarded, an escaped quote", rfc, "10.0.0.1:1", []string{`for=203.0.113.7;host="a\",for=198.51.100.1;x=\""`}, "10.0.0.1"},
		{"forwarded, said twice", rfc, "10.0.0.1:1", []string{`for=198.51.100.1;for=203.0.113.7`}, "10.0.0.1"},
		{"forwarded, unknown", rfc, "10.0.0.1:1", []string{`for=198.51.100.1, for=unknown`}, "10.0.0.1"},
		{"forwarded, hidden", rfc, "10.0.0.1:1", []string{`for=198.51.100.1, for="_gazonk"`}, "10.0.0.1"},
		{"forwarded, without for", rfc, "10.0.0.1:1", []string{`for=198.51.100.1, proto=http`}, "10.0.0.1"},
		{"forwarded, the other form is not read", rfc, "10.0.0.1:1", []string{`203.0.113.7`}, "10.0.0.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := strings.Join(c.lines, "\n")
			if got := c.proxies.Client(c.remote, c.lines).String(); got != c.want {
				t.Errorf("%s with %q: %s, want %s", c.remote, c.lines, got, c.want)
			}
			if strings.Join(c.lines, "\n") != before {
				t.Error("the header was changed")
			}
		})
	}
}

// Whatever a client sends, and whether the proxy appends to that line or adds another, the
// result is the address that the proxy reports.
func FuzzClient(f *testing.F) {
	f.Add("198.51.100.1", true)
	f.Add(`for="198.51.100.1`, false)
	f.Add(`for=198.51.100.1;host="\`, true)
	f.Add(`10.0.0.1, 10.0.0.2,`, true)
	const real = "203.0.113.7"
	f.Fuzz(func(t *testing.T, sent string, oneLine bool) {
		for field, added := range map[string]string{XForwardedFor: real, Forwarded: "for=" + real} {
			lines := []string{sent, added}
			if oneLine {
				lines = []string{sent + ", " + added}
			}
			p := trusting(field, "10.0.0.0/8")
			if got := p.Client("10.0.0.1:1", lines).String(); got != real {
				t.Errorf("%s: %q makes the client %s", field, lines, got)
			}
			if got := p.Client(real+":1", lines).String(); got != real {
				t.Errorf("%s: %q of an untrusted peer makes the client %s", field, lines, got)
			}
		}
	})
}

func TestNetworkOf(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		near, wide bool // whether both addresses are in one network
	}{
		{"one address", "203.0.113.7", "203.0.113.7", true, true},
		{"neighbours", "203.0.113.7", "203.0.113.8", false, true},
		{"others", "203.0.113.7", "203.0.114.7", false, false},
		{"mapped", "203.0.113.7", "::ffff:203.0.113.7", true, true},
		{"one /64", "2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", true, true},
		{"one /48", "2001:db8:1:2::1", "2001:db8:1:3::1", false, true},
		{"other sites", "2001:db8:1:2::1", "2001:db8:2:2::1", false, false},
		{"a zone", "fe80::1%eth0", "fe80::1", true, true},
		{"not the IPv4 address of its last bits", "203.0.113.7", "::203.0.113.7", false, false},
	} {
		a, b := NetworkOf(netip.MustParseAddr(c.a)), NetworkOf(netip.MustParseAddr(c.b))
		if near, wide := a.Near == b.Near, a.Wide == b.Wide; near != c.near || wide != c.wide {
			t.Errorf("%s: %s and %s are one: %v and %v, want %v and %v", c.name, c.a, c.b, near, wide, c.near, c.wide)
		}
	}
	for _, text := range []string{"::", "::1", "0.0.0.0", "127.0.0.1"} {
		if n := NetworkOf(netip.MustParseAddr(text)); n.Near == (Key{}) || n.Wide == (Key{}) {
			t.Errorf("%s is not counted", text)
		}
	}
	if n := NetworkOf(netip.Addr{}); n.Near == (Key{}) || n.Wide == (Key{}) {
		t.Error("requests without an address are not counted")
	}
}

func TestAccountOf(t *testing.T) {
	if AccountOf("ada") != AccountOf(" ADA ") {
		t.Error("two spellings of a name are two accounts")
	}
	if AccountOf("ada") == AccountOf("bea") {
		t.Error("two names are one account")
	}
	for _, none := range []string{"", "  ", "a\x00", strings.Repeat("a", 2000)} {
		if AccountOf(none) != (Key{}) {
			t.Errorf("%.10q is an invalid name", none)
		}
	}
}
