package federation

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/postern-id/postern/schemas"
)

// object is an untrusted JSON object. Names of members are case-sensitive.
type object map[string]json.RawMessage

// readObject rejects duplicate members, which different readers interpret differently.
func readObject(text []byte) (object, error) {
	if _, problems := schemas.ParseJSON(text); len(problems) > 0 {
		return nil, fmt.Errorf("it is not valid JSON, at line %d, column %d", problems[0].Line, problems[0].Column)
	}
	var o object
	if err := json.Unmarshal(text, &o); err != nil || o == nil {
		return nil, fmt.Errorf("it is not a JSON object")
	}
	return o, nil
}

// text returns a string member, "" if it is missing or not a string.
func (o object) text(name string) string {
	var s string
	if json.Unmarshal(o[name], &s) != nil {
		return ""
	}
	return s
}

func (o object) has(name string) bool { return o[name] != nil && string(o[name]) != "null" }

// texts returns a member that is a string or a list of strings.
func (o object) texts(name string) []string {
	var list []string
	if json.Unmarshal(o[name], &list) == nil {
		return list
	}
	if s := o.text(name); s != "" {
		return []string{s}
	}
	return nil
}

// flag reports whether a member is true.
func (o object) flag(name string) bool { return string(o[name]) == "true" }

// time returns a member that is a time in seconds since 1970 (RFC 7519 §2, NumericDate). ok
// is false for an invalid time.
func (o object) time(name string) (at time.Time, ok bool) {
	if !o.has(name) {
		return time.Time{}, true
	}
	var seconds float64
	const latest = 253402300799 // the end of the year 9999
	if json.Unmarshal(o[name], &seconds) != nil || seconds < 1 || seconds > latest {
		return time.Time{}, false
	}
	return time.Unix(int64(math.Floor(seconds)), 0).UTC(), true
}
