package config

import "testing"

func TestParseNetwork(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.1":              "10.0.0.1/32",
		"10.0.0.0/8":            "10.0.0.0/8",
		"10.1.2.3/8":            "10.0.0.0/8",
		"0.0.0.0/0":             "0.0.0.0/0",
		"::1":                   "::1/128",
		"[::1]":                 "::1/128",
		"2001:db8::1/32":        "2001:db8::/32",
		"::ffff:10.0.0.1":       "10.0.0.1/32",
		"::ffff:10.0.0.0/104":   "10.0.0.0/8",
		"::ffff:192.168.1.1/96": "0.0.0.0/0",
	} {
		n, err := ParseNetwork(text)
		if err != nil || n.String() != want {
			t.Errorf("%s is %v, %v, want %s", text, n, err, want)
		}
	}
	for _, text := range []string{
		"", "*", "proxy.example.com", "10.0.0", "10.0.0.0/33", "10.0.0.0/-1", "010.0.0.1", "10.0.0.1:80", "[::1]:80", "[::1", "[10.0.0.1]",
		"fe80::1%eth0", "fe80::%eth0/10", "::ffff:10.0.0.0/95", "10.0.0.0/8, 10.0.0.1",
	} {
		if n, err := ParseNetwork(text); err == nil {
			t.Errorf("%q is taken for %v", text, n)
		}
	}
}
