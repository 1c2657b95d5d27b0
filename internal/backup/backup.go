// Package backup reads and writes backups of a store.
//
// A backup is a gzip file of lines of JSON, optionally inside an age file (age-encryption.org/v1).
// The first line is the Header. Then each table has a line with its name and its columns, followed
// by a line for each row: an array with null, a number, a text, or an object with the member base64
// for each column. The last line has the number of rows and the SHA-256 digest of all lines before
// it, and a MAC of the digest with a key of the server. The format is the same for both databases, and a
// reader holds one row in memory at a time.
//
// The digest detects damage. The MAC detects that a person without the server's key has changed the
// backup, and encryption with a passphrase that a person without the passphrase has. Encryption for a
// public key detects neither: anyone can encrypt for it.
package backup

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"filippo.io/age"

	"github.com/postern-id/postern/internal/store"
)

// Header describes a backup.
type Header struct {
	Format  string    `json:"format"`  // FormatName
	Version int       `json:"version"` // FormatVersion
	Schema  int64     `json:"schema"`  // the version of the store's schema
	Program string    `json:"program"` // the version of Postern that wrote the backup
	At      time.Time `json:"at"`
	// Keys are the key-encryption keys in base64, the one that seals first. By default a backup has
	// none.
	Keys []string `json:"keys,omitempty"`
}

// The format that this package writes.
const (
	FormatName    = "postern-backup"
	FormatVersion = 1
)

// Summary counts the content of a backup.
type Summary struct {
	Tables int   `json:"tables"`
	Rows   int64 `json:"rows"`
}

// line is a line that is not a row.
type line struct {
	Table   string   `json:"table,omitempty"`
	Columns []string `json:"columns,omitempty"`
	End     *end     `json:"end,omitempty"`
}

// end is the last line.
type end struct {
	Summary
	Digest string `json:"sha256"`        // hexadecimal
	MAC    string `json:"mac,omitempty"` // hexadecimal; "" in backups of earlier releases
}

// macOf returns the MAC of a digest.
func macOf(key []byte, digest string) string {
	mac := hmac.New(sha256.New, key)
	_, _ = io.WriteString(mac, "postern backup\n"+digest) // it never fails
	return hex.EncodeToString(mac.Sum(nil))
}

// bytesValue is a value of bytes in a row.
type bytesValue struct {
	Base64 []byte `json:"base64"`
}

// Write writes a backup with a MAC by a key, encrypted if there are recipients. dump passes all rows of the
// store to its sink.
func Write(w io.Writer, h Header, key []byte, recipients []age.Recipient, dump func(store.RowSink) error) (Summary, error) {
	closers := []io.Closer{}
	if len(recipients) > 0 {
		encrypted, err := age.Encrypt(w, recipients...)
		if err != nil {
			return Summary{}, fmt.Errorf("encrypting the backup: %w", err)
		}
		w, closers = encrypted, append(closers, encrypted)
	}
	compressed, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return Summary{}, err
	}
	closers = append([]io.Closer{compressed}, closers...)
	buffered := bufio.NewWriterSize(compressed, 64<<10)
	out := &writer{to: buffered, digest: sha256.New()}
	h.Format, h.Version = FormatName, FormatVersion
	err = out.line(h)
	if err == nil {
		err = dump(out)
	}
	if err == nil {
		digest := hex.EncodeToString(out.digest.Sum(nil))
		err = out.line(line{End: &end{out.Summary, digest, macOf(key, digest)}})
	}
	if err == nil {
		err = buffered.Flush()
	}
	for _, c := range closers {
		if err == nil {
			err = c.Close()
		}
	}
	return out.Summary, err
}

// writer is the RowSink of a backup.
type writer struct {
	Summary
	to     *bufio.Writer
	digest hash.Hash
	row    []any
}

func (w *writer) line(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	text = append(text, '\n')
	w.digest.Write(text)
	_, err = w.to.Write(text)
	return err
}

// Table implements store.RowSink.
func (w *writer) Table(name string, columns []string) error {
	w.Tables++
	return w.line(line{Table: name, Columns: columns})
}

// Row implements store.RowSink.
func (w *writer) Row(values []any) error {
	w.row = w.row[:0]
	for _, v := range values {
		switch v := v.(type) {
		case []byte:
			w.row = append(w.row, bytesValue{v})
			continue
		case string:
			if !utf8.ValidString(v) { // JSON would replace what is invalid
				return fmt.Errorf("a value is not valid UTF-8: %.100q", v)
			}
		}
		w.row = append(w.row, v)
	}
	w.Rows++
	return w.line(w.row)
}

// Reader reads a backup.
type Reader struct {
	Header
	Encrypted bool

	from   *bufio.Reader
	digest hash.Hash
	done   Summary
	end    end
}

// HasMAC reports whether the backup has a MAC, after Read. Those of earlier releases have none.
func (r *Reader) HasMAC() bool { return r.end.MAC != "" }

// Verify reports whether the MAC is by one of the keys, after Read.
func (r *Reader) Verify(keys ...[]byte) bool {
	return slices.ContainsFunc(keys, func(key []byte) bool {
		return hmac.Equal([]byte(r.end.MAC), []byte(macOf(key, r.end.Digest)))
	})
}

// Open reads the header of a backup. Identities decrypt it; a backup that is not encrypted is
// rejected if there are any, because another person may have replaced the encrypted one.
func Open(r io.Reader, identities ...age.Identity) (*Reader, error) {
	buffered := bufio.NewReaderSize(r, 64<<10)
	start, _ := buffered.Peek(len(ageStart)) // a shorter file has another start
	in := &Reader{Encrypted: bytes.HasPrefix(start, []byte(ageStart)), digest: sha256.New()}
	switch {
	case in.Encrypted && len(identities) == 0:
		return nil, errors.New("the backup is encrypted: pass --passphrase-file, or --identity-file")
	case in.Encrypted:
		decrypted, err := age.Decrypt(buffered, identities...)
		if err != nil {
			return nil, decryptionError(err)
		}
		buffered = bufio.NewReader(decrypted)
	case len(identities) > 0:
		return nil, errors.New("the backup is not encrypted, although a passphrase or an identity was given: it may have been replaced; omit them if you trust it")
	}
	compressed, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, fmt.Errorf("expected a file that `postern backup` wrote: %w", damaged(err))
	}
	in.from = bufio.NewReaderSize(compressed, 64<<10)
	return in, in.readHeader()
}

// ageStart is how an age file begins.
const ageStart = "age-encryption.org/v1\n"

func decryptionError(err error) error {
	if _, ok := errors.AsType[*age.NoIdentityMatchError](err); ok {
		return errors.New("the passphrase or the identity does not decrypt the backup: expected the one for which it was encrypted")
	}
	return fmt.Errorf("decrypting the backup: %w", damaged(err))
}

func (r *Reader) readHeader() error {
	text, err := r.readLine()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &r.Header); err != nil || r.Format != FormatName {
		return errors.New("expected a file that `postern backup` wrote; its first line is not the header of a backup")
	}
	if r.Version != FormatVersion {
		return fmt.Errorf("the backup has format version %d, and this program reads %d: use a newer version of Postern", r.Version, FormatVersion)
	}
	r.digest.Write(text)
	return nil
}

// Read passes all rows to a sink. It succeeds only if the backup is complete and undamaged.
func (r *Reader) Read(to store.RowSink) (Summary, error) {
	for {
		text, err := r.readLine()
		if err != nil {
			return r.done, err
		}
		if text[0] == '[' {
			r.digest.Write(text)
			if err := r.readRow(text, to); err != nil {
				return r.done, err
			}
			continue
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return r.done, damaged(err)
		}
		if l.End != nil {
			return r.done, r.checkEnd(*l.End)
		}
		r.digest.Write(text)
		r.done.Tables++
		if err := to.Table(l.Table, l.Columns); err != nil {
			return r.done, err
		}
	}
}

func (r *Reader) readRow(text []byte, to store.RowSink) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var row []any
	err := decoder.Decode(&row)
	for i := 0; i < len(row) && err == nil; i++ {
		row[i], err = valueOf(row[i])
	}
	if err != nil {
		return damaged(err)
	}
	r.done.Rows++
	return to.Row(row)
}

// valueOf returns a value of a row as a RowSink expects it.
func valueOf(v any) (any, error) {
	switch v := v.(type) {
	case nil, string:
		return v, nil
	case json.Number:
		return v.Int64()
	case map[string]any:
		var b bytesValue
		text, err := json.Marshal(v)
		if err == nil {
			err = json.Unmarshal(text, &b)
		}
		if err == nil && (len(v) != 1 || b.Base64 == nil) {
			err = errors.New("expected an object with the member base64")
		}
		return b.Base64, err
	}
	return nil, fmt.Errorf("a row has a %T, expected null, a number, a text or bytes", v)
}

// checkEnd checks the last line, and that no other follows it.
func (r *Reader) checkEnd(e end) error {
	if e.Summary != r.done || e.Digest != hex.EncodeToString(r.digest.Sum(nil)) {
		return damaged(fmt.Errorf("it has %d rows, but its last line states %d with another digest", r.done.Rows, e.Rows))
	}
	if _, err := r.from.ReadByte(); !errors.Is(err, io.EOF) {
		return damaged(cmpError(err, "it continues after its last line"))
	}
	r.end = e
	return nil
}

func cmpError(err error, text string) error {
	if err != nil {
		return err
	}
	return errors.New(text)
}

// maxLine is the maximum length of a line in bytes. The largest rows are definitions of flows.
const maxLine = 64 << 20

// readLine returns the next line with its end, until the next call.
func (r *Reader) readLine() (text []byte, err error) {
	for {
		part, err := r.from.ReadSlice('\n')
		switch {
		case len(text)+len(part) > maxLine:
			return nil, damaged(fmt.Errorf("a line is longer than %d bytes", maxLine))
		case err == nil && text == nil:
			return part, nil
		case err == nil:
			return append(text, part...), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, damaged(err)
		}
		text = append(text, part...)
	}
}

// ErrDamaged is the cause of the error for a damaged or changed backup.
var ErrDamaged = errors.New("the backup is damaged")

func damaged(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it ends too early; copy it again, or use another backup", ErrDamaged)
	}
	return fmt.Errorf("%w: %w; copy it again, or use another backup", ErrDamaged, err)
}
