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
	"slices"
	"strings"

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

// eachMember reads a JSON object without keeping all of it. each gets the name of every member, and
// a decoder whose next value is the member's; it must read that.
func eachMember(r io.Reader, each func(name string, d *json.Decoder) error) error {
	d := json.NewDecoder(bufio.NewReaderSize(r, 1<<20))
	if err := expectDelim(d, '{'); err != nil {
		return err
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		if err := each(name, d); err != nil {
			return err
		}
	}
	return expectDelim(d, '}')
}

// eachElement reads a JSON list element by element.
func eachElement[T any](d *json.Decoder, each func(i int, v *T) error) error {
	if err := expectDelim(d, '['); err != nil {
		return err
	}
	for i := 0; d.More(); i++ {
		v := new(T)
		if err := d.Decode(v); err != nil {
			return fmt.Errorf("element %d: %w", i, withoutValue(err))
		}
		if err := each(i, v); err != nil {
			return err
		}
	}
	return expectDelim(d, ']')
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
		return fmt.Errorf("%s: expected a %s at byte %d", wrong.Field, wrong.Type.Kind(), wrong.Offset)
	}
	return err
}

// readFile reads a file as a whole.
func readFile(path string) ([]byte, error) {
	text, err := folder.Read(path, maxMember)
	return bytes.TrimPrefix(text, []byte("\ufeff")), err
}

// withFile calls do with an open file, and adds its name to an error.
func withFile(path string, do func(io.Reader) error) error {
	f, err := folder.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := do(f); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return nil
}

// place returns the position of an element of a file.
func place(path string, i int, id string) string {
	text := fmt.Sprintf("%s[%d]", filepath.Base(path), i)
	if id = strings.TrimSpace(id); id != "" {
		text += fmt.Sprintf(" (id %.64s)", id)
	}
	return text
}
