package token

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/postern-id/postern/internal/folder"
)

// KeyVariable is the environment variable that may hold the key-encryption keys
// instead of a file.
const KeyVariable = "POSTERN_KEY_ENCRYPTION_KEY"

// kekSize is the size of a key-encryption key in bytes: AES-256.
const kekSize = 32

// ReadKeyFile returns the key-encryption keys in a file: one in base64 per line. The
// first seals, and all of them open, so that what an older key has sealed can be read
// until it is re-encrypted. A file that other users can read or write is an error.
func ReadKeyFile(path string) ([][]byte, error) {
	text, err := readPrivateFile(path)
	if err != nil {
		return nil, err
	}
	keys, err := ParseKeys(text)
	if err != nil {
		return nil, fmt.Errorf("token: %s: %w", path, err)
	}
	return keys, nil
}

// ReadOrMakeKeyFile is ReadKeyFile for a store that has nothing sealed yet: it makes a
// file with one random key if there is none. If several processes start at once, all
// use the same key.
func ReadOrMakeKeyFile(path string) ([][]byte, error) {
	keys, err := ReadKeyFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return keys, err
	}
	if err := makeKeyFile(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("token: making the key-encryption key: %w", err)
	}
	return ReadKeyFile(path)
}

// ParseKeys reads key-encryption keys in base64, separated by commas or line breaks.
// Its error contains nothing of the text.
func ParseKeys(text string) ([][]byte, error) {
	var keys [][]byte
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '\n' }) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		key, err := parseKey(line)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		_, err := parseKey("")
		return nil, err
	}
	return keys, nil
}

// NewKeyEncryptionKey returns a random key-encryption key.
func NewKeyEncryptionKey() []byte {
	key := make([]byte, kekSize)
	rand.Read(key) // never fails
	return key
}

// KeyID names a key-encryption key. It reveals nothing of the key.
func KeyID(kek []byte) string { return hex.EncodeToString(Derive(kek, "key id", 8)) }

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

// readPrivateFile reads a file that only its owner can read. The mode is that of the open
// file, so that the file cannot be exchanged between check and use.
func readPrivateFile(path string) (string, error) {
	file, err := folder.Open(path)
	if err != nil {
		return "", fmt.Errorf("token: opening the key-encryption key: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	// 0440 is the mode of systemd's credentials, which an access list opens for the service only.
	if mode := info.Mode(); !mode.IsRegular() || mode.Perm()&0o077 != 0 && mode.Perm() != 0o440 && !folder.IsOfVolumeGroup(path, info) {
		return "", fmt.Errorf("token: %s has mode %v, expected a file that only its owner can read: chmod 600 %[1]s", path, mode)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxKeyFile))
	if err != nil {
		return "", fmt.Errorf("token: reading the key-encryption key: %w", err)
	}
	return string(text), nil
}

// maxKeyFile is the maximum size of a key file in bytes. It holds dozens of keys.
const maxKeyFile = 4096

// makeKeyFile writes a file with a new key. It fails with fs.ErrExist if the file exists.
func makeKeyFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return placeKeyFile(path, [][]byte{NewKeyEncryptionKey()}, os.Link)
}

// ReplaceKeyFile replaces the keys in a file.
func ReplaceKeyFile(path string, keys [][]byte) error {
	if err := placeKeyFile(path, keys, os.Rename); err != nil {
		return fmt.Errorf("token: replacing the key-encryption keys: %w", err)
	}
	return nil
}

// placeKeyFile writes a temporary file next to the path and moves it there when it is
// complete and synced: a crash leaves the old file or the new one, never a part of it.
func placeKeyFile(path string, keys [][]byte, place func(from, to string) error) error {
	dir := filepath.Dir(path)
	file, err := os.CreateTemp(dir, filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	var text strings.Builder
	for _, key := range keys {
		text.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
	}
	_, err = file.WriteString(text.String())
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := place(file.Name(), path); err != nil {
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

// parseKey decodes a key from base64 of either alphabet, padded or not. The error does not
// contain the input.
func parseKey(text string) ([]byte, error) {
	text = strings.TrimRight(strings.TrimSpace(text), "=")
	key, err := base64.RawStdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(text))
	if err != nil {
		return nil, fmt.Errorf("expected %d bytes in base64, got text that is not base64; make a key with: openssl rand -base64 32", kekSize)
	}
	if len(key) != kekSize {
		return nil, fmt.Errorf("expected %d bytes in base64, got %d bytes; make a key with: openssl rand -base64 32", kekSize, len(key))
	}
	return key, nil
}
