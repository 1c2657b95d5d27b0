package schemas

import (
	"net/url"
	"strings"
	"testing"
)

func TestNormalURL(t *testing.T) {
	for raw, want := range map[string]string{
		"https://client.example/oauth/metadata.json": "https://client.example/oauth/metadata.json",
		"https://client.example/":                    "https://client.example/",
		"https://client.example":                     "https://client.example/",
		"https://client.example?x":                   "https://client.example/?x",
		"HTTPS://Client.Example/M":                   "https://client.example/M",
		"https://client.example./m":                  "https://client.example/m",
		"https://client.example:443/m":               "https://client.example/m",
		"https://client.example:0443/m":              "https://client.example/m",
		"https://client.example:08443/m":             "https://client.example:8443/m",
		"https://client.example:/m":                  "https://client.example/m",
		"http://localhost:80/m":                      "http://localhost/m",
		"http://localhost:443/m":                     "http://localhost:443/m",
		"http://[::0001]:8080/m":                     "http://[::1]:8080/m",
		"http://[0:0:0:0:0:FFFF:7f00:1]/m":           "http://[::ffff:127.0.0.1]/m",
		"http://127.0.0.1/m":                         "http://127.0.0.1/m",
		"https://client.example/a%2fb":               "https://client.example/a%2Fb",
		"https://client.example/a%2Fb":               "https://client.example/a%2Fb",
		"https://client.example/%6d%7E%2d":           "https://client.example/m~-",
		"https://client.example/a/../m":              "https://client.example/m",
		"https://client.example/a/%2e%2E/m":          "https://client.example/m",
		"https://client.example/a/.":                 "https://client.example/a/",
		"https://client.example/..":                  "https://client.example/",
		"https://client.example//m":                  "https://client.example//m",
		"https://client.example/{a}|":                "https://client.example/%7Ba%7D%7C",
		"https://client.example/m?a=%7e&b=/?":        "https://client.example/m?a=~&b=/?",
		"https://client.example/m?":                  "https://client.example/m",
		"https://xn--bcher-kva.example/m":            "https://xn--bcher-kva.example/m",
		"https://XN--bcher-kva.example/m":            "https://xn--bcher-kva.example/m",
		"https://client.example/m#":                  "",
		"https://client.example/m#f":                 "",
		"https://user@client.example/m":              "",
		"https://:@client.example/m":                 "",
		"https://bücher.example/m":                   "",
		"https://client%2eexample/m":                 "",
		"https://client..example/m":                  "",
		"https://127.1/m":                            "",
		"https://2130706433/m":                       "",
		"https://0x7f.0.0.0x1/m":                     "",
		"https://0177.0.0.1/m":                       "",
		"https://[::1/m":                             "",
		"https://[127.0.0.1]/m":                      "",
		"https://[fe80::1%25en0]/m":                  "",
		"https://client.example:65536/m":             "",
		"https://client.example:+443/m":              "",
		"https://client.example/%":                   "",
		"https://client.example/%4":                  "",
		"https://client.example/%zz":                 "",
		"https://client.example/a\\b":                "",
		"https://client.example/a b":                 "",
		"https:///m":                                 "",
		"https:client.example/m":                     "",
		"ftp://client.example/m":                     "",
		"//client.example/m":                         "",
		"":                                           "",
	} {
		got, err := NormalURL(raw)
		if (err != nil) != (want == "") || err == nil && got != want {
			t.Errorf("%s: %q, %v, expected %q", raw, got, err, want)
		}
	}
}

func TestComparableURL(t *testing.T) {
	for raw, want := range map[string]string{
		"http://host":                 "http://host/",
		"http://host/":                "http://host/",
		"HTTP://Host:80":              "http://host/",
		"https://host:443/mcp":        "https://host/mcp",
		"https://host:8443/mcp":       "https://host:8443/mcp",
		"https://host/mcp/":           "https://host/mcp/",
		"https://host/MCP":            "https://host/MCP",
		"https://host/a%2fb?c=%c3%a9": "https://host/a%2Fb?c=%C3%A9",
		"https://host/%7ea/../b":      "https://host/%7Ea/../b",
		"https://host?q":              "https://host/?q",
		"urn:example:api":             "urn:example:api",
		"https://user@host":           "https://user@host",
		"api://Orders":                "api://Orders",
		"com.example.app:/callback":   "com.example.app:/callback",
		"https://host:port/":          "https://host:port/",
	} {
		if got := ComparableURL(raw); got != want {
			t.Errorf("%s: %s, expected %s", raw, got, want)
		}
	}
}

// FuzzNormalURL looks for a normal form that has another normal form, or that names another host than
// the URL.
func FuzzNormalURL(f *testing.F) {
	for _, raw := range []string{"https://Client.example:0443/a/%2e%2e/b%2f?x=%7e", "http://[::1]:80", "https://1.2.3.4./", "https://a/%25%32%65/", "https://a/.%2E/..//../c/."} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if compared := ComparableURL(raw); ComparableURL(compared) != compared {
			t.Errorf("%q is compared as %q, and that as %q", raw, compared, ComparableURL(compared))
		}
		normal, err := NormalURL(raw)
		if err != nil {
			return
		}
		if again, err := NormalURL(normal); err != nil || again != normal {
			t.Errorf("the normal form of %q is %q, and of that %q, %v", raw, normal, again, err)
		}
		u, err := url.Parse(normal)
		if err != nil || u.User != nil || u.Fragment != "" || u.String() != normal && !strings.Contains(normal, "?") {
			t.Fatalf("%q has the normal form %q, which is read as %v, %v", raw, normal, u, err)
		}
		sent, err := url.Parse(raw)
		if err == nil && !strings.Contains(raw, "[") && strings.TrimSuffix(strings.ToLower(sent.Hostname()), ".") != u.Hostname() {
			t.Errorf("%q is at %q, and its normal form at %q", raw, sent.Hostname(), u.Hostname())
		}
	})
}
