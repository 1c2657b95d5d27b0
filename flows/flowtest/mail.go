package flowtest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Mail returns the delivery of a mail, or an error if the scenario's server has no mail
// server. It is not sealed, because scenarios read it.
func (w *environment) Mail(_ context.Context, _ string, mail schemas.Mail, now time.Time) (schemas.Delivery, error) {
	if w.scenario.NoMail {
		return schemas.Delivery{}, schemas.Errorf(schemas.Unavailable, schemas.CodeMailNotConfigured, "the server has no mail server")
	}
	body, err := json.Marshal(mail)
	return schemas.Delivery{
		ID: schemas.NewID(), Kind: schemas.MailDelivery, Body: body,
		CreatedAt: now, ExpiresAt: now.Add(time.Duration(mail.Minutes) * time.Minute),
	}, err
}

// Mails returns the queued mails that have a recipient, oldest first.
func (m *Memory) Mails() []schemas.Mail {
	return slices.DeleteFunc(queued[schemas.Mail](m, schemas.MailDelivery), func(mail schemas.Mail) bool { return mail.To == "" })
}

// queued returns what the queued deliveries of a kind contain, oldest first.
func queued[T any](m *Memory, kind string) (list []T) {
	for _, d := range m.Deliveries() {
		var content T
		if d.Kind == kind && json.Unmarshal(d.Body, &content) == nil {
			list = append(list, content)
		}
	}
	return list
}

// mailedCode returns the code of the newest mail, or of the previous one.
func (p *scenarioRun) mailedCode(which string) (string, error) {
	mails, n := p.Mails(), 1
	if which == "previous" {
		n = 2
	}
	if len(mails) < n {
		return "", errors.New("no such mail has been sent")
	}
	return mails[len(mails)-n].Code, nil
}
