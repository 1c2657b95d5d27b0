// Package signins explains to administrators why a user could not sign in: the state of the account,
// and the latest attempts in the audit log, step by step. Addresses and browsers stay in the audit
// log.
package signins

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Report explains the sign-ins of a user.
type Report struct {
	State []Sentence `json:"state"` // of the account, now
	// BlockedAt is when the last of the permitted guesses at a password or code of the account failed,
	// nil if none is blocked now.
	BlockedAt *time.Time `json:"blockedAt,omitempty"`
	// Attempts are the latest attempts, first those that did not sign the user in, each newest first; nil if the caller may not read the audit log.
	Attempts []Attempt `json:"attempts,omitzero"`
}

// Attempt is a run, or a refusal outside a run.
type Attempt struct {
	At              time.Time `json:"at"`
	SignedIn        bool      `json:"signedIn"`
	ExecutionDigest string    `json:"executionDigest,omitempty"` // "" for a refusal outside a run
	TraceID         string    `json:"traceId,omitempty"`         // of its last request
	ApplicationID   string    `json:"applicationId,omitempty"`
	Steps           []Step    `json:"steps"` // in the order of time
}

// Step is what an event means. The last step of an unfinished run has no event.
type Step struct {
	At        time.Time  `json:"at"`
	Action    string     `json:"action,omitempty"`
	Sentences []Sentence `json:"sentences"`
	// Code is the reason or the error code, "" for none.
	Code string `json:"code,omitempty"`
	// The place in the flow, for failures.
	Flow        string `json:"flow,omitempty"` // the handle
	FlowID      string `json:"flowId,omitempty"`
	FlowVersion string `json:"flowVersion,omitempty"`
	Node        string `json:"node,omitempty"`
}

// Log reads the audit log.
type Log interface {
	Events(ctx context.Context, q schemas.EventQuery) ([]schemas.Event, error)
}

// Limits of a report: each run takes a query.
const (
	mostAttempts = 5
	mostFailures = 20
	mostSteps    = 100

	// longestRun bounds the search for the events of a run, which no index has.
	longestRun = 24 * time.Hour
)

// failures lists the actions of the failures that are about a sign-in.
func failures() []string {
	return []string{"attempt.failed", "consent.denied", "flow.failed", "http_request.failed", "identity.refused", "passkey.refused", "user.sign_in_refused"}
}

// Explain adds the latest attempts of the user to the report.
func (r *Report) Explain(ctx context.Context, log Log, userID string) error {
	r.Attempts = []Attempt{}
	latest, err := readLatest(ctx, log, userID)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, e := range latest {
		if len(r.Attempts) == mostAttempts {
			break
		}
		if e.ExecutionDigest == "" {
			r.Attempts = append(r.Attempts, newAttempt([]schemas.Event{e}, userID))
			continue
		}
		if seen[e.ExecutionDigest] {
			continue
		}
		seen[e.ExecutionDigest] = true
		run, err := log.Events(ctx, schemas.EventQuery{ExecutionDigest: e.ExecutionDigest, From: e.At.Add(-longestRun), To: e.At.Add(longestRun), Limit: mostSteps})
		if err != nil {
			return err
		}
		if len(run) == 0 {
			continue // the retention removed its events meanwhile
		}
		slices.Reverse(run)
		r.Attempts = append(r.Attempts, newAttempt(run, userID))
	}
	slices.SortStableFunc(r.Attempts, func(a, b Attempt) int { return cmp.Compare(order(a), order(b)) })
	return nil
}

// order returns 0 for an attempt that did not sign the user in, and 1 for another.
func order(a Attempt) int {
	if a.SignedIn {
		return 1
	}
	return 0
}

// readLatest returns the latest events of the user that attempts are found by, newest first.
func readLatest(ctx context.Context, log Log, userID string) (all []schemas.Event, err error) {
	for _, q := range []schemas.EventQuery{
		{UserID: userID, Failures: true, Limit: mostFailures},
		{UserID: userID, Action: "user.signed_in", Limit: mostAttempts},
		{UserID: userID, Action: "email_code.not_sent", Limit: mostAttempts},
		{UserID: userID, Action: "consent.missing", Limit: mostAttempts},
	} {
		found, err := log.Events(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, e := range found {
			if !q.Failures || slices.Contains(failures(), e.Action) {
				all = append(all, e)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b schemas.Event) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.ID, a.ID)) })
	return all, nil
}

// AddBlocked adds the passwords and codes that new browsers cannot use, because too many guesses have
// failed.
func (r *Report) AddBlocked(blocked []schemas.BlockedSecret) {
	for _, b := range blocked {
		r.State = append(r.State, Sentence{blockedTexts()[b.Secret], map[string]string{"time": b.At.UTC().Format(time.RFC3339)}})
		if r.BlockedAt == nil || b.At.After(*r.BlockedAt) {
			r.BlockedAt = &b.At
		}
	}
}

// newAttempt explains the events of a run, in the order of time. Events of other users in the run are
// left out; those without a user are from before the run had one, or about an unknown name.
func newAttempt(run []schemas.Event, userID string) Attempt {
	a := Attempt{At: run[0].At, ExecutionDigest: run[0].ExecutionDigest, TraceID: run[len(run)-1].TraceID, ApplicationID: run[len(run)-1].ApplicationID, Steps: []Step{}}
	ended, other := false, false
	for _, e := range run {
		other = e.UserID != "" && e.UserID != userID
		if other || repeatsStep(run, e) {
			continue
		}
		ended = ended || ends(e)
		a.SignedIn = a.SignedIn || e.Action == "user.signed_in"
		a.Steps = append(a.Steps, newStep(e))
	}
	last := Step{At: run[len(run)-1].At}
	switch {
	case a.ExecutionDigest == "" || ended:
		return a
	case other:
		last.Sentences = []Sentence{{Text: signedInAs}}
	default:
		last.Sentences = []Sentence{{Text: nothingMore}}
	}
	a.Steps = append(a.Steps, last)
	return a
}

// repeatsStep reports whether another event of the same step describes the failure better than
// attempt.failed does.
func repeatsStep(run []schemas.Event, e schemas.Event) bool {
	return e.Action == "attempt.failed" && e.Detail["end"] == "" && slices.ContainsFunc(run, func(other schemas.Event) bool {
		return other.At.Equal(e.At) && slices.Contains([]string{"identity.refused", "passkey.refused", "user.sign_in_refused"}, other.Action)
	})
}

// ends reports whether nothing follows the event in its run. A refused account does not end a run at
// a password, as the reply must not differ from that to a wrong one.
func ends(e schemas.Event) bool {
	switch e.Action {
	case "user.signed_in", "flow.failed", "consent.denied", "consent.missing", "user.sign_in_canceled":
		return true
	case "user.sign_in_refused":
		isAccount := slices.Contains([]string{schemas.CodeAccountDisabled, schemas.CodeAccountLocked}, e.Detail["reason"])
		return isAccount && e.Detail["kind"] != "password-authenticate" || e.Detail["end"] != ""
	}
	return e.Detail["end"] != ""
}
