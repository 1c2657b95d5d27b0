package main

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

// rowSink discards rows.
type rowSink struct{}

func (rowSink) Table(string, []string) error { return nil }
func (rowSink) Row([]any) error              { return nil }

// A command reports its progress after two seconds: in lines every ten seconds, on a terminal in one
// line that changes every second and is removed at the end.
func TestProgress(t *testing.T) {
	for _, test := range []struct {
		name     string
		terminal bool
		takes    time.Duration
		want     string
	}{
		{"short", false, 1900 * time.Millisecond, ""},
		{"lines", false, 13 * time.Second, "reading: 1 rows (2s)\nwriting: 2 rows (12s)\n"},
		{"short on a terminal", true, 1900 * time.Millisecond, ""},
		{"terminal", true, 3500 * time.Millisecond, "\r\x1b[Kreading: 1 rows (2s)\r\x1b[Kwriting: 2 rows (3s)\r\x1b[K"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				r := newProgress(&out, test.terminal, "reading")
				rows := r.counted(rowSink{})
				_ = rows.Row(nil)
				time.Sleep(min(test.takes, 2500*time.Millisecond))
				r.next("writing")
				_, _ = rows.Row(nil), rows.Row(nil)
				time.Sleep(test.takes - min(test.takes, 2500*time.Millisecond))
				r.stop()
				r.stop() // nothing
				if out.String() != test.want {
					t.Errorf("got %q, want %q", out.String(), test.want)
				}
			})
		})
	}
}

// A file is no terminal, so that a log of a command contains no control characters.
func TestProgressOfFile(t *testing.T) {
	var out bytes.Buffer
	r := program{stderr: &out}.startProgress("x")
	defer r.stop()
	if r.terminal {
		t.Error("a buffer counts as a terminal")
	}
}
