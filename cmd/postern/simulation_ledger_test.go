package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
)

// ledger is what must be stored: events, and messages to the relying party.
type ledger struct {
	counts map[string]*counted

	queued   map[string]schemas.SessionEnd // by id of the delivery
	ids      map[string]string             // of deliveries, by session
	accepted map[string]bool               // by id of the delivery
	settled  map[string]bool
}

// counted are the requests with a result.
type counted struct{ done, unknown int }

func newLedger() ledger {
	return ledger{counts: map[string]*counted{}, queued: map[string]schemas.SessionEnd{}, ids: map[string]string{}, accepted: map[string]bool{}, settled: map[string]bool{}}
}

// count counts a request that records an event.
func (l *ledger) count(action, result string) {
	n := l.counts[action]
	if n == nil {
		n = &counted{}
		l.counts[action] = n
	}
	switch result {
	case done:
		n.done++
	case unknown:
		n.unknown++
	}
}

// stored returns the queued messages.
func (l *ledger) stored(w *world) []schemas.Delivery {
	found, err := w.app.store.ExpiredDeliveries(context.Background(), time.Now().Add(1000*time.Hour), 10_000)
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// see notes the messages that are queued. A session has at most one.
func (l *ledger) see(w *world) {
	for _, d := range l.stored(w) {
		if d.Kind != schemas.LogoutDelivery || l.queued[d.ID].SessionID != "" {
			continue
		}
		var end schemas.SessionEnd
		if err := json.Unmarshal(d.Body, &end); err != nil {
			w.fail("the body of a delivery: %v", err)
			return
		}
		if l.ids[end.SessionID] != "" {
			w.fail("the end of a session is notified by two messages")
		}
		l.queued[d.ID], l.ids[end.SessionID] = end, d.ID
	}
}

// receive notes an attempt.
func (l *ledger) receive(w *world, d schemas.Delivery) {
	switch {
	case l.queued[d.ID].SessionID == "":
		w.fail("a message arrived that was never queued")
	case l.settled[d.ID]:
		w.fail("a message arrived again after it was removed from the queue")
	}
}

// settle makes sure that only messages that arrived or were given up have left the queue.
func (l *ledger) settle(w *world) {
	left := map[string]bool{}
	for _, d := range l.stored(w) {
		left[d.ID] = true
	}
	for id := range l.queued {
		if left[id] || l.settled[id] {
			continue
		}
		l.settled[id] = true
		if !l.accepted[id] && w.countStored(`SELECT count(*) FROM events WHERE action = 'delivery.given_up' AND resource_id = ?`, id) != 1 {
			w.fail("a message left the queue, and neither arrived nor was given up")
		}
	}
}

// checkDeliveries makes sure that the relying party is notified of each session that certainly
// ended before its time, if it got tokens in it.
func (w *world) checkDeliveries() {
	w.ledger.see(w)
	for _, u := range w.users {
		for _, g := range u.grants {
			if sid := sessionOf(g.id); sid != "" && certainlyEnded(u.states, g.session) && w.ledger.ids[sid] == "" {
				w.fail("%s: session %d ended, and no message notifies the relying party", u.name, g.session)
			}
		}
	}
}

// certainlyEnded reports whether a session that the relying party joined has ended in all states.
// The model marks sessions that end by a request only.
func certainlyEnded(states []account, session int) bool {
	for _, a := range states {
		if s := a.session(session); !s.Ended || !s.Joined {
			return false
		}
	}
	return true
}

// sessionOf returns the sid of an ID token.
func sessionOf(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct{ SID string }
	if err != nil || json.Unmarshal(text, &claims) != nil {
		return ""
	}
	return claims.SID
}
