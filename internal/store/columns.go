package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Conversions between values and columns, in pairs of inverse functions.

// toMicros returns the stored form of a time: microseconds since 1970-01-01 UTC.
func toMicros(t time.Time) int64 { return t.UnixMicro() }

// fromMicros is the inverse of toMicros.
func fromMicros(us int64) time.Time { return time.UnixMicro(us).UTC() }

// nullable stores "" as NULL, because it must not count as a value of a unique column.
func nullable(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

// nonNilBytes returns b, or an empty slice instead of nil, which would be NULL.
func nonNilBytes(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// joinLines stores a list as lines, each with a final newline; nil is NULL. So nil, the
// empty list and a list of one empty word stay distinct.
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

// list is the inverse of joinLines.
func list(s sql.NullString) []string {
	if !s.Valid {
		return nil
	}
	words := strings.Split(s.String, "\n")
	return words[:len(words)-1]
}

// marshalJSON returns a value as JSON text.
func marshalJSON(v any) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("store: %w", err)
	}
	return string(raw), nil
}

// optionalJSON returns a map as JSON text, NULL if it is empty.
func optionalJSON[V any](m map[string]V) (sql.NullString, error) {
	if len(m) == 0 {
		return sql.NullString{}, nil
	}
	text, err := marshalJSON(m)
	return sql.NullString{String: text, Valid: true}, err
}

// parse reads JSON text into v. It does not change v for NULL.
func parse(text []byte, v any) error {
	if text == nil {
		return nil
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("store: a JSON column cannot be read: %w", err)
	}
	return nil
}

// opaque stores JSON unchanged, NULL if there is none.
func opaque(raw json.RawMessage) sql.NullString {
	return sql.NullString{String: string(raw), Valid: len(raw) > 0}
}

// microTime is a time whose column has microseconds.
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
