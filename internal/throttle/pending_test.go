package throttle

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Tests of finding 17 of the security audit of November 2026.

// fullTable is a Pending with a clock that only tests move.
type fullTable struct {
	*Pending
	now time.Time
}

func newFullTable(capacity int) *fullTable {
	h := &fullTable{now: time.Unix(1_800_000_000, 0)}
	h.Pending = NewPending("sign-ins", capacity, 20*time.Minute, func() time.Time { return h.now })
	return h
}

func at(format string, args ...any) context.Context {
	return NewContext(context.Background(), NetworkOf(netip.MustParseAddr(fmt.Sprintf(format, args...))))
}

// fill admits rows until one is rejected, and returns their number.
func (h *fullTable) fill(ctx context.Context) (n int, err error) {
	for n = 0; n <= h.capacity; n++ {
		if err = h.Admit(ctx); err != nil {
			return n, err
		}
	}
	return n, nil
}

func TestAudit17OneNetworkTakesAShareOnly(t *testing.T) {
	h := newFullTable(10000)
	n, err := h.fill(at("203.0.113.7"))
	if !schemas.HasClass(err, schemas.Throttled) || schemas.AsError(err).RetryAfter <= 0 || n != 2000 {
		t.Errorf("one network has %d of 10,000 rows: %v", n, err)
	}
	// The bound holds however many addresses the network uses.
	total := 0
	for i := range 256 {
		n, _ := h.fill(at("198.51.100.%d", i))
		total += n
	}
	if total > 3000 {
		t.Errorf("a /24 has %d of the 8,000 rows that were left", total)
	}
	for i := range 200 {
		if err := h.Admit(at("192.0.%d.1", i)); err != nil {
			t.Fatalf("a network that floods nothing is refused: %v", err)
		}
	}
}

func TestAudit17KnownDevicesHaveAReserve(t *testing.T) {
	h := newFullTable(4000)
	h.Observe(4000) // by other instances
	err := h.Admit(at("192.0.2.1"))
	if !schemas.HasClass(err, schemas.Unavailable) || schemas.AsError(err).RetryAfter <= 0 {
		t.Errorf("an unknown caller gets %v", err)
	}
	known, stale := &Device{}, &Device{}
	known.SignedIn("ada", byPassword(), h.now)
	stale.SignedIn("bob", byPassword(), h.now.Add(-DeviceTTL))
	for i := range 50 {
		if err := h.Admit(WithDevice(at("192.0.2.1"), known)); err != nil {
			t.Fatalf("sign-in %d of a device that is known: %v", i, err)
		}
	}
	for name, device := range map[string]*Device{"a new one": {}, "one of long ago": stale, "none": nil} {
		if h.Admit(WithDevice(at("192.0.2.1"), device)) == nil {
			t.Errorf("%s is admitted", name)
		}
	}
	// One device does not use up the reserve of all devices.
	if n, err := h.fill(WithDevice(at("192.0.2.1"), known)); err == nil || n > 500 {
		t.Errorf("one device has %d rows more", n)
	}
	other := &Device{}
	other.SignedIn("eve", byPassword(), h.now)
	if err := h.Admit(WithDevice(at("192.0.2.1"), other)); err != nil {
		t.Errorf("another device: %v", err)
	}
	h.Observe(100)
	if err := h.Admit(at("192.0.2.1")); err != nil {
		t.Errorf("after the database was counted again: %v", err)
	}
}

// Finished rows are not pending, and unfinished ones are forgotten when they have expired.
func TestAudit17FinishedAndExpiredRowsDoNotCount(t *testing.T) {
	h := newFullTable(1000)
	office := at("2001:db8::1")
	for range 5000 {
		if err := h.Admit(office); err != nil {
			t.Fatal(err)
		}
		h.Release(office)
	}
	n, _ := h.fill(office)
	if n != 200 || h.Admit(office) == nil {
		t.Errorf("%d rows are admitted", n)
	}
	h.now = h.now.Add(26 * time.Minute)
	h.Observe(0)
	if n, _ := h.fill(office); n != 200 {
		t.Errorf("%d rows are admitted once the first have expired", n)
	}
	h.now = h.now.Add(1000 * time.Hour)
	h.Observe(0)
	if n, _ := h.fill(office); n != 200 {
		t.Errorf("%d rows are admitted after a long time", n)
	}
	if h.Crowded() {
		t.Error("a fifth is taken for a half")
	}
	h.Observe(501)
	if !h.Crowded() || h.Limit() != 1250 {
		t.Errorf("half is free, and %d rows are counted", h.Limit())
	}
	var none *Pending
	if none.Admit(office) != nil || none.Crowded() || none.Limit() != 0 || NewPending("x", 0, time.Minute, time.Now) != nil {
		t.Error("there is a bound where none was set")
	}
	none.Release(office)
	none.Observe(7)
}

// Audit events grow logarithmically with the failures of one network, and are bounded in
// the number of networks.
func TestAudit17RepeatedFailuresAreFewEvents(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	r := NewRepeats(func() time.Time { return now })
	fail := func(ctx context.Context, user, app string) []schemas.Change {
		return r.thin(ctx, []schemas.Change{schemas.VerifyEmail{}, schemas.RecordEvent{Event: schemas.Event{
			Action: "attempt.failed", UserID: user, ApplicationID: app, Detail: map[string]string{"kind": "x"}}}})
	}
	var last string
	events := 0
	for range 1024 {
		changes := fail(at("203.0.113.7"), "ada", "shop")
		if len(changes) == 2 {
			events++
			last = changes[1].(schemas.RecordEvent).Event.Detail["repeated"]
		}
	}
	if events != 11 || last != "1024" {
		t.Errorf("1,024 failures of a network are %d events, and the last says %q", events, last)
	}
	if len(fail(at("203.0.113.8"), "ada", "shop")) != 1 || len(fail(at("203.0.113.7"), "bob", "shop")) != 2 {
		t.Error("what others fail at an account that is attacked is recorded, or what an attacker fails at another is not")
	}
	events = 0
	for i := range 60000 {
		events += len(fail(at("10.%d.%d.%d", i>>16, i>>8&255, i&255), "", "shop")) - 1
	}
	if events < 1000 || events > 1100 {
		t.Errorf("60,000 networks that fail once each at unknown names are %d events", events)
	}
	if got := r.thin(at("203.0.113.7"), []schemas.Change{schemas.RecordEvent{Event: schemas.Event{Action: "user.signed_in"}}}); len(got) != 1 {
		t.Error("a sign-in is not recorded")
	}
	if len(fail(at("203.0.113.9"), "eve", "shop")) != 2 {
		t.Error("the first failure at an account is not recorded in a flood")
	}
	if len(r.counts) > repeatsKeys+1 {
		t.Errorf("%d keys are kept", len(r.counts))
	}
	now = now.Add(time.Hour)
	if changes := fail(at("203.0.113.7"), "ada", "shop"); len(changes) != 2 || changes[1].(schemas.RecordEvent).Event.Detail["repeated"] != "" {
		t.Errorf("an hour later: %v", changes)
	}
	var none *Repeats
	if err := none.Commit(at("203.0.113.7"), []schemas.Change{schemas.RecordEvent{}}, func(kept []schemas.Change) error {
		if len(kept) != 1 {
			t.Error("without Repeats not everything is recorded")
		}
		return io.EOF
	}); err != io.EOF {
		t.Errorf("without Repeats the error is %v", err)
	}
}

// A failure whose commit fails is not counted: the next commit records it as the first.
func TestRepeatsForgetFailedCommits(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	r := NewRepeats(func() time.Time { return now })
	changes := []schemas.Change{schemas.VerifyEmail{}, schemas.RecordEvent{Event: schemas.Event{Action: "attempt.failed", UserID: "ada"}}}
	for i, want := range []string{"", "2", "none", "4"} {
		for _, failure := range []error{io.EOF, io.EOF, io.EOF, nil} {
			got := "none"
			err := r.Commit(at("203.0.113.7"), changes, func(kept []schemas.Change) error {
				if len(kept) == 2 {
					got = kept[1].(schemas.RecordEvent).Event.Detail["repeated"]
				}
				return failure
			})
			if err != failure || got != want {
				t.Errorf("failure %d is recorded as repeated %q, expected %q; the error is %v", i+1, got, want, err)
			}
		}
	}
	if err := r.Commit(at("203.0.113.7"), changes, func([]schemas.Change) error {
		now = now.Add(time.Hour)
		r.Record(at("203.0.113.8"), "eve") // begins the next hour
		return io.EOF
	}); err != io.EOF {
		t.Error(err)
	}
	for k, n := range r.counts {
		if n < 0 || n > 1 {
			t.Errorf("the count of %v is %d", k, n)
		}
	}
}
