package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

type adminCommands struct {
	Recover       adminRecoverCommand       `cmd:"" help:"Print a link with which an administrator who has lost the passkey adds one. It works once."`
	RemovePasskey adminRemovePasskeyCommand `cmd:"" help:"Remove passkeys of a user, and end the sessions that began with them."`
}

// localUser is the user of a command that works on the store.
type localUser struct {
	User   string `arg:"" help:"The username or id of the user."`
	Config string `type:"path" help:"The configuration file of the local server."`
}

// open opens the store and finds the user. Close the app.
func (c localUser) open(ctx context.Context, p program) (h *app, userID string, err error) {
	if h, err = p.openLocal(ctx, c.Config); err != nil {
		return nil, "", err
	}
	user, err := h.store.UserByAttribute(ctx, "", "username", c.User)
	if schemas.HasClass(err, schemas.NotFound) {
		user, err = h.store.User(ctx, c.User)
	}
	if schemas.HasClass(err, schemas.NotFound) {
		err = fmt.Errorf("there is no user with the username or id %q", c.User)
	}
	if err != nil {
		h.close()
		return nil, "", err
	}
	return h, user.ID, nil
}

type adminRecoverCommand struct {
	localUser
	App string `default:"CONSOLE" placeholder:"CLIENT" help:"The client id of the application whose invitation flow adds the passkey."`
}

// Run prints a link. Access to the store and its key would suffice to add a passkey anyway; here it is
// recorded, and the user gets a mail.
func (c adminRecoverCommand) Run(ctx context.Context, p program) error {
	h, userID, err := c.open(ctx, p)
	if err != nil {
		return err
	}
	defer h.close()
	application := bootstrap.ConsoleID
	if c.App != "CONSOLE" {
		found, err := h.store.ApplicationByClientID(ctx, c.App)
		if err != nil {
			return fmt.Errorf("--app %s: %w", c.App, err)
		}
		application = found.ID
	}
	link, expires, err := h.directory.LinkForEnrolment(ctx, directory.SystemCall(), userID, application)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(p.stdout, link); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stderr, "give the link to the administrator only: until %s it adds a passkey to the account, once. Earlier links are void.\n", expires.Format(time.RFC3339))
	return err
}

type adminRemovePasskeyCommand struct {
	confirmation
	localUser
	Passkeys []string `arg:"" help:"The ids of the passkeys, as postern user show and postern doctor print them."`
}

// Run removes passkeys, also the last ones of a user.
func (c adminRemovePasskeyCommand) Run(ctx context.Context, p program) error {
	h, userID, err := c.open(ctx, p)
	if err != nil {
		return err
	}
	defer h.close()
	ids, err := c.find(ctx, h, userID)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("remove the passkeys %s of %s", strings.Join(c.Passkeys, ", "), printable(c.User))
	if ok, err := c.confirm(p, what, []string{"the sessions that began with them"}); !ok {
		return err
	}
	for _, id := range ids {
		if err := h.directory.DeletePasskey(ctx, directory.SystemCall(), userID, id); err != nil {
			return fmt.Errorf("the passkey %s: %w", id, err)
		}
		if _, err := fmt.Fprintf(p.stdout, "removed the passkey %s\n", id); err != nil {
			return err
		}
	}
	return nil
}

// find returns the ids of the passkeys. The user must have all of them: nothing is removed if one is wrong.
func (c adminRemovePasskeyCommand) find(ctx context.Context, h *app, userID string) (ids []schemas.Bytes, err error) {
	has, err := h.store.Credentials(ctx, userID)
	if err != nil {
		return nil, err
	}
	for _, text := range c.Passkeys {
		id, err := schemas.ParseBytes(text)
		if err != nil {
			return nil, fmt.Errorf("%q is no id of a passkey: expected base64url text, as postern user show prints it", text)
		}
		if !slices.ContainsFunc(has, func(k schemas.Credential) bool { return bytes.Equal(k.ID, id) }) {
			return nil, fmt.Errorf("%s has no passkey with the id %s: postern user show lists the passkeys of a user", printable(c.User), text)
		}
		ids = append(ids, id)
	}
	return ids, nil
}
