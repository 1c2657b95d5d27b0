package bootstrap

import (
	"crypto/tls"
	"errors"
	"fmt"
)

// isUntrustedCertificate reports whether an error is that a server's certificate is not
// trusted. Waiting does not mend that.
func isUntrustedCertificate(err error) bool {
	var untrusted *tls.CertificateVerificationError
	return errors.As(err, &untrusted)
}

// untrustedCertificateError says how to trust a certificate that is not trusted.
func untrustedCertificateError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w; say with --ca which certificate is to be trusted, or --config if the server's is here, or --insecure on this machine", err)
}
