package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/config"
)

type userCommands struct {
	List         userListCommand              `cmd:"" help:"List users."`
	Show         userShowCommand              `cmd:"" help:"Show a user with the methods to sign in."`
	Why          userWhyCommand               `cmd:"" help:"Explain why a user could not sign in: the state of the account, and the latest attempts, step by step."`
	Create       userCreateCommand            `cmd:"" help:"Create a user."`
	Disable      userDisableCommand           `cmd:"" help:"Disable a user, and end all sessions and tokens of the user."`
	Enable       userEnableCommand            `cmd:"" help:"Enable a disabled user."`
	Lock         userLockCommand              `cmd:"" help:"Lock a user for a time, and end all sessions and tokens of the user."`
	Unlock       userUnlockCommand            `cmd:"" help:"Unlock a user."`
	Sessions     sessionListCommand           `cmd:"" help:"List the sessions of a user."`
	ResetGuesses userResetGuessesCommand      `cmd:"" help:"Forget the failed guesses at a user's secrets, so that the user can sign in everywhere."`
	Export       userExportCommand            `cmd:"" help:"Write all users to a file, as CSV or JSON Lines."`
	Invite       userInviteCommand            `cmd:"" help:"Mail a user a link for adding the first passkey or a password."`
	Owners       userOwnersCommand            `cmd:"" help:"List the attributes of a user that have an owner, who alone can change them."`
	Adopt        userAdoptCommand             `cmd:"" help:"Set the owner of an attribute of a user."`
	Release      userReleaseCommand           `cmd:"" help:"Release an attribute of a user from its owner."`
	Update       nounUpdateCommand[userFlags] `cmd:"" help:"Change attributes of a user, or replace the user by a file."`
	Delete       nounDeleteCommand[userFlags] `cmd:"" help:"Delete a user, with all credentials, sessions and tokens."`
}

// oneUser is the user of a command.
type oneUser struct {
	User string `arg:"" help:"The id, the username or the mail address of the user."`
	apiServer
}

// find connects to the server and finds the user.
func (c oneUser) find(ctx context.Context, p program) (*bootstrap.Client, resource, error) {
	client, err := c.connect(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	r, err := userFlags{}.kind().find(ctx, client, c.User)
	return client, r, err
}

// nameOf returns the name of a user in messages.
func nameOf(user resource) string { return userFlags{}.kind().nameOf(user) }

func userColumns() []column {
	return []column{{"ID", "id"}, {"USERNAME", "attributes.username"}, {"EMAIL", "attributes.email"}, {"TYPE", "type"}, {"STATUS", "status"}, {"LOCKED UNTIL", "lockedUntil"}, {"CREATED", "createdAt"}}
}

type userListCommand struct {
	Username string `placeholder:"TEXT" xor:"by" help:"Only users whose username starts with this."`
	Email    string `placeholder:"TEXT" xor:"by" help:"Only users whose mail address starts with this."`
	Type     string `placeholder:"NAME" xor:"by" help:"Only users of this type."`
	Limit    int    `default:"100" help:"The most users to list."`
	output
	apiServer
}

// Run lists users.
func (c userListCommand) Run(ctx context.Context, p program) error {
	client, err := c.connect(ctx, p)
	if err != nil {
		return err
	}
	query := url.Values{}
	switch {
	case c.Username != "":
		query.Set("filter", "username sw "+jsonString(c.Username))
	case c.Email != "":
		query.Set("filter", "email sw "+jsonString(c.Email))
	case c.Type != "":
		query.Set("filter", "type eq "+jsonString(c.Type))
	}
	list, err := listPages(ctx, client, "/users", "users", query, c.Limit)
	if err != nil {
		return err
	}
	return c.list(p.stdout, list, userColumns()...)
}

type userCreateCommand struct {
	Username string            `arg:"" optional:"" help:"The username."`
	Type     string            `default:"Person" help:"The user type."`
	Email    string            `help:"The mail address. It identifies the user only with --set-json email_verified=true, or after an invitation was accepted."`
	Set      map[string]string `mapsep:"none" placeholder:"NAME=TEXT" help:"Set an attribute to a text."`
	SetJSON  map[string]string `name:"set-json" mapsep:"none" placeholder:"NAME=JSON" help:"Set an attribute to a JSON value."`
	Invite   string            `placeholder:"APP" help:"Mail an invitation to this application: its id, client id or name."`
	output
	apiServer
}

// Run creates a user, without credentials.
func (c userCreateCommand) Run(ctx context.Context, p program) error {
	attributes, err := setMembers(c.Set, c.SetJSON)
	if err != nil {
		return err
	}
	for name, text := range map[string]string{"username": c.Username, "email": c.Email} {
		if text != "" {
			attributes[name] = text
		}
	}
	if len(attributes) == 0 {
		return errors.New("expected a username, --email or --set with another attribute")
	}
	client, err := c.connect(ctx, p)
	if err != nil {
		return err
	}
	var application resource
	if c.Invite != "" { // before the user exists, so that the command can be repeated with another application
		if application, err = findApplication(ctx, client, c.Invite); err != nil {
			return err
		}
		if application.text("invitationFlowId") == "" {
			return fmt.Errorf("the application %q has no invitation flow: set its invitationFlowId, for example to the built-in flow invitation", c.Invite)
		}
	}
	var user resource
	if err := client.Send(ctx, http.MethodPost, "/users", map[string]any{"type": c.Type, "attributes": attributes}, &user); err != nil {
		return err
	}
	if err := c.show(p.stdout, user, userColumns()...); err != nil || c.Invite == "" {
		return err
	}
	if err := invite(ctx, p, client, user, application); err != nil {
		return fmt.Errorf("the user was created, and not invited: %w; repeat the invitation with postern user invite", err)
	}
	return nil
}

type userInviteCommand struct {
	App string `required:"" placeholder:"APP" help:"The application with the invitation flow: its id, client id or name."`
	oneUser
}

// Run invites a user.
func (c userInviteCommand) Run(ctx context.Context, p program) error {
	client, user, err := c.find(ctx, p)
	if err != nil {
		return err
	}
	application, err := findApplication(ctx, client, c.App)
	if err != nil {
		return err
	}
	return invite(ctx, p, client, user, application)
}

func invite(ctx context.Context, p program, client *bootstrap.Client, user, application resource) error {
	var reply resource
	err := client.Send(ctx, http.MethodPost, "/users/"+user.text("id")+"/invitation", map[string]string{"applicationId": application.text("id")}, &reply)
	if err != nil {
		return err
	}
	to := "the user" // whose address a token without system:users:read may not read
	if address := reply.text("email"); address != "" {
		to = printable(address)
	}
	_, err = fmt.Fprintf(p.stderr, "mailed an invitation to %s; it expires at %s\n", to, reply.text("expiresAt"))
	return err
}

// patch changes a user and prints what was done.
func (c oneUser) patch(ctx context.Context, p program, done string, change map[string]any) error {
	client, user, err := c.find(ctx, p)
	if err != nil {
		return err
	}
	if err := client.Send(ctx, http.MethodPatch, "/users/"+user.text("id"), change, nil); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s: %s\n", nameOf(user), done)
	return err
}

type userDisableCommand struct{ oneUser }

// Run disables a user.
func (c userDisableCommand) Run(ctx context.Context, p program) error {
	return c.patch(ctx, p, "disabled", map[string]any{"status": "disabled"})
}

type userEnableCommand struct{ oneUser }

// Run enables a user.
func (c userEnableCommand) Run(ctx context.Context, p program) error {
	return c.patch(ctx, p, "enabled", map[string]any{"status": "active"})
}

type userLockCommand struct {
	For config.Duration `default:"24h" help:"How long."`
	oneUser
}

// Run locks a user.
func (c userLockCommand) Run(ctx context.Context, p program) error {
	until := time.Now().Add(time.Duration(c.For)).UTC().Truncate(time.Second).Format(time.RFC3339)
	return c.patch(ctx, p, "locked until "+until, map[string]any{"lockedUntil": until})
}

type userUnlockCommand struct{ oneUser }

// Run unlocks a user.
func (c userUnlockCommand) Run(ctx context.Context, p program) error {
	return c.patch(ctx, p, "unlocked", map[string]any{"lockedUntil": nil})
}

type userResetGuessesCommand struct{ oneUser }

// Run forgets failed guesses.
func (c userResetGuessesCommand) Run(ctx context.Context, p program) error {
	return c.remove(ctx, p, "/failed-guesses", "forgot the failed guesses")
}

// remove deletes a part of the user.
func (c oneUser) remove(ctx context.Context, p program, part, done string) error {
	client, user, err := c.find(ctx, p)
	if err != nil {
		return err
	}
	if err := client.Send(ctx, http.MethodDelete, "/users/"+user.text("id")+part, nil, nil); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s: %s\n", nameOf(user), done)
	return err
}

type sessionCommands struct {
	List sessionListCommand `cmd:"" help:"List the sessions of a user."`
	End  sessionEndCommand  `cmd:"" help:"End one session of a user, or all, with all tokens that were issued in it."`
}

type sessionListCommand struct {
	output
	oneUser
}

// Run lists the sessions of a user.
func (c sessionListCommand) Run(ctx context.Context, p program) error {
	client, user, err := c.find(ctx, p)
	if err != nil {
		return err
	}
	list, err := listPages(ctx, client, "/users/"+user.text("id")+"/sessions", "sessions", url.Values{}, 1000)
	if err != nil {
		return err
	}
	if !c.JSON {
		describeSessions(ctx, client, user, list)
	}
	return c.list(p.stdout, list, column{"ID", "id"}, column{"USER", "user"}, column{"APPLICATION", "application"}, column{"DEVICE", "device"}, column{"LAST USED", "lastSeenAt"}, column{"SIGNED IN", "createdAt"}, column{"EXPIRES", "expiresAt"}, column{"ACR", "acr"})
}

// describeSessions adds what an administrator recognizes sessions by: the names of the user and the application, and the
// device.
func describeSessions(ctx context.Context, client *bootstrap.Client, user resource, list []resource) {
	var ids []string
	for _, s := range list {
		ids = append(ids, s.text("applicationId"))
	}
	names := namesOfApplications(ctx, client, ids)
	for _, s := range list {
		s["user"], s["application"] = nameOf(user), names[s.text("applicationId")]
		s["device"] = deviceOf(s.text("client"))
	}
}

type sessionEndCommand struct {
	oneUser
	ID  string `arg:"" optional:"" help:"The id of the session."`
	All bool   `help:"End all sessions of the user, except that of the token in use."`
}

// Run ends sessions.
func (c sessionEndCommand) Run(ctx context.Context, p program) error {
	if (c.ID == "") != c.All {
		return errors.New("expected the id of a session, or --all")
	}
	if c.ID != "" {
		return c.remove(ctx, p, "/sessions/"+url.PathEscape(c.ID), "ended the session "+c.ID)
	}
	client, user, err := c.find(ctx, p)
	if err != nil {
		return err
	}
	var reply struct{ Ended int }
	if err := client.Send(ctx, http.MethodDelete, "/users/"+user.text("id")+"/sessions", nil, &reply); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s: ended %d sessions, all except that of the token in use\n", nameOf(user), reply.Ended)
	return err
}
