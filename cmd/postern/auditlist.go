package main

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/schemas"
)

// eventFilter selects events.
type eventFilter struct {
	Action      string `help:"Only events with this action, such as user.created."`
	User        string `help:"Only events about this user: an id, a username or a mail address."`
	Actor       string `placeholder:"ID" help:"Only events that this user or client caused."`
	Application string `placeholder:"ID" help:"Only events of this application."`
	Failures    bool   `help:"Only failures and refusals."`
	output
	apiServer
}

// connect connects to the server and returns the parameters of the request.
func (c eventFilter) connect(ctx context.Context, p program) (*bootstrap.Client, url.Values, error) {
	client, err := c.apiServer.connect(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	query := url.Values{}
	if c.User != "" {
		user, err := find(ctx, client, "user", "/users", "users", c.User, "username", "email")
		if err != nil {
			return nil, nil, err
		}
		query.Set("user", user.text("id"))
	}
	for name, text := range map[string]string{"action": c.Action, "actor": c.Actor, "application": c.Application} {
		if text != "" {
			query.Set(name, text)
		}
	}
	if c.Failures {
		query.Set("failures", "true")
	}
	return client, query, nil
}

func eventColumns() []column {
	return []column{{"AT", "at"}, {"ACTION", "action"}, {"USER", "userId"}, {"ACTOR", "actor.id"}, {"RESOURCE", "resource.id"}, {"APPLICATION", "applicationId"}, {"DETAIL", "detail"}}
}

type auditListCommand struct {
	Since config.Duration `placeholder:"DURATION" help:"Only events of this last period, such as 24h."`
	Limit int             `default:"100" help:"The most events to list."`
	eventFilter
}

// Run lists events.
func (c auditListCommand) Run(ctx context.Context, p program) error {
	client, query, err := c.connect(ctx, p)
	if err != nil {
		return err
	}
	if c.Since > 0 {
		query.Set("from", time.Now().Add(-time.Duration(c.Since)).UTC().Format(time.RFC3339))
	}
	list, err := listPages(ctx, client, "/audit-events", "auditEvents", query, c.Limit)
	if err != nil {
		return err
	}
	return c.list(p.stdout, list, eventColumns()...)
}

// tailOverlap is how far a request of tail reaches back: events of concurrent transactions become
// visible later than they are recorded.
const tailOverlap = 10 * time.Second

type auditTailCommand struct {
	Interval config.Duration `default:"2s" help:"The time between two requests."`
	eventFilter
}

// Run prints events until it is interrupted, which is no error. When the token has expired, it connects again.
func (c auditTailCommand) Run(ctx context.Context, p program) error {
	client, query, err := c.connect(ctx, p)
	if err != nil {
		return err
	}
	started, seen, accepted := time.Now(), map[string]bool{}, false
	for {
		from := time.Now().Add(-time.Duration(c.Interval) - tailOverlap)
		if from.Before(started) {
			from = started
		}
		query.Set("from", from.UTC().Format(time.RFC3339Nano))
		list, err := listPages(ctx, client, "/audit-events", "auditEvents", query, 10_000)
		if accepted && schemas.HasClass(err, schemas.Unauthenticated) {
			accepted = false
			if client, _, err = c.connect(ctx, p); err == nil {
				continue
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		accepted = true
		if seen, err = c.print(p, list, seen); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Duration(c.Interval)):
		}
	}
}

// print prints the events that were not seen before, oldest first, and returns those of the list.
func (c auditTailCommand) print(p program, list []resource, seen map[string]bool) (map[string]bool, error) {
	now := map[string]bool{}
	for _, e := range slices.Backward(list) {
		id := e.text("id")
		if now[id] = true; seen[id] {
			continue
		}
		var err error
		if c.JSON {
			err = writeJSON(p.stdout, e)
		} else {
			_, err = fmt.Fprintf(p.stdout, "%s  %s  user=%s actor=%s application=%s %s\n", e.text("at"), e.text("action"), e.text("userId"), e.text("actor.id"), e.text("applicationId"), printable(e.text("detail")))
		}
		if err != nil {
			return nil, err
		}
	}
	return now, nil
}
