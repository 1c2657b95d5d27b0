package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// maxRetention is the longest retention that can be configured. Longer ones are slips
// of the pen.
const maxRetention = maxDays * day

// Retention is how long something is kept, 0 for ever. It is written as a Duration.
type Retention time.Duration

// ParseRetention reads a retention: 0, or a day at least.
func ParseRetention(text string) (Retention, error) {
	if text == "0" {
		return 0, nil
	}
	d, err := parseDuration(text)
	if err != nil || d < day || d > maxRetention {
		return 0, fmt.Errorf("expected a duration of at least a day such as 400d, or 0 for no limit, got %.40q", text)
	}
	return Retention(d), nil
}

// String writes 0, or what Duration.String does.
func (r Retention) String() string {
	if r == 0 {
		return "0"
	}
	return Duration(r).String()
}

// MarshalJSON writes the text.
func (r Retention) MarshalJSON() ([]byte, error) { return json.Marshal(r.String()) }

// UnmarshalJSON reads the text, or the number 0.
func (r *Retention) UnmarshalJSON(data []byte) (err error) {
	*r, err = ParseRetention(strings.Trim(string(data), `"`))
	return err
}
