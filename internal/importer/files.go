package importer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/postern-id/postern/internal/folder"
)

// maxMember limits a part of an export that is read as a whole, in bytes.
const maxMember = 256 << 20

// filesIn lists the files of an export whose names match one of the patterns, sorted. dir may be a file.
func filesIn(dir string, patterns ...string) ([]string, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{dir}, nil
	}
	entries, err := folder.List(dir, dir, func(name string) bool {
		return slices.ContainsFunc(patterns, func(p string) bool { ok, _ := filepath.Match(p, name); return ok })
	})
	var files []string
	for _, entry := range entries {
		if !entry.IsDir {
			files = append(files, entry.Path)
		}
	}
	return files, err
}

// newDecoder returns a decoder that reads JSON in parts.
func newDecoder(r io.Reader) *json.Decoder { return json.NewDecoder(bufio.NewReaderSize(r, 1<<20)) }

// eachObject calls each before every object of a list, or before the only object. It must read the object.
func eachObject(r io.Reader, each func(d *json.Decoder) error) error {
	b := bufio.NewReaderSize(r, 1<<20)
	start, _ := b.Peek(512)
	d := json.NewDecoder(b)
	if !bytes.HasPrefix(bytes.TrimLeft(start, " \t\r\n"), []byte("[")) {
		return each(d)
	}
	if err := expectDelim(d, '['); err != nil {
		return err
	}
	for d.More() {
		if err := each(d); err != nil {
			return err
		}
	}
	return expectDelim(d, ']')
}

// eachMember reads a JSON object without keeping all of it. each gets the name of every member; the next value of
// the decoder is the member's, and each must read that.
func eachMember(d *json.Decoder, each func(name string) error) error {
	if err := expectDelim(d, '{'); err != nil {
		return err
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		if err := each(name); err != nil {
			return err
		}
	}
	return expectDelim(d, '}')
}

// records reads the records of a list, and reports what of them is not imported.
type records[T any] struct {
	report  *Report // nil: a malformed record is an error
	subject string
	file    string
	in      *positions // of the file; nil without positions of records
	unread  unreadMembers
	path    string // of the records, such as users
}

// each reads a JSON list record by record. A malformed one is reported and left out.
// The position of a record is its line and column.
func (in records[T]) each(d *json.Decoder, each func(at string, v *T) error) error {
	if err := expectDelim(d, '['); err != nil {
		return err
	}
	for i := 0; d.More(); i++ {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return fmt.Errorf("element %d: %w", i+1, err)
		}
		if err := in.one(in.position(d, raw), raw, each); err != nil {
			return err
		}
	}
	return expectDelim(d, ']')
}

// position returns the position of the record that a decoder has just read.
func (in records[T]) position(d *json.Decoder, raw json.RawMessage) string {
	return in.in.at(d.InputOffset() - int64(len(raw)))
}

// one reads a record.
func (in records[T]) one(at string, raw json.RawMessage, each func(at string, v *T) error) error {
	v := new(T)
	err := json.Unmarshal(raw, v)
	switch {
	case err != nil && in.report == nil:
		return withoutValue(err)
	case err != nil:
		in.report.addBad(in.subject, badRow{placeOf(place(in.file, at, ""), raw), withoutValue(err)})
		return nil
	}
	if in.unread.report != nil {
		var value any
		if json.Unmarshal(raw, &value) == nil {
			in.unread.find(value, reflect.TypeFor[T](), in.path, "")
		}
	}
	return each(at, v)
}

// skipValue reads the next value of a decoder without keeping it.
func skipValue(d *json.Decoder) error {
	depth := 0
	for {
		t, err := d.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

func expectDelim(d *json.Decoder, want json.Delim) error {
	t, err := d.Token()
	if _, is := errors.AsType[*json.SyntaxError](err); is && d.InputOffset() == 0 {
		return fmt.Errorf("the file is not JSON: %w", err)
	}
	if err != nil {
		return withoutValue(err)
	}
	if t != want {
		return fmt.Errorf("expected %q in JSON at byte %d", want, d.InputOffset())
	}
	return nil
}

// withoutValue returns an error of JSON without the value, which may be a secret.
func withoutValue(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		kind := map[reflect.Kind]string{reflect.Slice: "list", reflect.Map: "object", reflect.Struct: "object", reflect.Bool: "true or false", reflect.Int: "number", reflect.Int64: "number", reflect.String: "text"}[wrong.Type.Kind()]
		return errors.New(strings.TrimPrefix(wrong.Field+": ", ": ") + "expected " + firstText(kind, wrong.Type.Kind().String()))
	}
	return err
}

// readFile reads a file as a whole.
func readFile(path string) ([]byte, error) {
	f, err := folder.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(decodeBOM(f), maxMember+1))
	if err == nil && len(text) > maxMember {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxMember)
	}
	return text, err
}

// decodeBOM returns the text of a reader in UTF-8. Tools on Windows write UTF-16, or UTF-8 with a byte order
// mark.
func decodeBOM(r io.Reader) io.Reader {
	return transform.NewReader(r, unicode.BOMOverride(transform.Nop))
}

// withFile calls do with an open file, and adds its name to an error.
func withFile(path string, do func(*positions) error) error {
	f, err := folder.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := do(&positions{in: decodeBOM(f)}); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return nil
}

// place returns the position of a record in a file, such as users.csv:3 or users.json:12:5.
func place(path, at, id string) string {
	text := strings.TrimSuffix(filepath.Base(path)+":"+at, ":")
	if id = strings.TrimSpace(id); id != "" {
		text += fmt.Sprintf(" (id %.64s)", id)
	}
	return text
}
