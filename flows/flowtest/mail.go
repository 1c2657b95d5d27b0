package flowtest

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Mail returns the delivery of a mail. It is not sealed, because scenarios read it.
func (m *Memory) Mail(_ context.Context, _ string, mail schemas.Mail, now time.Time) (schemas.Delivery, error) {
	body, err := json.Marshal(mail)
	return schemas.Delivery{
		ID: schemas.NewID(), Kind: schemas.MailDelivery, Body: body,
		CreatedAt: now, ExpiresAt: now.Add(time.Duration(mail.Minutes) * time.Minute),
	}, err
}

// Mail returns the delivery of a mail, or an error if the scenario's server has no mail
// server.
func (w *environment) Mail(ctx context.Context, name string, mail schemas.Mail, now time.Time) (schemas.Delivery, error) {
	if w.noMail {
		return schemas.Delivery{}, schemas.Errorf(schemas.Unavailable, schemas.CodeMailNotConfigured, "the server has no mail server")
	}
	return w.Memory.Mail(ctx, name, mail, now)
}

// Mails returns the queued mails that have a recipient, oldest first.
func (m *Memory) Mails() []schemas.Mail {
	var list []schemas.Mail
	for _, d := range m.Deliveries() {
		var mail schemas.Mail
		if d.Kind == schemas.MailDelivery && json.Unmarshal(d.Body, &mail) == nil && mail.To != "" {
			list = append(list, mail)
		}
	}
	return list
}

// codeInput is the input of email-otp.
const codeInput = "code"

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

// addressees returns the recipients of the mails.
func addressees(mails []schemas.Mail) []string {
	list := []string{}
	for _, m := range mails {
		list = append(list, m.To)
	}
	return list
}

// verifyEmail marks the address as verified, which removes it from other users: see
// createUser.
func (m *Memory) verifyEmail(c schemas.VerifyEmail) error {
	u, ok := m.users[c.UserID]
	if !ok || schemas.IdentifierKey(u.Text("email")) != schemas.IdentifierKey(c.Email) {
		return schemas.Errorf(schemas.Conflict, schemas.CodeInvalidCode, "the user does not have the address any more")
	}
	if u.Verified(schemas.EmailVerified) {
		return nil
	}
	return m.updateUser(schemas.UpdateUser{UserID: u.ID, Attributes: map[string]any{schemas.EmailVerified: true}, At: c.At})
}

// loseEmail removes the address that identifies a user from all other users.
func (m *Memory) loseEmail(owner schemas.User) {
	for _, attribute := range schemas.IdentifyingAttributes() {
		key := schemas.IdentifierKey(owner.Identifier(attribute))
		for id, u := range m.users {
			if key != "" && id != owner.ID && schemas.IdentifierKey(u.Text("email")) == key {
				m.users[id] = *u.WithoutEmail()
				m.events = append(m.events, schemas.Event{At: owner.UpdatedAt, Action: "email.lost", UserID: id, Detail: map[string]string{"owner": owner.ID}})
			}
		}
	}
}
