package config

import (
	"encoding/json"
	"fmt"
	"time"
)

// longest is the longest duration that can be configured. Longer ones are
// slips of the pen.
const longest = 366 * 24 * time.Hour

// Duration is a span of time that is written as text: 30m, 1h30m.
type Duration time.Duration

// ParseDuration reads a duration of more than nothing and at most a year.
func ParseDuration(text string) (Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > longest {
		return 0, fmt.Errorf("expected a duration of more than 0s and at most %v, such as 30m, got %.40q", longest, text)
	}
	return Duration(d), nil
}

// String writes the duration as time.Duration does.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalJSON writes the text.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads the text.
func (d *Duration) UnmarshalJSON(data []byte) (err error) {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("expected a duration such as 30m, got %.40s", data)
	}
	*d, err = ParseDuration(text)
	return err
}
