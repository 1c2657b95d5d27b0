package directory

import (
	"cmp"
	"context"
	"net/url"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// Invitations
//
// An administrator invites a user who has no credential yet. The server mails a link to the user's
// address; it leads to the invitation flow of an application, in which the user adds the first
// credential. The administrator does not get the link: the credential is worth as much as the flow
// says because only a reader of the mailbox can have added it.

// InvitationTTL is how long an invitation can be accepted.
const InvitationTTL = 7 * 24 * time.Hour

// Error codes of invitations.
const (
	CodeInvitationNotFound = "invitation_not_found" // Class NotFound
	CodeHasCredential      = "has_credential"       // Class Conflict
	CodeCannotInvite       = "cannot_invite"        // Class Conflict
)

// Invitation is an invitation that can still be accepted.
type Invitation struct {
	ApplicationID string `json:"applicationId"`
	// Email is the address of the user; "" for a caller who may not read users.
	Email     string    `json:"email"`
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt"`
	// Opened reports whether a run has accepted it, without adding a credential so far.
	Opened bool `json:"opened"`
}

// Invite mails a user a link to the invitation flow of an application. It replaces an earlier
// invitation of the user. The user must be active, have a mail address and no sign-in method
// (CodeHasCredential), and the application must admit the user and have an invitation flow
// that adds what its sign-in flow accepts (CodeCannotInvite); both errors have Class Conflict. Too many mails to a user are Class Throttled. On
// a server without mail the error is schemas.CodeMailNotConfigured, Class Unavailable. The caller
// needs the user's permissions.
func (d *Directory) Invite(ctx context.Context, c Call, userID, applicationID string) (*Invitation, error) {
	r := d.reader(c)
	if _, err := mayManage(ctx, r, c, userID, d.now()); err != nil {
		return nil, err
	}
	user, app, err := invited(ctx, r, userID, applicationID, d.now())
	if err != nil {
		return nil, err
	}
	if err := checkInvitationFits(ctx, r, app); err != nil {
		return nil, err
	}
	token, now := schemas.NewSecret(), d.now()
	link := schemas.Link{
		TokenHash: schemas.HashSecret(token), UserID: userID, Purpose: schemas.InvitationLink, Subject: app.ID, CreatedAt: now, ExpiresAt: now.Add(InvitationTTL),
	}
	mail, err := d.invitationMail(ctx, r, user, app, &link, token)
	if err != nil {
		return nil, err
	}
	// The mail is counted before the transaction: a counter may be in the same store.
	err = d.changeAccount(ctx, c, userID, func(w *writeContext) error {
		again, _, err := invited(w.ctx, w.tx, userID, applicationID, w.now)
		if err != nil {
			return err
		}
		if again.Text("email") != user.Text("email") {
			return schemas.Errorf(schemas.Conflict, CodeCannotInvite, "the mail address of this user has just changed; repeat the request")
		}
		w.record(schemas.Event{
			Action: "user.invited", UserID: userID, Resource: schemas.ResourceRef{Type: "user", ID: userID}, Detail: map[string]string{"application": app.ID},
		})
		return w.apply(schemas.CreateLink{Link: link}, schemas.QueueDelivery{Delivery: mail})
	})
	sent := &Invitation{ApplicationID: app.ID, CreatedAt: link.CreatedAt, ExpiresAt: link.ExpiresAt}
	if c.Permits("system:users:read") {
		sent.Email = user.Text("email")
	}
	return sent, err
}

// invited returns the user and the application of a possible invitation.
func invited(ctx context.Context, r store.Reader, userID, applicationID string, now time.Time) (*schemas.User, *schemas.Application, error) {
	user, err := store.Users().Get(ctx, r, userID)
	if err != nil {
		return nil, nil, err
	}
	n, err := countLoginMethods(ctx, r, userID)
	if err != nil {
		return nil, nil, err
	}
	if n > 0 {
		return nil, nil, schemas.Errorf(schemas.Conflict, CodeHasCredential,
			"this user already has a password, a passkey or a linked identity: an invitation is for users who cannot sign in yet; the user can sign in, or use the recovery flow of an application")
	}
	p, err := store.ProtectionOf(ctx, r, userID)
	if err != nil {
		return nil, nil, err
	}
	if p.Administrator && p.HadPasskey {
		return nil, nil, schemas.Errorf(schemas.Conflict, CodeCannotInvite,
			"this user is an administrator who has had a passkey, and a link by mail does not replace one: ask the operator for a link from `postern admin recover`")
	}
	app, err := store.Applications().Get(ctx, r, applicationID)
	if schemas.HasClass(err, schemas.NotFound) {
		err = schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "there is no application with the id %.64q", applicationID).
			WithProblems([]schemas.Problem{{Path: "applicationId", Message: "there is no such application"}})
	}
	if err != nil {
		return nil, nil, err
	}
	return user, app, checkInvited(user, app, now)
}

// checkInvited checks that an application can invite a user.
func checkInvited(user *schemas.User, app *schemas.Application, now time.Time) error {
	refuse := func(format string, args ...any) error {
		return schemas.Errorf(schemas.Conflict, CodeCannotInvite, format, args...)
	}
	switch {
	case user.CheckActive(now) != nil:
		return refuse("this user is disabled or locked: enable the user first")
	case user.Text("email") == "":
		return refuse("this user has no mail address to send an invitation to: set the attribute email first")
	case app.InvitationFlowID == "":
		return refuse("the application %q has no invitation flow: set its invitationFlowId, for example to the built-in flow invitation", app.Name)
	case !app.Admits(user.Type, user.IdentifierScope):
		return refuse("the application %q does not admit users of the type %q: add the type to its allowedUserTypes, or invite the user to another application", app.Name, user.Type)
	}
	return nil
}

// invitationMail returns the delivery of an invitation.
func (d *Directory) invitationMail(ctx context.Context, r store.Reader, user *schemas.User, app *schemas.Application, link *schemas.Link, token string) (schemas.Delivery, error) {
	if d.Mails == nil {
		return schemas.Delivery{}, errNoMail()
	}
	former, err := store.InvitationOf(ctx, r, user.ID, link.CreatedAt)
	if err != nil {
		return schemas.Delivery{}, err
	}
	mail := schemas.Mail{
		To: user.Text("email"), Invitation: true, Replaces: former != nil, Minutes: int(InvitationTTL.Minutes()), At: link.ExpiresAt, Language: user.Text("locale"),
		Link: d.InvitationPage + "?" + url.Values{"applicationId": {app.ID}}.Encode() + "#" + token,
	}
	if app.IsTrusted() {
		mail.Application = app.Name
	}
	delivery, err := d.Mails.Mail(ctx, cmp.Or(user.Text("username"), mail.To), mail, link.CreatedAt)
	if schemas.HasCode(err, schemas.CodeMailNotConfigured) {
		err = errNoMail()
	}
	return delivery, err
}

func errNoMail() error {
	return schemas.Errorf(schemas.Unavailable, schemas.CodeMailNotConfigured, "this server sends no mail, so users cannot be invited: set mail.host and mail.from in its configuration")
}

// Invitation returns the invitation of a user that can still be accepted; without one the error is
// CodeInvitationNotFound, Class NotFound.
func (d *Directory) Invitation(ctx context.Context, c Call, userID string) (*Invitation, error) {
	return readAccount(ctx, d, c, userID, func(ctx context.Context, r store.Reader, userID string) (*Invitation, error) {
		return invitationOf(ctx, r, userID, d.now())
	})
}

func invitationOf(ctx context.Context, r store.Reader, userID string, now time.Time) (*Invitation, error) {
	link, err := store.InvitationOf(ctx, r, userID, now)
	if err != nil {
		return nil, err
	}
	if link == nil {
		return nil, schemas.Errorf(schemas.NotFound, CodeInvitationNotFound, "this user has no open invitation: none was sent, or it has expired, or the user has a credential")
	}
	user, err := store.Users().Get(ctx, r, userID)
	if err != nil {
		return nil, err
	}
	return &Invitation{link.Subject, user.Text("email"), link.CreatedAt, link.ExpiresAt, link.RunID != ""}, nil
}

// WithdrawInvitation makes the invitation of a user void, also for a run that has accepted it. Without
// one the error is CodeInvitationNotFound, Class NotFound.
func (d *Directory) WithdrawInvitation(ctx context.Context, c Call, userID string) error {
	return d.restrictAccount(ctx, c, userID, func(w *writeContext) error {
		if _, err := invitationOf(w.ctx, w.tx, userID, w.now); err != nil {
			return err
		}
		w.recordUserEvent(userID, "invitation.withdrawn", schemas.ResourceRef{Type: "user", ID: userID})
		return store.DeleteLinks(w.tx, userID, schemas.InvitationLink)
	})
}
