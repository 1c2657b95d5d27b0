package token

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Where the key-encryption key is: in a file of the data folder, or in the
// environment, where an operator may give it instead.
const (
	KeyFile     = "key-encryption.key"
	KeyVariable = "POSTERN_KEY_ENCRYPTION_KEY"
)

// kekSize is the size of a key-encryption key in bytes: AES-256.
const kekSize = 32

// KeyEncryptionKey returns the key that seals all others, 32 bytes. Environ is
// the value of POSTERN_KEY_ENCRYPTION_KEY: the key in base64. Where it is empty
// the key is in the file key-encryption.key in dir, made at first start; of
// several processes that start at once all use the same. A file that others
// than its owner may read is refused.
func KeyEncryptionKey(dir string, environ string) ([]byte, error) {
	if environ != "" {
		key, err := parseKey(environ)
		if err != nil {
			return nil, fmt.Errorf("token: %s: %w", KeyVariable, err)
		}
		return key, nil
	}
	path := filepath.Join(dir, KeyFile)
	key, err := readKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := makeKey(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("token: making the key-encryption key: %w", err)
	}
	return readKey(path)
}

// Derive returns n bytes for a purpose, derived from the key-encryption key with
// HKDF-SHA-256 (RFC 5869). Different purposes give unrelated bytes. It panics
// when n is over 8160, the most that HKDF gives.
func Derive(kek []byte, purpose string, n int) []byte {
	key, err := hkdf.Key(sha256.New, kek, nil, "postern "+purpose, n)
	if err != nil {
		panic(err)
	}
	return key
}

// readKey reads the key from its file. Its mode is asked of the open file, so
// that nobody can exchange it in between.
func readKey(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("token: opening the key-encryption key: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("token: %w", err)
	}
	if mode := info.Mode(); !mode.IsRegular() || mode.Perm()&0o077 != 0 {
		return nil, fmt.Errorf("token: %s has mode %v, expected a file that only its owner can read: chmod 600 %[1]s", path, mode)
	}
	text, err := io.ReadAll(io.LimitReader(file, 1024))
	if err != nil {
		return nil, fmt.Errorf("token: reading the key-encryption key: %w", err)
	}
	key, err := parseKey(string(text))
	if err != nil {
		return nil, fmt.Errorf("token: %s: %w", path, err)
	}
	return key, nil
}

// makeKey writes a new key next to where it belongs and links it into place
// when it is complete and on the disk: there is never half a key, and never a
// second one. It fails with fs.ErrExist when another process was quicker.
func makeKey(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, KeyFile+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	key := make([]byte, kekSize)
	rand.Read(key) // never fails
	_, err = file.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Link(file.Name(), path); err != nil {
		return err
	}
	return syncFolder(dir)
}

// syncFolder makes a new name in a folder survive a crash.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// parseKey reads a key from base64, of either alphabet, padded or not. The
// error does not tell what it read.
func parseKey(text string) ([]byte, error) {
	text = strings.TrimRight(strings.TrimSpace(text), "=")
	key, err := base64.RawStdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(text))
	if err != nil {
		return nil, fmt.Errorf("expected %d bytes in base64, got what is not base64; make a key with: openssl rand -base64 32", kekSize)
	}
	if len(key) != kekSize {
		return nil, fmt.Errorf("expected %d bytes in base64, got %d bytes; make a key with: openssl rand -base64 32", kekSize, len(key))
	}
	return key, nil
}
