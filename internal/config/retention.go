package config

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	day           = 24 * time.Hour
	mostRetention = 100 * 366 * day // longer ones are slips of the pen
)

// Retention is how long something is kept, 0 for ever. It is written as text, in days
// or as a Duration: 400d, 9600h.
type Retention time.Duration

// ParseRetention reads a retention: 0, or a day at least.
func ParseRetention(text string) (Retention, error) {
	if text == "0" {
		return 0, nil
	}
	d, err := parseDays(text)
	if err != nil || d < day || d > mostRetention {
		return 0, fmt.Errorf("expected a number of days such as 400d, or 0 for ever, got %.40q", text)
	}
	return Retention(d), nil
}

func parseDays(text string) (time.Duration, error) {
	days, ok := strings.CutSuffix(text, "d")
	if !ok {
		return time.ParseDuration(text)
	}
	n, err := strconv.ParseUint(days, 10, 16)
	return time.Duration(n) * day, err
}

// String writes whole days as such, and other durations as time.Duration does.
func (r Retention) String() string {
	switch d := time.Duration(r); {
	case d == 0:
		return "0"
	case d%day == 0:
		return strconv.Itoa(int(d/day)) + "d"
	default:
		return d.String()
	}
}

// MarshalJSON writes the text.
func (r Retention) MarshalJSON() ([]byte, error) { return json.Marshal(r.String()) }

// UnmarshalJSON reads the text, or the number 0.
func (r *Retention) UnmarshalJSON(data []byte) (err error) {
	*r, err = ParseRetention(strings.Trim(string(data), `"`))
	return err
}
