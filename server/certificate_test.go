package server_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/tls"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/server"
)

func certificate(t *testing.T, o server.CertificateOptions) tls.Certificate {
	t.Helper()
	config, err := server.Certificate(o)
	if err != nil {
		t.Fatal(err)
	}
	if config.MinVersion < tls.VersionTLS12 {
		t.Errorf("TLS %x is allowed", config.MinVersion)
	}
	return config.Certificates[0]
}

func TestSelfSignedCertificate(t *testing.T) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	o := server.CertificateOptions{DataDir: filepath.Join(t.TempDir(), "data"), Hostname: "host.example", Now: now}
	first := certificate(t, o)
	for _, name := range []string{"localhost", "host.example", "127.0.0.1", "::1"} {
		if err := first.Leaf.VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}
	if first.Leaf.VerifyHostname("other.example") == nil {
		t.Error("it is good for any name")
	}
	if life := first.Leaf.NotAfter.Sub(first.Leaf.NotBefore); life > 825*24*time.Hour || first.Leaf.NotBefore.After(now) {
		t.Errorf("valid for %s from %s", life, first.Leaf.NotBefore)
	}
	if key, ok := first.Leaf.PublicKey.(*ecdsa.PublicKey); !ok || key.Curve != elliptic.P256() {
		t.Errorf("key %T", first.Leaf.PublicKey)
	}
	for name, want := range map[string]fs.FileMode{"tls": 0o700, "tls/key.pem": 0o600, "tls/cert.pem": 0o644} {
		info, err := os.Stat(filepath.Join(o.DataDir, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v, want %o", name, info.Mode(), err, want)
		}
	}
	left, err := filepath.Glob(filepath.Join(o.DataDir, "tls", ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}

	kept := datatest.ReadFile(t, filepath.Join(o.DataDir, "tls", "cert.pem"))
	same := func(c tls.Certificate) bool { return c.Leaf.Equal(first.Leaf) }
	if again := certificate(t, o); !same(again) {
		t.Error("it is not kept across restarts")
	}
	for name, change := range map[string]func(*server.CertificateOptions){
		"a year later":       func(o *server.CertificateOptions) { o.Now = now.AddDate(1, 0, 0) },
		"without a hostname": func(o *server.CertificateOptions) { o.Hostname = "" },
		"an odd hostname":    func(o *server.CertificateOptions) { o.Hostname = "höst name" },
	} {
		other := o
		change(&other)
		if !same(certificate(t, other)) {
			t.Errorf("%s: it was generated again", name)
		}
	}
	for name, change := range map[string]func(*server.CertificateOptions){
		"near its end":        func(o *server.CertificateOptions) { o.Now = first.Leaf.NotAfter.AddDate(0, 0, -29) },
		"after its end":       func(o *server.CertificateOptions) { o.Now = first.Leaf.NotAfter.AddDate(1, 0, 0) },
		"for another host":    func(o *server.CertificateOptions) { o.Hostname = "new.example" },
		"for an IP address":   func(o *server.CertificateOptions) { o.Hostname = "192.0.2.7" },
		"back before its day": func(o *server.CertificateOptions) { o.Now = now.AddDate(-1, 0, 0) },
	} {
		if err := os.WriteFile(filepath.Join(o.DataDir, "tls", "cert.pem"), kept, 0o644); err != nil {
			t.Fatal(err)
		}
		other := o
		change(&other)
		renewed := certificate(t, other)
		if same(renewed) || renewed.Leaf.VerifyHostname(other.Hostname) != nil || !renewed.Leaf.NotAfter.After(other.Now.AddDate(2, 0, 0)) {
			t.Errorf("%s: %s until %s", name, renewed.Leaf.DNSNames, renewed.Leaf.NotAfter)
		}
		if !renewed.Leaf.PublicKey.(*ecdsa.PublicKey).Equal(first.Leaf.PublicKey) {
			t.Errorf("%s: the key changed", name)
		}
	}
}

// A crash between the two files, or a broken file, is repaired if that loses nothing.
func TestSelfSignedCertificateIsRepaired(t *testing.T) {
	o := server.CertificateOptions{DataDir: t.TempDir(), Now: time.Now()}
	first := certificate(t, o)
	cert, key := filepath.Join(o.DataDir, "tls", "cert.pem"), filepath.Join(o.DataDir, "tls", "key.pem")
	for name, damage := range map[string]func() error{
		"no certificate":        func() error { return os.Remove(cert) },
		"half a certificate":    func() error { return os.WriteFile(cert, []byte("-----BEGIN CERT"), 0o644) },
		"another's certificate": func() error { return os.Remove(key) },
		"not really certificate": func() error {
			return os.WriteFile(cert, []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), 0o644)
		},
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if c := certificate(t, o); c.Leaf.Equal(first.Leaf) {
			t.Errorf("%s: still the old one", name)
		}
		if _, err := tls.LoadX509KeyPair(cert, key); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, text := range []string{"precious", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		datatest.WriteFile(t, key, text)
		if _, err := server.Certificate(o); err == nil || !strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "remove the file") {
			t.Errorf("a key file that is none: %v", err)
		}
		if kept, _ := os.ReadFile(key); string(kept) != text {
			t.Error("the file was overwritten")
		}
	}
}

func TestConfiguredCertificate(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	now := time.Now()
	want := certificate(t, server.CertificateOptions{DataDir: dir, Now: now})
	certificate(t, server.CertificateOptions{DataDir: other, Now: now})
	cert, key := filepath.Join(dir, "tls", "cert.pem"), filepath.Join(dir, "tls", "key.pem")
	got := certificate(t, server.CertificateOptions{CertFile: cert, KeyFile: key, DataDir: "/nowhere", Now: now})
	if !got.Leaf.Equal(want.Leaf) {
		t.Error("it is not the one that was configured")
	}
	tests := []struct {
		name, cert, key string
		now             time.Time
		says            string
	}{
		{"no key", cert, "", now, "tls.cert_file and tls.key_file belong together"},
		{"no certificate", "", key, now, "tls.cert_file and tls.key_file belong together"},
		{"certificate not there", cert + "x", key, now, "tls.cert_file: open " + cert + "x"},
		{"key not there", cert, key + "x", now, "tls.key_file: open " + key + "x"},
		{"the wrong way round", key, cert, now, "tls.cert_file " + key + ": expected a certificate as PEM"},
		{"another's key", cert, filepath.Join(other, "tls", "key.pem"), now, "expected the private key of the certificate in " + cert},
		{"expired", cert, key, now.AddDate(3, 0, 0), "expired at"},
	}
	for _, tt := range tests {
		_, err := server.Certificate(server.CertificateOptions{CertFile: tt.cert, KeyFile: tt.key, DataDir: dir, Now: tt.now})
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q in it", tt.name, err, tt.says)
		}
	}
}
