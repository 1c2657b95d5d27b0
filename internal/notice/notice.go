// Package notice queues mails to users about changes of their accounts and sign-ins from new
// browsers (NIST SP 800-63B-4 section 4.6). Each has a link that locks the account, once.
//
// The store queues a delivery of the kind schemas.NoticeDelivery in the transaction of the event. A
// [Notifier] turns it into a link and a mail later, so that neither a missing mail server nor the
// limits of mails delay or fail the change itself.
package notice

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/schemas"
)

// Limits of mails to a user about one kind of event: an attacker could otherwise fill the mailbox.
// Other kinds are counted separately, so that many sign-ins do not hide a new passkey.
const (
	maxMails = 5
	period   = time.Hour
)

// Lifetimes of a mail in the queue, and of its link.
const (
	mailTTL = 24 * time.Hour
	linkTTL = 7 * 24 * time.Hour
)

// Store is what a Notifier reads and writes.
type Store interface {
	User(ctx context.Context, id string) (*schemas.User, error)
	Session(ctx context.Context, id string) (*schemas.Session, error)
	CountLinks(ctx context.Context, userID, purpose, subject string, after time.Time) (int, error)
	Apply(ctx context.Context, changes []schemas.Change) error
}

// Notifier turns notices into mails. It implements delivery.Sender.
type Notifier struct {
	Store  Store
	Sealer delivery.Sealer
	// LockPage is the address of the page that locks an account. The token becomes its fragment,
	// which browsers send to no server.
	LockPage string
	// Service is the name of the server in mails.
	Service string
	// Mails reports whether mails are sent; otherwise notices are dropped.
	Mails bool
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Send queues the mail of a notice. A notice without a recipient counts as sent.
func (n *Notifier) Send(ctx context.Context, d schemas.Delivery) error {
	var notice schemas.Notice
	if err := json.Unmarshal(d.Body, &notice); err != nil {
		return fmt.Errorf("%w: its body is not a notice", delivery.ErrRefused)
	}
	if !n.Mails {
		return nil
	}
	user, err := n.Store.User(ctx, notice.UserID)
	if schemas.HasCode(err, schemas.CodeUserNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	to := recipient(notice, user)
	if to == "" {
		return nil
	}
	now := n.now()
	sent, err := n.Store.CountLinks(ctx, user.ID, schemas.LockLink, notice.Action, now.Add(-period))
	if err != nil || sent >= maxMails {
		return err
	}
	return n.queue(ctx, notice, user, to, now)
}

// recipient returns the address for a notice, "" for none. Only the owner of a verified address may
// lock the account. A user who was created with the credential gets no notice of it.
func recipient(notice schemas.Notice, user *schemas.User) string {
	switch {
	case notice.To != "":
		return notice.To
	case !user.Verified(schemas.EmailVerified), !notice.At.After(user.CreatedAt):
		return ""
	}
	return user.Text("email")
}

// queue stores the link and its mail.
func (n *Notifier) queue(ctx context.Context, notice schemas.Notice, user *schemas.User, to string, now time.Time) error {
	token := schemas.NewSecret()
	mail := schemas.Mail{
		To: to, Notice: notice.Action, At: notice.At, ByAdministrator: notice.ByAdministrator,
		Link: n.LockPage + "#" + token, Application: n.Service, Language: user.Text("locale"),
	}
	if notice.SessionID != "" {
		session, err := n.Store.Session(ctx, notice.SessionID)
		if err != nil {
			return err
		}
		if session != nil {
			mail.Browser = session.Client
		}
	}
	body, err := json.Marshal(mail)
	if err != nil {
		return err
	}
	return n.Store.Apply(ctx, []schemas.Change{
		schemas.CreateLink{Link: schemas.Link{
			TokenHash: schemas.HashSecret(token), UserID: user.ID, Purpose: schemas.LockLink, Subject: notice.Action, CreatedAt: now, ExpiresAt: now.Add(linkTTL),
		}},
		schemas.QueueDelivery{Delivery: n.Sealer.Seal(schemas.Delivery{
			ID: schemas.NewID(), Kind: schemas.MailDelivery, Body: body, CreatedAt: now, ExpiresAt: now.Add(mailTTL),
		})},
	})
}

func (n *Notifier) now() time.Time {
	if n.Now == nil {
		return time.Now().UTC()
	}
	return n.Now().UTC()
}
