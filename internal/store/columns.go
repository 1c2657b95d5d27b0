package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// How values stand in columns: the two ways of each are inverse.

// toMicros is a time as it is kept: microseconds since 1970-01-01 UTC.
func toMicros(t time.Time) int64 { return t.UnixMicro() }

// fromMicros is the time kept as micros.
func fromMicros(us int64) time.Time { return time.UnixMicro(us).UTC() }

// nullable is a text of which "" is kept as NULL, because it must not count as
// a value of a unique column.
func nullable(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

// nonNilBytes is never nil, which would be NULL.
func nonNilBytes(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// joinLines is a list of words, one a line, each ended by a newline; nil is NULL.
// So nil, the empty list and a list of one empty word stay three things.
func joinLines(list []string) (sql.NullString, error) {
	if list == nil {
		return sql.NullString{}, nil
	}
	var b strings.Builder
	for _, word := range list {
		if strings.Contains(word, "\n") {
			return sql.NullString{}, fmt.Errorf("store: %q has more than one line", word)
		}
		b.WriteString(word)
		b.WriteByte('\n')
	}
	return sql.NullString{String: b.String(), Valid: true}, nil
}

// splitLines is joinLines for several lists.
func splitLines(lists ...[]string) ([]sql.NullString, error) {
	kept := make([]sql.NullString, len(lists))
	for i, list := range lists {
		var err error
		if kept[i], err = joinLines(list); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// list is the list kept as lines.
func list(s sql.NullString) []string {
	if !s.Valid {
		return nil
	}
	words := strings.Split(s.String, "\n")
	return words[:len(words)-1]
}

// marshalJSON is a value as JSON text.
func marshalJSON(v any) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("store: %w", err)
	}
	return string(raw), nil
}

// optionalJSON is a map as JSON text; an empty one is NULL.
func optionalJSON[V any](m map[string]V) (sql.NullString, error) {
	if len(m) == 0 {
		return sql.NullString{}, nil
	}
	text, err := marshalJSON(m)
	return sql.NullString{String: text, Valid: true}, err
}

// parse reads JSON text into v; NULL leaves v alone.
func parse(text []byte, v any) error {
	if text == nil {
		return nil
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("store: a JSON column cannot be read: %w", err)
	}
	return nil
}

// opaque is JSON that is kept as it came; none is NULL.
func opaque(raw json.RawMessage) sql.NullString {
	return sql.NullString{String: string(raw), Valid: len(raw) > 0}
}

// microTime reads a time that is kept as micros.
type microTime time.Time

// Scan implements sql.Scanner.
func (i *microTime) Scan(v any) error {
	us, ok := v.(int64)
	if !ok {
		return fmt.Errorf("a time is kept as %T, expected int64", v)
	}
	*i = microTime(fromMicros(us))
	return nil
}
