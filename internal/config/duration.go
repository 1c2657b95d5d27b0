package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// day is the unit d of durations: 24 hours, regardless of the calendar.
const day = 24 * time.Hour

// Limits of durations. Longer ones are typing errors.
const (
	maxDuration  = 366 * day
	maxRetention = 100 * maxDuration
)

// Duration is the flag of a command for a duration that is written as in the configuration.
type Duration time.Duration

// UnmarshalText reads the text of a command's flag.
func (d *Duration) UnmarshalText(text []byte) error {
	read, err := ParseDuration(string(text))
	*d = Duration(read)
	return err
}

// ParseDuration reads a positive duration of at most 366 days: 30m, 1h30m, 90d.
func ParseDuration(text string) (time.Duration, error) {
	d, err := parseDays(text)
	if err != nil || d <= 0 || d > maxDuration {
		return 0, fmt.Errorf("expected a positive duration of at most 366d, such as 30m or 90d, got %.40q", text)
	}
	return d, nil
}

// parsePeriod reads a duration of at most 366 days, or 0 for none.
func parsePeriod(text string) (time.Duration, error) {
	if d, err := parseDays(text); err == nil && d == 0 {
		return 0, nil
	}
	return ParseDuration(text)
}

// parseRetention reads a retention time: 0 for no limit, or at least a day.
func parseRetention(text string) (time.Duration, error) {
	d, err := parseDays(text)
	if text != "0" && (err != nil || d < day || d > maxRetention) {
		return 0, fmt.Errorf("expected a duration of at least a day such as 400d, or 0 for no limit, got %.40q", text)
	}
	return d, nil
}

// parseDays is time.ParseDuration with the additional unit d, which comes first: 90d, 1d12h.
func parseDays(text string) (time.Duration, error) {
	days, rest, found := strings.Cut(text, "d")
	if !found {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseFloat(days, 64)
	if err != nil || n < 0 || n > float64(maxRetention/day) {
		return 0, fmt.Errorf("expected a number of days, got %.40q", days)
	}
	d := time.Duration(n * float64(day))
	if rest == "" {
		return d, nil
	}
	more, err := time.ParseDuration(rest)
	return d + more, err
}
