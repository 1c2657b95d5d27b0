package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/config"
)

// Durations in the log have a unit in both formats.
func TestLogUnits(t *testing.T) {
	for format, want := range map[string]string{"json": `"durationSeconds":0.0015`, "text": "duration=1.5ms"} {
		var lines bytes.Buffer
		newLog(&lines, config.Log{Format: format, Level: "info"}).Info("request", "duration", 1500*time.Microsecond)
		if !strings.Contains(lines.String(), want) {
			t.Errorf("%s: %s, expected %s", format, lines.String(), want)
		}
	}
}
