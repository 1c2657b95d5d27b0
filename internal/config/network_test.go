package config

import (
	"encoding/json"
	"testing"
)

func TestParseNetwork(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.1":              "10.0.0.1/32",
		"10.0.0.0/8":            "10.0.0.0/8",
		"10.1.2.3/8":            "10.0.0.0/8",
		"0.0.0.0/0":             "0.0.0.0/0",
		"::1":                   "::1/128",
		"2001:db8::1/32":        "2001:db8::/32",
		"::ffff:10.0.0.1":       "10.0.0.1/32",
		"::ffff:10.0.0.0/104":   "10.0.0.0/8",
		"::ffff:192.168.1.1/96": "0.0.0.0/0",
	} {
		n, err := ParseNetwork(text)
		if err != nil || n.String() != want {
			t.Errorf("%s is %v, %v, want %s", text, n, err, want)
			continue
		}
		written, err := json.Marshal(n)
		var again Network
		if err != nil || json.Unmarshal(written, &again) != nil || again != n {
			t.Errorf("%s is written as %s, %v, and read as %v", text, written, err, again)
		}
	}
	for _, text := range []string{
		"", "*", "proxy.example.com", "10.0.0", "10.0.0.0/33", "10.0.0.0/-1", "010.0.0.1", "10.0.0.1:80", "[::1]",
		"fe80::1%eth0", "fe80::%eth0/10", "::ffff:10.0.0.0/95", "10.0.0.0/8, 10.0.0.1",
	} {
		if n, err := ParseNetwork(text); err == nil {
			t.Errorf("%q is taken for %v", text, n)
		}
	}
	var n Network
	if json.Unmarshal([]byte("8"), &n) == nil {
		t.Error("a number is taken for a network")
	}
}
