package main

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/postern-id/postern/server"
)

// The remaining validity of a certificate that is worth a warning.
const certificateWarning = 21 * 24 * time.Hour

// checkCertificate checks the certificate that the server uses.
func (d *doctor) checkCertificate() {
	const check = "certificate"
	cfg := d.cfg
	public, err := url.Parse(cfg.Server.PublicURL)
	if err != nil || cfg.Server.HTTPOnly {
		d.ok(check, "none: the server uses plain http (server.http_only)")
		return
	}
	leaf, err := d.readCertificate()
	const obtain = "set tls.cert_file and tls.key_file to a certificate of a public authority, or server.http_only behind a proxy that terminates TLS"
	switch {
	case errors.Is(err, fs.ErrNotExist) && cfg.TLS.CertFile == "":
		if !isLoopback(public.Hostname()) {
			d.warn(check, obtain, "the first start generates a self-signed certificate, which browsers and clients of %s reject", public.Hostname())
			return
		}
		d.ok(check, "the first start generates a self-signed one")
		return
	case err != nil:
		d.fail(check, "replace the files; the certificate file begins with the server's own certificate, followed by the intermediate ones", "%v", err)
		return
	}
	selfSigned := leaf.CheckSignatureFrom(leaf) == nil || leaf.Issuer.String() == leaf.Subject.String()
	if err := leaf.VerifyHostname(public.Hostname()); err != nil {
		d.fail(check, "obtain a certificate for "+public.Hostname()+", or correct server.public_url", "%v", err)
	}
	if left := time.Until(leaf.NotAfter); left < certificateWarning {
		d.warn(check, "renew it, and restart the server", "it expires at %s", formatTime(leaf.NotAfter))
	}
	if selfSigned && !isLoopback(public.Hostname()) {
		d.warn(check, obtain, "it is self-signed, so browsers and clients of %s reject it", public.Hostname())
	}
	if !d.hasProblems(check) {
		d.ok(check, "valid for %s until %s", public.Hostname(), formatTime(leaf.NotAfter))
	}
}

// readCertificate reads the certificate. It creates none.
func (d *doctor) readCertificate() (*x509.Certificate, error) {
	if c := d.cfg.TLS; c.CertFile != "" {
		pair, err := server.Certificate(server.CertificateOptions{CertFile: c.CertFile, KeyFile: c.KeyFile, Now: time.Now()})
		if err != nil {
			return nil, err
		}
		return pair.Certificates[0].Leaf, nil
	}
	path := filepath.Join(d.cfg.DataDir, "tls", "cert.pem")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s: expected a certificate in PEM form", path)
	}
	return x509.ParseCertificate(block.Bytes)
}
