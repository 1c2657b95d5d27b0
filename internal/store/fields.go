package store

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"time"
)

// field maps a member of T to its column. Statements, parameters and scan
// destinations all come from one list of fields, so their order always agrees.
type field[T any] struct {
	column string
	// member returns a pointer to the member. If the column has another form than the
	// member it returns a driver.Valuer that is also a sql.Scanner.
	member func(*T) any
	filter string // the member's JSON name if lists can be filtered by it; "" otherwise
}

// fields are the columns of one table. The first one is the ID.
type fields[T any] []field[T]

// newTable returns the table of a noun whose columns are the fields.
func newTable[T any](noun, code, name string, of fields[T]) *Table[T] {
	return &Table[T]{
		noun: noun, code: code, name: name,
		columns: of.columns(), filters: of.filters(),
		id:     func(v *T) string { return *of[0].member(v).(*string) },
		values: of.values, scan: of.scan,
	}
}

func (of fields[T]) columns() []string {
	names := make([]string, len(of))
	for i, f := range of {
		names[i] = f.column
	}
	return names
}

func (of fields[T]) filters() map[string]string {
	conditions := map[string]string{}
	for _, f := range of {
		if f.filter != "" {
			conditions[f.filter] = f.column + " = ?"
		}
	}
	return conditions
}

// values returns the parameters that store v.
func (of fields[T]) values(v *T) ([]any, error) {
	values := make([]any, len(of))
	for i, f := range of {
		value, err := driver.DefaultParameterConverter.ConvertValue(f.member(v))
		if err != nil {
			return nil, fmt.Errorf("store: column %s: %w", f.column, err)
		}
		values[i] = value
	}
	return values, nil
}

func (of fields[T]) scan(row scanner, v *T) error { return row.Scan(of.destinations(v)...) }

func (of fields[T]) destinations(v *T) []any {
	into := make([]any, len(of))
	for i, f := range of {
		into[i] = f.member(v)
	}
	return into
}

// Value implements driver.Valuer.
func (i *microTime) Value() (driver.Value, error) { return toMicros(time.Time(*i)), nil }

// scanText reads a text or NULL. It is faster than sql.NullString for the types that the
// drivers return.
func scanText(v any) (text sql.NullString, err error) {
	switch v := v.(type) {
	case nil:
		return text, nil
	case string:
		return sql.NullString{String: v, Valid: true}, nil
	case []byte:
		return sql.NullString{String: string(v), Valid: true}, nil
	}
	err = text.Scan(v)
	return text, err
}

// nullText stores "" as NULL, because it must not count as a value of a unique
// column.
type nullText string

// Value implements driver.Valuer.
func (n *nullText) Value() (driver.Value, error) { return nullable(string(*n)).Value() }

// Scan implements sql.Scanner.
func (n *nullText) Scan(v any) error {
	text, err := scanText(v)
	*n = nullText(text.String)
	return err
}

// lines stores a list as joinLines does.
type lines []string

// Value implements driver.Valuer.
func (l *lines) Value() (driver.Value, error) {
	text, err := joinLines(*l)
	if err != nil {
		return nil, err
	}
	return text.Value()
}

// Scan implements sql.Scanner.
func (l *lines) Scan(v any) error {
	text, err := scanText(v)
	*l = list(text)
	return err
}

// rawText stores JSON as the text that it is.
type rawText json.RawMessage

// Value implements driver.Valuer.
func (r *rawText) Value() (driver.Value, error) { return string(*r), nil }

// Scan implements sql.Scanner.
func (r *rawText) Scan(v any) error {
	text, err := scanText(v)
	*r = rawText(text.String)
	return err
}

// jsonColumn stores what member points to as JSON text, or NULL if it is empty.
type jsonColumn struct {
	member any
	empty  bool
}

// Value implements driver.Valuer.
func (c jsonColumn) Value() (driver.Value, error) {
	if c.empty {
		return nil, nil
	}
	return marshalJSON(c.member)
}

// Scan implements sql.Scanner.
func (c jsonColumn) Scan(v any) error {
	text, err := scanText(v)
	if err != nil || !text.Valid {
		return err
	}
	return parse([]byte(text.String), c.member)
}

// zeroIfNull reads NULL as the zero value: the columns of a joined table are NULL
// if it has no row. It never stores NULL.
type zeroIfNull[V any] struct{ member *V }

func orZero[V any](member *V) zeroIfNull[V] { return zeroIfNull[V]{member} }

// Value implements driver.Valuer.
func (z zeroIfNull[V]) Value() (driver.Value, error) {
	return driver.DefaultParameterConverter.ConvertValue(*z.member)
}

// Scan implements sql.Scanner.
func (z zeroIfNull[V]) Scan(v any) error {
	if same, ok := v.(V); ok {
		*z.member = same
		return nil
	}
	var value sql.Null[V]
	err := value.Scan(v)
	*z.member = value.V
	return err
}

// flag stores a missing boolean as false.
type flag struct{ member **bool }

// Value implements driver.Valuer.
func (f flag) Value() (driver.Value, error) { return *f.member != nil && **f.member, nil }

// Scan implements sql.Scanner.
func (f flag) Scan(v any) error {
	var value sql.NullBool
	err := value.Scan(v)
	*f.member = &value.Bool
	return err
}
