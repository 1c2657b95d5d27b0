package backup

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/store"
)

// sink records what it gets.
type sink struct{ got []string }

func (s *sink) Table(name string, columns []string) error {
	s.got = append(s.got, fmt.Sprintf("%s %q", name, columns))
	return nil
}

func (s *sink) Row(values []any) error {
	s.got = append(s.got, fmt.Sprintf("%#v", values))
	return nil
}

// dumpSample passes two tables with values of all types.
func dumpSample(to store.RowSink) error {
	long := strings.Repeat("x", 200<<10) // longer than a buffer
	return errors.Join(
		to.Table("a", []string{"id", "n", "b"}),
		to.Row([]any{"é\n\"<>", int64(9223372036854775807), []byte{0, 0xff}}),
		to.Row([]any{nil, int64(-9223372036854775808), []byte{}}),
		to.Row([]any{long, int64(0), nil}),
		to.Table("empty", []string{"id"}),
	)
}

func sample(t testing.TB, recipients ...age.Recipient) []byte {
	t.Helper()
	var out bytes.Buffer
	done, err := Write(&out, Header{Schema: 47, Program: "dev", At: time.Unix(1, 0).UTC(), Keys: []string{"k"}}, []byte("key"), recipients, dumpSample)
	if err != nil || done != (Summary{2, 3}) {
		t.Fatalf("%+v, %v", done, err)
	}
	return out.Bytes()
}

// read reads a backup and returns what the sink got.
func read(text []byte, identities ...age.Identity) (*Reader, []string, error) {
	in, err := Open(bytes.NewReader(text), identities...)
	if err != nil {
		return nil, nil, err
	}
	var s sink
	_, err = in.Read(&s)
	return in, s.got, err
}

func TestRoundTrip(t *testing.T) {
	var want sink
	if err := dumpSample(&want); err != nil {
		t.Fatal(err)
	}
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		recipients []age.Recipient
		identities []age.Identity
	}{
		"plain":     {},
		"encrypted": {[]age.Recipient{identity.Recipient()}, []age.Identity{identity}},
	} {
		t.Run(name, func(t *testing.T) {
			in, got, err := read(sample(t, c.recipients...), c.identities...)
			if err != nil || !reflect.DeepEqual(got, want.got) {
				t.Fatalf("%.1000v, %v", got, err)
			}
			if !in.Verify([]byte("another"), []byte("key")) || in.Verify([]byte("another")) || in.Verify(nil) || in.Verify() {
				t.Error("the MAC does not depend on the key")
			}
			if in.Schema != 47 || in.Keys[0] != "k" || in.Encrypted != (name == "encrypted") {
				t.Errorf("%+v", in.Header)
			}
		})
	}
}

// A backup that is cut anywhere, or has changed content anywhere, is damaged.
func TestDamage(t *testing.T) {
	var want sink
	if err := dumpSample(&want); err != nil {
		t.Fatal(err)
	}
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text       []byte
		identities []age.Identity
	}{
		"plain":     {sample(t), nil},
		"encrypted": {sample(t, identity.Recipient()), []age.Identity{identity}},
	} {
		t.Run(name, func(t *testing.T) {
			for at := range c.text {
				if _, _, err := read(c.text[:at], c.identities...); err == nil {
					t.Errorf("cut at %d: no error", at)
				}
				changed := bytes.Clone(c.text)
				changed[at] ^= 0x10
				// A few bits of gzip do not affect the content.
				if _, got, err := read(changed, c.identities...); err == nil && (name == "encrypted" || !reflect.DeepEqual(got, want.got)) {
					t.Errorf("changed at %d: no error", at)
				}
			}
		})
	}
}

// compress returns lines as a gzip file.
func compress(t testing.TB, lines string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := io.WriteString(w, lines); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestRejects(t *testing.T) {
	plain, err := gzip.NewReader(bytes.NewReader(sample(t)))
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(plain)
	if err != nil {
		t.Fatal(err)
	}
	const header = `{"format":"postern-backup","version":1}` + "\n"
	for name, c := range map[string]struct {
		text []byte
		want string
	}{
		"an empty file":     {nil, "ends too early"},
		"another file":      {[]byte("SQLite format 3\x00 and more of it"), "expected a file that `postern backup` wrote"},
		"another gzip file": {compress(t, "hello\n"), "its first line is not the header"},
		"a newer format":    {compress(t, `{"format":"postern-backup","version":2}`+"\n"), "format version 2, and this program reads 1"},
		"no end":            {compress(t, header), "ends too early"},
		"no JSON":           {compress(t, header+"hello\n"), "the backup is damaged"},
		"a fraction":        {compress(t, header+"[1.5]\n"), "the backup is damaged"},
		"a boolean":         {compress(t, header+"[true]\n"), "a row has a bool"},
		"another object":    {compress(t, header+`[{"base64":"","x":1}]`+"\n"), "the member base64"},
		"another digest":    {compress(t, strings.Replace(string(all), "é", "e", 1)), "with another digest"},
		"more lines":        {compress(t, string(all)+"{}\n"), "continues after its last line"},
		"another row":       {compress(t, strings.Replace(string(all), "\n[", "\n[\"x\"]\n[", 1)), "it has 4 rows, but its last line states 3"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := read(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, expected %q", err, c.want)
			}
		})
	}
}

// An encrypted backup needs the right secret, and a plain one must not come in its place.
func TestSecrets(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		datatest.WriteFile(t, path, text)
		return path
	}
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	right, wrong, short := write("right", "correct horse battery\r\n"), write("wrong", "wrong horse battery\n"), write("short", "short\n")
	recipients, identities := write("recipients", identity.Recipient().String()+"\n"), write("identities", "# key\n"+identity.String()+"\n")
	for _, c := range []struct {
		encrypt, decrypt Secrets
		want             string // the error; "" for none
	}{
		{Secrets{PassphraseFile: right}, Secrets{PassphraseFile: right}, ""},
		{Secrets{PassphraseFile: right}, Secrets{PassphraseFile: wrong}, "does not decrypt the backup"},
		{Secrets{PassphraseFile: "-", Stdin: strings.NewReader("a passphrase of standard input\n")}, Secrets{PassphraseFile: "-", Stdin: strings.NewReader("a passphrase of standard input")}, ""},
		{Secrets{PassphraseFile: "-"}, Secrets{}, "expected a file with one line"},
		{Secrets{PassphraseFile: right}, Secrets{IdentityFile: identities}, "does not decrypt the backup"},
		{Secrets{PassphraseFile: right}, Secrets{}, "the backup is encrypted: pass --passphrase-file, or --identity-file"},
		{Secrets{RecipientsFile: recipients}, Secrets{IdentityFile: identities}, ""},
		{Secrets{RecipientsFile: recipients}, Secrets{PassphraseFile: right}, "does not decrypt the backup"},
		{Secrets{}, Secrets{PassphraseFile: right}, "the backup is not encrypted, although"},
		{Secrets{PassphraseFile: short}, Secrets{}, "at least 16 bytes"},
		{Secrets{PassphraseFile: right, RecipientsFile: recipients}, Secrets{}, "not both"},
		{Secrets{PassphraseFile: identities}, Secrets{}, "expected a file with one line"},
		{Secrets{RecipientsFile: right}, Secrets{}, "expected keys of age, one a line, such as age1…"},
		{Secrets{}, Secrets{IdentityFile: right}, "expected keys of age"},
		{Secrets{}, Secrets{PassphraseFile: filepath.Join(dir, "none")}, "no such file"},
	} {
		c.encrypt.WorkFactor = 10
		err := func() error {
			recipients, err := c.encrypt.Recipients()
			if err != nil {
				return err
			}
			identities, err := c.decrypt.Identities()
			if err != nil {
				return err
			}
			_, _, err = read(sample(t, recipients...), identities...)
			return err
		}()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v, %+v: %v, expected %q", c.encrypt, c.decrypt, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "horse") {
			t.Errorf("the error shows a passphrase: %v", err)
		}
	}
}

func TestInvalidText(t *testing.T) {
	_, err := Write(io.Discard, Header{}, nil, nil, func(to store.RowSink) error { return to.Row([]any{"a\xff"}) })
	if err == nil || !strings.Contains(err.Error(), "not valid UTF-8") {
		t.Errorf("%v", err)
	}
}

// Any file is read or rejected.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"format":"postern-backup","version":1}` + "\n[1,\"a\",null,{\"base64\":\"AA==\"}]\n"))
	f.Add([]byte(`{"format":"postern-backup","version":1}` + "\n{\"table\":\"a\",\"columns\":[\"b\"]}\n{\"end\":{\"tables\":1}}\n"))
	f.Fuzz(func(t *testing.T, lines []byte) {
		if _, _, err := read(compress(t, string(lines))); err == nil {
			t.Errorf("%q is a backup without a key to its digest", lines)
		}
	})
}
