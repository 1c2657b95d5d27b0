package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// certificateLife is the longest that browsers on Apple systems accept.
	certificateLife = 825 * 24 * time.Hour
	// renewBefore is the least remaining validity of a certificate at startup.
	renewBefore = 30 * 24 * time.Hour
)

// CertificateOptions describes where the server's certificate comes from.
type CertificateOptions struct {
	// CertFile and KeyFile are PEM files: tls.cert_file, with the intermediate certificates after
	// the server's own, and tls.key_file. Both or neither.
	CertFile, KeyFile string
	// DataDir is the folder whose tls/ contains the self-signed certificate, if there are no files.
	DataDir string
	// Hostname is a further name of a self-signed certificate, in addition to localhost and the
	// loopback addresses. A name that a certificate cannot contain is left out.
	Hostname string
	// Now is the time at which the certificate must be valid.
	Now time.Time
}

// Certificate returns a TLS configuration with the certificate of the given files, or a self-signed
// one. The latter is created once and stored, so that users who trust it need not do so again after
// a restart. It is replaced, with the same key, when it is about to expire or lacks the hostname.
func Certificate(o CertificateOptions) (*tls.Config, error) {
	var pair tls.Certificate
	var err error
	switch {
	case o.CertFile != "" && o.KeyFile != "":
		pair, err = loadPair(o)
	case o.CertFile != "" || o.KeyFile != "":
		err = errors.New("tls.cert_file and tls.key_file belong together: set both, or neither for a self-signed certificate")
	default:
		pair, err = selfSigned(o)
	}
	if err != nil {
		return nil, err
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// loadPair loads the configured files and reports which of the two is invalid.
func loadPair(o CertificateOptions) (tls.Certificate, error) {
	var none tls.Certificate
	certText, err := os.ReadFile(o.CertFile)
	if err != nil {
		return none, fmt.Errorf("tls.cert_file: %w", err)
	}
	keyText, err := os.ReadFile(o.KeyFile)
	if err != nil {
		return none, fmt.Errorf("tls.key_file: %w", err)
	}
	if block, _ := pem.Decode(certText); block == nil || block.Type != "CERTIFICATE" {
		return none, fmt.Errorf("tls.cert_file %s: expected a certificate as PEM (-----BEGIN CERTIFICATE-----)", o.CertFile)
	}
	pair, err := tls.X509KeyPair(certText, keyText)
	if err != nil {
		return none, fmt.Errorf("tls.key_file %s: expected the private key of the certificate in %s, as PEM: %w", o.KeyFile, o.CertFile, err)
	}
	if pair.Leaf.NotAfter.Before(o.Now) {
		return none, fmt.Errorf("tls.cert_file %s: the certificate expired at %s; replace it", o.CertFile, pair.Leaf.NotAfter.Format(time.RFC3339))
	}
	return pair, nil
}

// selfSigned returns the certificate stored under DataDir, and creates missing files. The key is
// written first: a crash in between leaves a key without a certificate, which the next start
// creates.
func selfSigned(o CertificateOptions) (tls.Certificate, error) {
	var none tls.Certificate
	dir := filepath.Join(o.DataDir, "tls")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return none, fmt.Errorf("making a folder for the self-signed certificate: %w; let this user write in it, or set data_dir to another folder", err)
	}
	certPath, keyPath := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	key, err := loadPrivateKey(keyPath)
	if err != nil {
		return none, err
	}
	pair, err := tls.LoadX509KeyPair(certPath, keyPath)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return none, fmt.Errorf("read the TLS certificate: %w", err)
	case err == nil && isCertificateCurrent(pair.Leaf, o):
		return pair, nil
	}
	der, err := sign(key, o)
	if err == nil {
		err = writeFile(certPath, "CERTIFICATE", der, 0o644)
	}
	if err != nil {
		return none, fmt.Errorf("make a TLS certificate: %w", err)
	}
	return tls.LoadX509KeyPair(certPath, keyPath)
}

// loadPrivateKey reads the key file, or creates it if it does not exist. A file with other content
// is not overwritten: it may be the only copy.
func loadPrivateKey(path string) (*ecdsa.PrivateKey, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return newKey(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the TLS key: %w", err)
	}
	var parsed any
	if block, _ := pem.Decode(text); block != nil {
		parsed, _ = x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s: expected a PEM file with an ECDSA key in PKCS #8; remove the file, and the server creates a new one", path)
	}
	return key, nil
}

func newKey(path string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a TLS key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("make a TLS key: %w", err)
	}
	return key, writeFile(path, "PRIVATE KEY", der, 0o600)
}

// isCertificateCurrent reports whether a stored certificate is valid for long enough, and for every
// name.
func isCertificateCurrent(cert *x509.Certificate, o CertificateOptions) bool {
	for _, name := range append(certificateNames(o), "127.0.0.1", "::1") {
		if cert.VerifyHostname(name) != nil {
			return false
		}
	}
	return !o.Now.Before(cert.NotBefore) && o.Now.Add(renewBefore).Before(cert.NotAfter)
}

func certificateNames(o CertificateOptions) []string {
	names := []string{"localhost"}
	foreign := strings.Trim(strings.ToLower(o.Hostname), "abcdefghijklmnopqrstuvwxyz0123456789-.") != ""
	if o.Hostname == "" || foreign && net.ParseIP(o.Hostname) == nil || o.Hostname == names[0] {
		return names
	}
	return append(names, o.Hostname)
}

// sign creates a self-signed certificate that cannot sign others.
func sign(key *ecdsa.PrivateKey, o CertificateOptions) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{Organization: []string{"Postern"}, CommonName: "localhost"},
		NotBefore:             o.Now.Add(-time.Hour), // clocks differ
		NotAfter:              o.Now.Add(certificateLife - time.Hour - time.Second),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	for _, name := range certificateNames(o) {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	return x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
}

// writeFile writes a PEM file so that there is either the whole file or none: it writes a new file
// and renames it. os.CreateTemp creates files that only their owner can read, so a key is never
// readable for others.
func writeFile(path, kind string, der []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails after the renaming
	err = pem.Encode(f, &pem.Block{Type: kind, Bytes: der})
	if err := errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(f.Name(), path)
}
