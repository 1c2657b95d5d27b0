package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
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
		user, err := userFlags{}.kind().find(ctx, client, c.User)
		id := user.text("id")
		if uuid.MatchString(c.User) && schemas.HasClass(err, schemas.NotFound) {
			id, err = c.User, nil // a deleted user still has events
		}
		if err != nil {
			return nil, nil, err
		}
		query.Set("user", id)
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
	return []column{{"AT", "at"}, {"ACTION", "action"}, {"USER", "names.user"}, {"ACTOR", "names.actor"}, {"RESOURCE", "names.resource"}, {"APPLICATION", "names.application"}, {"DETAIL", "detail"}}
}

// maxNames bounds the requests for the names in a list.
const maxNames = 500

// eventNames finds the names of what events refer to by id.
type eventNames struct {
	client *bootstrap.Client
	known  map[string]string // by path
}

// add adds names to an event, for a table. What was deleted keeps its id, and so does what this caller may
// not read.
func (n eventNames) add(ctx context.Context, event resource) {
	actor := map[string]string{"user": "user", "application": "application"}[event.text("actor.type")]
	event["names"] = map[string]any{
		"user":        n.find(ctx, "user", event.text("userId")),
		"actor":       cmp.Or(n.find(ctx, actor, event.text("actor.id")), event.text("actor.type")),
		"resource":    n.find(ctx, event.text("resource.type"), event.text("resource.id")),
		"application": n.find(ctx, "application", event.text("applicationId")),
	}
}

func (n eventNames) find(ctx context.Context, typ, id string) string {
	folder := map[string]string{"user": "/users/", "application": "/applications/", "group": "/groups/", "role": "/roles/", "flow": "/flows/"}[typ]
	if folder == "" || !uuid.MatchString(id) {
		return id
	}
	name, found := n.known[folder+id]
	if !found && len(n.known) < maxNames {
		var r resource
		if err := n.client.Send(ctx, http.MethodGet, folder+id, nil, &r); err == nil {
			name = cmp.Or(r.text("attributes.username"), r.text("attributes.email"), r.text("handle"), r.text("name"))
		}
		n.known[folder+id] = name
	}
	return cmp.Or(name, id)
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
	names := eventNames{client, map[string]string{}}
	for _, event := range list {
		if !c.JSON {
			names.add(ctx, event)
		}
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
	started, seen, accepted, known := time.Now(), map[string]bool{}, false, map[string]string{}
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
		if seen, err = c.print(ctx, p, eventNames{client, known}, list, seen); err != nil {
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
func (c auditTailCommand) print(ctx context.Context, p program, names eventNames, list []resource, seen map[string]bool) (map[string]bool, error) {
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
			if len(names.known) >= maxNames {
				clear(names.known) // a command that runs for days
			}
			names.add(ctx, e)
			_, err = fmt.Fprintf(p.stdout, "%s  %s  user=%s actor=%s application=%s %s\n", e.text("at"), e.text("action"),
				printable(e.text("names.user")), printable(e.text("names.actor")), printable(e.text("names.application")), printable(e.text("detail")))
		}
		if err != nil {
			return nil, err
		}
	}
	return now, nil
}
