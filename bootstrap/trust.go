package bootstrap

import (
	"crypto/tls"
	"errors"
	"fmt"
)

// isUntrustedCertificate reports whether the server's certificate is untrusted. Waiting
// does not help then.
func isUntrustedCertificate(err error) bool {
	var untrusted *tls.CertificateVerificationError
	return errors.As(err, &untrusted)
}

// untrustedCertificateError adds how to trust a certificate.
func untrustedCertificateError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w; name the certificate to trust with --ca, use --config if the server's configuration is on this machine, or --insecure for a local server", err)
}
