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
	return fmt.Errorf("%w; say with --ca which certificate is to be trusted, or --config if the server's is here, or --insecure on this machine", err)
}
