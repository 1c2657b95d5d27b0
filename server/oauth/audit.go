package oauth

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/runs"
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

// recordByClient commits an event about an action of a client, with its changes.
func (p *Provider) recordByClient(ctx context.Context, c *client, e schemas.Event, changes ...schemas.Change) error {
	return p.Record(ctx, p.byClient(c, e), changes...)
}

// byClient completes an event about what a client does.
func (p *Provider) byClient(c *client, e schemas.Event) schemas.Event {
	e.ID, e.At, e.ApplicationID = schemas.NewID(), p.now(), c.ID
	e.Actor = schemas.Actor{Type: schemas.ApplicationActor, ID: c.ID, Client: c.ID}
	return e
}

// recordRefusedClient records that a client failed to authenticate. The application is that of the
// client id, which the sender may only claim.
func (p *Provider) recordRefusedClient(ctx context.Context, sent *credentials, refusal error) error {
	reported, ok := errors.AsType[*Error](refusal)
	if !ok || reported.Code != codeInvalidClient {
		return nil
	}
	id, method := sent.id, "client_secret"
	if sent.assertion != "" {
		method = schemas.AuthMethodPrivateKeyJWT
		if _, subject, err := parseAssertion(sent.assertion); err == nil {
			id = subject
		}
	}
	if p.Observer != nil {
		p.Observer.CountRefusedClient(method)
	}
	c, err := p.findClient(ctx, id)
	if unknown, ok := errors.AsType[*Error](err); ok && reported.parameter == "" { // the reply does not reveal it
		named := *reported
		named.parameter, named.refused = unknown.parameter, unknown.refused
		reported = &named
	}
	e := p.refusal(ctx, "client.refused", nil, reported)
	e.Detail = map[string]string{"method": method, "reason": reported.reason, "parameter": reported.parameter, "refused": reported.refused}
	maps.DeleteFunc(e.Detail, func(_, value string) bool { return value == "" })
	if err == nil {
		e.ApplicationID = c.ID
	}
	return p.Record(ctx, e)
}

// recordRefusal records a request that named something that the server refuses, and returns its error. Other
// errors are not recorded: they say nothing that an administrator could correct.
func (p *Provider) recordRefusal(ctx context.Context, action string, a *schemas.Application, err error) error {
	reported, ok := errors.AsType[*Error](err)
	if !ok || reported.parameter == "" {
		return err
	}
	if failed := p.Record(ctx, p.refusal(ctx, action, a, reported)); failed != nil {
		return errors.Join(err, fmt.Errorf("record the refusal: %w", failed))
	}
	return err
}

// refusal returns the event of a refused request to the client, nil if it is not known, and adds what was refused
// to the log entry of the request.
func (p *Provider) refusal(ctx context.Context, action string, a *schemas.Application, reported *Error) schemas.Event {
	e := schemas.Event{ID: schemas.NewID(), At: p.now(), Action: action, Detail: map[string]string{"code": reported.Code, "reason": reported.Description}}
	if a != nil {
		e.ApplicationID = a.ID
	}
	if reported.parameter != "" {
		e.Detail["parameter"] = reported.parameter
		runs.EntryOf(ctx).Refused = reported.parameter + "=" + reported.refused
	}
	if reported.refused != "" {
		e.Detail["refused"] = reported.refused
	}
	return e
}

// recordRefresh records that a client gets the tokens of a user for a refresh token, once for those of
// an hour.
func (p *Provider) recordRefresh(ctx context.Context, c *client, f *schemas.RefreshFamily, scopes []string) error {
	e := p.tokensIssued(ctx, c, f, schemas.GrantRefreshToken, scopes)
	if !p.auditedClients.isFirst(f.ID, p.now()) {
		return nil
	}
	if err := p.Record(ctx, e); err != nil {
		p.auditedClients.forget(f.ID)
		return fmt.Errorf("recording that a token is issued: %w", err)
	}
	return nil
}

// tokensIssued returns the event that a client gets the tokens of a user. It completes the origin and
// the log entry of the request.
func (p *Provider) tokensIssued(ctx context.Context, c *client, f *schemas.RefreshFamily, grant string, scopes []string) schemas.Event {
	entry := runs.EntryOf(ctx)
	entry.User = f.Grant.UserID
	if o := schemas.OriginOf(ctx); o != nil {
		o.SessionID = f.Grant.SessionID
	}
	return p.byClient(c, schemas.Event{Action: "token.issued", TraceID: entry.TraceID, UserID: f.Grant.UserID,
		Resource: schemas.ResourceRef{Type: "refreshFamily", ID: f.ID},
		Detail:   map[string]string{"grant": grant, "scope": strings.Join(scopes, " ")}})
}
