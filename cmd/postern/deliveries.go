package main

import (
	"context"

	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/internal/mail"
	"github.com/postern-id/postern/internal/notice"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

// deliveryQueue returns the queue of messages to other systems.
func (h *app) deliveryQueue() delivery.Queue {
	q := delivery.Queue{Store: h.store, Log: h.log, Wake: h.store.Queued(), Senders: map[string]delivery.Sender{
		schemas.LogoutDelivery: &oauth.Backchannel{
			Application: func(ctx context.Context, id string) (*schemas.Application, error) {
				if _, err := h.applications.Application(ctx, id); err != nil {
					return nil, err
				}
				return store.Applications().Get(ctx, h.store, id)
			},
			Tokens: h.tokens, Requests: h.outbound, Addresses: oauth.ClientAddresses{Documents: h.documentPolicy(), Expiry: h.store.ClientExpiry},
		},
		schemas.CallDelivery: h.targets.Sender(),
		schemas.NoticeDelivery: &notice.Notifier{
			Store: h.store, Sealer: h.sealer, LockPage: h.cfg.Server.PublicURL + "/gate/lock",
			Service: h.cfg.Passkey.RelyingPartyName, Mails: h.cfg.Mail.Enabled(),
		},
	}}
	if sender := h.mailSender(); sender != nil {
		q.Senders[schemas.MailDelivery] = h.sealer.OpenSender(sender)
	}
	for kind, sender := range q.Senders {
		q.Senders[kind] = countedSender{sender, h.telemetry}
	}
	return q
}

// mailSender returns the sender of mails, nil if there is none.
func (h *app) mailSender() delivery.Sender {
	m := h.cfg.Mail
	switch {
	case m.Host != "":
		return mail.New(mail.Options{Host: m.Host, Port: m.Port, TLS: m.TLS, Username: m.Username, Password: m.Password, From: m.From, Languages: h.languages})
	case h.mailbox != nil:
		return h.mailbox
	}
	return nil
}
