package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

type tokenCommand struct {
	Config  string          `type:"path" help:"The configuration file of the local server."`
	Scope   string          `default:"system" help:"The permissions of the token, separated by spaces. The user must have them."`
	TTL     config.Duration `default:"1h" name:"ttl" help:"The lifetime of the token."`
	User    string          `placeholder:"NAME" help:"The username or id of the user. Default: the first administrator."`
	BaseURL string          `placeholder:"URL" help:"The URL of the server, if it is not the configured one."`
}

// Run prints an access token. Access to the store and its key would suffice to create one
// anyway; here it is recorded, and belongs to a session that can be ended.
func (c tokenCommand) Run(ctx context.Context, p program) error {
	if time.Duration(c.TTL) < time.Second {
		return fmt.Errorf("--ttl %s: expected at least a second", time.Duration(c.TTL))
	}
	var further []string
	if c.BaseURL != "" {
		further = append(further, "POSTERN_SERVER_PUBLIC_URL="+strings.TrimSuffix(c.BaseURL, "/"))
	}
	h, err := p.openLocal(ctx, c.Config, further...)
	if err != nil {
		return err
	}
	defer h.close()
	raw, err := h.issueToken(ctx, c.User, strings.Fields(c.Scope), time.Duration(c.TTL))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.stdout, raw)
	return err
}

// issueToken issues an access token to a user ("" is the first administrator).
func (h *app) issueToken(ctx context.Context, name string, scope []string, ttl time.Duration) (string, error) {
	userID, err := h.tokenUser(ctx, name)
	if err != nil {
		return "", err
	}
	if err := h.checkScope(ctx, userID, scope); err != nil {
		return "", err
	}
	console, err := h.store.Application(ctx, bootstrap.ConsoleID)
	if err != nil {
		return "", fmt.Errorf("tokens are issued to the application of the console, which cannot be read; `postern bootstrap` creates it if it is missing: %w", err)
	}
	now := time.Now().UTC()
	session := schemas.Session{
		ID: schemas.NewID(), UserID: userID, ApplicationID: console.ID, Client: "postern token", CreatedAt: now, ExpiresAt: now.Add(ttl),
	}
	err = h.store.Apply(ctx, []schemas.Change{
		schemas.StartSession{Session: session},
		schemas.RecordEvent{Event: schemas.Event{
			ID: schemas.NewID(), At: now, Action: "token.issued", UserID: userID, ApplicationID: console.ID,
			Actor:  schemas.Actor{Type: schemas.SystemActor},
			Detail: map[string]string{"scope": strings.Join(scope, " "), "sessionId": session.ID},
		}},
	})
	if err != nil {
		return "", err
	}
	return h.tokens.Access(ctx, token.Claims{
		Subject: userID, ClientID: console.ClientID, Generation: console.TokenGeneration, Audience: h.tokenAudience(scope), Scope: scope, Session: session.ID, Validity: ttl,
	})
}

// tokenAudience returns the audience of a token with the scope: the API, and with "system"
// the tools.
func (h *app) tokenAudience(scope []string) []string {
	base := h.cfg.Server.PublicURL
	if slices.Contains(scope, "system") {
		return []string{base, base + "/mcp"}
	}
	return []string{base}
}

// tokenUser finds a user by name or id, or the first administrator who is neither disabled
// nor locked.
func (h *app) tokenUser(ctx context.Context, name string) (string, error) {
	if name == "" {
		holders, err := store.ActiveHolders(ctx, h.store, "system", time.Now(), 1)
		if err == nil && len(holders) == 0 {
			err = errors.New("this store has no active administrator: start `postern serve` once, or name a user with --user")
		}
		if err != nil {
			return "", err
		}
		return holders[0], nil
	}
	u, err := h.store.UserByAttribute(ctx, "", "username", name)
	if schemas.HasClass(err, schemas.NotFound) {
		u, err = h.store.User(ctx, name)
	}
	if schemas.HasClass(err, schemas.NotFound) {
		return "", fmt.Errorf("--user: there is no user with the username or id %q", name)
	}
	if err != nil {
		return "", err
	}
	return u.ID, nil
}

// checkScope rejects a scope that the user's roles do not grant, or that is no permission:
// "system" includes every name below it.
func (h *app) checkScope(ctx context.Context, userID string, scope []string) error {
	has, err := h.store.Permissions(ctx, userID)
	if err != nil {
		return err
	}
	known, err := store.ExistingKeys(ctx, h.store, "permission", scope)
	if err != nil {
		return err
	}
	for _, wanted := range scope {
		if !known[wanted] {
			names, err := store.PermissionNames(ctx, h.store)
			return errors.Join(err, fmt.Errorf("--scope: there is no permission %q%s", wanted, schemas.Hint(wanted, names)))
		}
		if !slices.ContainsFunc(has, func(p string) bool { return schemas.CoversPermission(p, wanted) }) {
			return fmt.Errorf("--scope: the user does not have the permission %q; the user's roles grant: %s", wanted, strings.Join(has, " "))
		}
	}
	return nil
}
