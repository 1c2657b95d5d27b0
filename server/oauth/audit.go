package oauth

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/postern-id/postern/schemas"
)

// auditPeriod is the time in which a client's tokens cause one event. An event for each token would
// cost more than signing it, and a client with a thousand requests per second would hide the rest
// of the audit log.
const auditPeriod = time.Hour

// maxAuditedClients is the number of remembered clients. With more, some have several events per
// period.
const maxAuditedClients = 10_000

// auditedClients remembers which clients have an event already.
type auditedClients struct {
	mu    sync.Mutex
	until map[string]time.Time // by client id
}

// isFirst reports whether the client has no event yet, and remembers it.
func (i *auditedClients) isFirst(clientID string, now time.Time) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if now.Before(i.until[clientID]) {
		return false
	}
	if i.until == nil || len(i.until) >= maxAuditedClients {
		i.until = map[string]time.Time{}
	}
	i.until[clientID] = now.Add(auditPeriod)
	return true
}

func (i *auditedClients) forget(clientID string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.until, clientID)
}

// audit records that a client gets tokens on its own behalf: once for the tokens of an hour, before
// the first reply.
func (p *Provider) audit(ctx context.Context, c *client, scope, audience []string) error {
	if !p.auditedClients.isFirst(c.ClientID, p.now()) {
		return nil
	}
	err := p.recordByClient(ctx, c, schemas.Event{
		Action: "token.issued",
		Detail: map[string]string{"grant": schemas.GrantClientCredentials, "scope": strings.Join(scope, " "), "audience": strings.Join(audience, " ")},
	})
	if err != nil {
		p.auditedClients.forget(c.ClientID)
		return fmt.Errorf("recording that a token is issued: %w", err)
	}
	return nil
}

// recordByClient commits an event about what a client does, with its changes.
func (p *Provider) recordByClient(ctx context.Context, c *client, e schemas.Event, changes ...schemas.Change) error {
	e.ID, e.At, e.ApplicationID = schemas.NewID(), p.now(), c.ID
	e.Actor = schemas.Actor{Type: schemas.ApplicationActor, ID: c.ID, Client: c.ID}
	return p.Record(ctx, e, changes...)
}
