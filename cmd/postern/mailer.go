package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/schemas"
)

// mailer creates the deliveries of mails.
type mailer struct {
	configured bool
	throttle   *throttle.Throttle
	sealer     delivery.Sealer
}

func (h *app) mailer() mailer {
	return mailer{configured: h.cfg.Mail.Enabled(), throttle: h.throttle, sealer: h.sealer}
}

// Mail creates the delivery of a mail about the account of a name: see nodes.Mails. It has
// no target, because the log must not contain the recipient. The mail expires with its
// code.
func (m mailer) Mail(ctx context.Context, name string, letter schemas.Mail, now time.Time) (schemas.Delivery, error) {
	if !m.configured {
		return schemas.Delivery{}, schemas.Errorf(schemas.Unavailable, schemas.CodeMailNotConfigured,
			"this sign-in sends a code by mail, but no mail server is configured: its operator must set mail.host and mail.from")
	}
	if err := m.throttle.AdmitMail(ctx, name); err != nil {
		return schemas.Delivery{}, err
	}
	if letter.NewAddress { // any account can request mails to it
		if err := m.throttle.AdmitMail(ctx, letter.To); err != nil {
			return schemas.Delivery{}, err
		}
	}
	body, err := json.Marshal(letter)
	if err != nil {
		return schemas.Delivery{}, err
	}
	return m.sealer.Seal(schemas.Delivery{
		ID: schemas.NewID(), Kind: schemas.MailDelivery, Body: body,
		CreatedAt: now, ExpiresAt: now.Add(time.Duration(letter.Minutes) * time.Minute),
	}), nil
}

// knowsBrowser returns the function that recognizes browsers, nil without mail: then no sign-in
// causes a notice.
func (h *app) knowsBrowser() func(ctx context.Context, userID, strength string, now time.Time) bool {
	if !h.cfg.Mail.Enabled() {
		return nil
	}
	return throttle.KnowsBrowser
}
