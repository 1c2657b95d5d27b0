package config

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxDuration is the longest duration that can be configured. Longer ones are
// slips of the pen.
const maxDuration = 366 * 24 * time.Hour

// day is the unit d of durations: 24 hours, whatever the calendar says.
const day = 24 * time.Hour

// Duration is a span of time that is written as text: 30m, 1h30m, 90d.
type Duration time.Duration

// ParseDuration reads a duration of more than nothing and at most 366 days.
func ParseDuration(text string) (Duration, error) {
	d, err := parseDuration(text)
	if err != nil || d <= 0 || d > maxDuration {
		return 0, fmt.Errorf("expected a duration of more than 0s and at most %s, such as 30m or 90d, got %.40q", Duration(maxDuration), text)
	}
	return Duration(d), nil
}

// maxDays bounds the days that parseDuration computes with: a century.
const maxDays = 100 * 366

// parseDuration is time.ParseDuration with the further unit d, which stands before the
// others: 90d, 1d12h.
func parseDuration(text string) (time.Duration, error) {
	days, rest, found := strings.Cut(text, "d")
	if !found {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseFloat(days, 64)
	if err != nil || n < 0 || n > maxDays {
		return 0, fmt.Errorf("expected at most %d days, got %.40q", maxDays, days)
	}
	d := time.Duration(n * float64(day))
	if rest == "" {
		return d, nil
	}
	more, err := time.ParseDuration(rest)
	return d + more, err
}

// String writes whole days as such, and other durations as time.Duration does.
func (d Duration) String() string {
	if d != 0 && time.Duration(d)%day == 0 {
		return strconv.FormatInt(int64(time.Duration(d)/day), 10) + "d"
	}
	return time.Duration(d).String()
}

// UnmarshalText reads the text of a command's flag.
func (d *Duration) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDuration(string(text))
	return err
}

// MarshalJSON writes the text.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads the text.
func (d *Duration) UnmarshalJSON(data []byte) (err error) {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("expected a duration such as 30m or 90d, got %.40s", data)
	}
	return d.UnmarshalText([]byte(text))
}
