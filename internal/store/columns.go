package store

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
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

// field maps a member of T to its column. Statements, parameters and scan
// destinations all come from one list of fields, so their order always agrees.
type field[T any] struct {
	column string
	// member returns a pointer to the member. If the column has another form than the
	// member it returns a driver.Valuer that is also a sql.Scanner.
	member func(*T) any
	filter string // the member's JSON name if lists can be filtered by it; "" otherwise
	unique bool   // whether the column has a unique index: lists can be filtered by a prefix too
}

// fields are the columns of one table. The first one is the ID.
type fields[T any] []field[T]

// newTable returns the table of a noun whose columns are the fields.
func newTable[T any](noun, code, name string, of fields[T]) *Table[T] {
	return &Table[T]{
		noun: noun, code: code, name: name,
		columns: of.columns(), filters: of.filters(), prefixes: of.prefixes(name),
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

func (of fields[T]) prefixes(table string) map[string]prefixIndex {
	indexes := map[string]prefixIndex{}
	for _, f := range of {
		if f.filter != "" && f.unique {
			indexes[f.filter] = prefixIndex{table: table, column: f.column, id: of[0].column, order: f.column}
		}
	}
	return indexes
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

// lines stores a list as lines, each with a final newline; nil is NULL. So nil, the
// empty list and a list of one empty word stay distinct.
type lines []string

// Value implements driver.Valuer.
func (l *lines) Value() (driver.Value, error) {
	if *l == nil {
		return nil, nil
	}
	var b strings.Builder
	for _, word := range *l {
		if strings.Contains(word, "\n") {
			return nil, fmt.Errorf("store: %q has more than one line", word)
		}
		b.WriteString(word)
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// Scan implements sql.Scanner.
func (l *lines) Scan(v any) error {
	text, err := scanText(v)
	*l = nil
	if text.Valid {
		words := strings.Split(text.String, "\n")
		*l = words[:len(words)-1]
	}
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

// jsonColumn stores what member points to as JSON text, or NULL if it is empty. Reading NULL
// does not change it.
type jsonColumn struct {
	member any
	empty  bool
}

// Value implements driver.Valuer.
func (c jsonColumn) Value() (driver.Value, error) {
	if c.empty {
		return nil, nil
	}
	raw, err := json.Marshal(c.member)
	return string(raw), err
}

// Scan implements sql.Scanner.
func (c jsonColumn) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return json.Unmarshal([]byte(v), c.member)
	case []byte:
		return json.Unmarshal(v, c.member)
	}
	return fmt.Errorf("a JSON column is kept as %T, expected text", v)
}

// asJSON is a column that holds a value as JSON. To read it, v is a pointer.
func asJSON(v any) jsonColumn { return jsonColumn{member: v} }

// nullTime is a time whose zero value is NULL.
type nullTime time.Time

// Value implements driver.Valuer.
func (t *nullTime) Value() (driver.Value, error) {
	if time.Time(*t).IsZero() {
		return nil, nil
	}
	return toMicros(time.Time(*t)), nil
}

// Scan implements sql.Scanner.
func (t *nullTime) Scan(v any) error {
	*t = nullTime{}
	if v == nil {
		return nil
	}
	return (*microTime)(t).Scan(v)
}

// optionalTime is a time that may be nil: NULL.
type optionalTime struct{ member **time.Time }

// Value implements driver.Valuer.
func (o optionalTime) Value() (driver.Value, error) {
	if *o.member == nil {
		return nil, nil
	}
	return toMicros(**o.member), nil
}

// Scan implements sql.Scanner.
func (o optionalTime) Scan(v any) error {
	*o.member = nil
	if v == nil {
		return nil
	}
	*o.member = new(time.Time)
	return (*microTime)(*o.member).Scan(v)
}

// optionalInt is a number that may be nil: NULL.
type optionalInt struct{ member **int }

// Value implements driver.Valuer.
func (o optionalInt) Value() (driver.Value, error) {
	if *o.member == nil {
		return nil, nil
	}
	return int64(**o.member), nil
}

// Scan implements sql.Scanner.
func (o optionalInt) Scan(v any) error {
	var value sql.Null[int]
	err := value.Scan(v)
	if *o.member = nil; value.Valid {
		*o.member = &value.V
	}
	return err
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

// provenance is the column of a credential's provenance: the class, the methods and the credentials of the
// sign-in, as kind=id, separated by spaces. Without a limit the class is "", so the text is "" or starts with
// a space.
type provenance struct{ of *schemas.Provenance }

// Value implements driver.Valuer.
func (p provenance) Value() (driver.Value, error) {
	words := append([]string{p.of.ACR}, p.of.Methods...)
	for _, proof := range p.of.Proofs {
		words = append(words, string(proof.Kind)+"="+proof.Of)
	}
	return strings.Join(words, " "), nil
}

// Scan implements sql.Scanner.
func (p provenance) Scan(v any) error {
	text, ok := v.(string)
	if !ok {
		return fmt.Errorf("a provenance is kept as %T, expected string", v)
	}
	*p.of = schemas.Provenance{}
	words := strings.Split(text, " ")
	p.of.ACR = words[0]
	for _, word := range words[1:] {
		if kind, of, isProof := strings.Cut(word, "="); isProof {
			p.of.Proofs = append(p.of.Proofs, schemas.Proof{Kind: schemas.ProofKind(kind), Of: of})
		} else {
			p.of.Methods = append(p.of.Methods, word)
		}
	}
	return nil
}
