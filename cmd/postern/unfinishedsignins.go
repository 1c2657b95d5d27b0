package main

import (
	"context"
	"slices"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

// pending bounds the storage that anonymous callers can use by starting sign-ins. Its zero
// value sets no bound.
type pending struct {
	runs, requests, passkeys *throttle.Pending
	repeats                  *throttle.Repeats
}

func (h *app) newPending() pending {
	c, now := h.cfg.Throttle, time.Now
	if !c.Enabled {
		return pending{}
	}
	kept := max(h.cfg.Flow.AuthenticationTTL, h.cfg.Flow.RegistrationTTL)
	return pending{
		runs:     throttle.NewPending("sign-ins", c.UnfinishedRuns, kept, now),
		requests: throttle.NewPending("authorization requests", c.UnfinishedRequests, oauth.RequestTTL, now),
		passkeys: throttle.NewPending("passkey sign-ins", c.UnfinishedPasskeys, h.cfg.Passkey.Timeout, now),
		repeats:  throttle.NewRepeats(now),
	}
}

// abandonedAfter is how long an unanswered run is kept while storage is nearly exhausted.
// Browsers that return later start again.
const abandonedAfter = 5 * time.Minute

// countPending frees storage if it is nearly exhausted, and counts the rows of all instances.
func (h *app) countPending(ctx context.Context, now time.Time) error {
	p := h.pending
	if p.runs.Crowded() {
		if _, err := h.store.TrimRuns(ctx, now.Add(-abandonedAfter)); err != nil {
			return err
		}
	}
	limit := store.Pending{Runs: p.runs.Limit(), AuthRequests: p.requests.Limit(), PasskeySessions: p.passkeys.Limit()}
	n, err := h.store.CountPending(ctx, now, limit)
	if err != nil {
		return err
	}
	p.runs.Observe(n.Runs)
	p.requests.Observe(n.AuthRequests)
	p.passkeys.Observe(n.PasskeySessions)
	return nil
}

// boundedRuns bounds the number of unfinished runs, and of authorization requests. A started run is never rejected.
type boundedRuns struct {
	engine.Runs
	pending
}

// Commit is Runs.Commit. It omits repeated events of failures.
func (b boundedRuns) Commit(ctx context.Context, run *schemas.Run, changes []schemas.Change) error {
	commit := func() error {
		return b.repeats.Commit(ctx, changes, func(kept []schemas.Change) error { return b.Runs.Commit(ctx, run, kept) })
	}
	if slices.ContainsFunc(changes, isAuthRequest) {
		store := commit
		commit = func() error { return b.requests.Add(ctx, store) }
	}
	begins, over := run.Revision == 1, run.Status != schemas.Incomplete
	if begins && !over {
		return b.runs.Add(ctx, commit)
	}
	err := commit()
	if !begins && over && err == nil {
		b.runs.Release(ctx)
	}
	return err
}

func isAuthRequest(change schemas.Change) bool {
	_, is := change.(schemas.CreateAuthRequest)
	return is
}

// boundedRequests bounds the number of unanswered authorization requests, together with boundedRuns.
type boundedRequests struct {
	oauth.Store
	*throttle.Pending
}

// IssueCode is Store.IssueCode.
func (b boundedRequests) IssueCode(ctx context.Context, c schemas.IssuedCode) (r *schemas.AuthRequest, bound bool, err error) {
	if r, bound, err = b.Store.IssueCode(ctx, c); err == nil {
		b.Release(ctx)
	}
	return r, bound, err
}

// boundedSessions bounds the number of unfinished passkey sign-ins. Registrations require a
// user's token, and each user has at most one.
type boundedSessions struct {
	store.SealedSessions
	*throttle.Pending
}

// PutPasskeySession is Store.PutPasskeySession.
func (b boundedSessions) PutPasskeySession(ctx context.Context, p schemas.PasskeySession) error {
	if p.Ceremony != schemas.AuthenticationCeremony {
		return b.SealedSessions.PutPasskeySession(ctx, p)
	}
	return b.Add(ctx, func() error { return b.SealedSessions.PutPasskeySession(ctx, p) })
}

// TakePasskeySession is Store.TakePasskeySession.
func (b boundedSessions) TakePasskeySession(ctx context.Context, tokenHash []byte, now time.Time) (*schemas.PasskeySession, error) {
	p, err := b.SealedSessions.TakePasskeySession(ctx, tokenHash, now)
	if err == nil && p.Ceremony == schemas.AuthenticationCeremony {
		b.Release(ctx)
	}
	return p, err
}
