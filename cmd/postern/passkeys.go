package main

import (
	"crypto/x509"
	"fmt"
	"log/slog"

	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/folder"
	"github.com/postern-id/postern/internal/passkey"
)

// newCeremonies creates the configured WebAuthn relying party.
func newCeremonies(cfg *config.Config, log *slog.Logger) (*passkey.Ceremonies, error) {
	c := cfg.Passkey
	anchors, err := trustAnchors(c.TrustAnchors)
	if err != nil {
		return nil, err
	}
	return passkey.New(passkey.Config{
		Log: log, Origins: c.AllowedOrigins, Related: c.RelatedOrigins, RPID: c.RelyingPartyID, RPName: c.RelyingPartyName, Timeout: c.Timeout,
		Policy: passkey.Policy{
			UserVerification: c.UserVerification, Attachment: c.Attachment, Attestation: c.AttestationFormats, TrustAnchors: anchors,
			SyncedPasskeys: c.SyncedPasskeys, CounterRegression: c.CounterRegression,
			EligibilityChange: c.EligibilityChange,
		},
	})
}

// trustAnchors reads the trusted root certificates of attestation.
func trustAnchors(files []string) (anchors []*x509.Certificate, err error) {
	for i, file := range files {
		text, err := folder.Read(file, folder.MaxFile)
		if err != nil {
			return nil, fmt.Errorf("passkey.trust_anchors[%d]: %w; expected a PEM file of root certificates", i, err)
		}
		list, err := passkey.ParseTrustAnchors(text)
		if err != nil {
			return nil, fmt.Errorf("passkey.trust_anchors[%d]: %s: %w", i, file, err)
		}
		anchors = append(anchors, list...)
	}
	return anchors, nil
}
