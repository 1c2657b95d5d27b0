package server_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/postern-id/postern/server"
)

// A success counts for the period of the check, and a failure for nothing.
func TestSuccessHolds(t *testing.T) {
	runs, failure := 0, errors.New("down")
	w := newPasskeyFixture(t, func(o *server.Options) {
		o.Checks = []server.Check{{Name: "store", Run: func(context.Context) error { runs++; return failure }, Holds: time.Hour}}
	})
	expect := func(status, total int) {
		t.Helper()
		if rec := w.do("GET", "/health/readiness", ""); rec.Code != status || runs != total {
			t.Errorf("%d after %d runs, want %d after %d: %s", rec.Code, runs, status, total, rec.Body)
		}
	}
	expect(503, 1)
	expect(503, 2)
	failure = nil
	expect(200, 3)
	expect(200, 3)
}

// A check that waits has a deadline, and one that does not runs for each request.
func TestLocalCheck(t *testing.T) {
	bounded := map[string]bool{}
	check := func(name string, local bool) server.Check {
		return server.Check{Name: name, Local: local, Run: func(ctx context.Context) error {
			_, bounded[name] = ctx.Deadline()
			return nil
		}}
	}
	w := newPasskeyFixture(t, func(o *server.Options) { o.Checks = []server.Check{check("store", false), check("keys", true)} })
	if rec := w.do("GET", "/health/readiness", ""); rec.Code != 200 || !bounded["store"] || bounded["keys"] {
		t.Errorf("%d, checks with a deadline: %v", rec.Code, bounded)
	}
}
