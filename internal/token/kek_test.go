package token

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestKeyFromEnvironment(t *testing.T) {
	want := bytes.Repeat([]byte{0xfb}, kekSize) // has both characters in which the alphabets differ
	for _, environ := range []string{
		base64.StdEncoding.EncodeToString(want), base64.URLEncoding.EncodeToString(want),
		base64.RawURLEncoding.EncodeToString(want), base64.StdEncoding.EncodeToString(want) + "\n",
	} {
		got, err := ParseKeys(environ)
		if err != nil || len(got) != 1 || !bytes.Equal(got[0], want) {
			t.Errorf("%q gives %x, %v", environ, got, err)
		}
	}
	for _, environ := range []string{"", ",", "secret", "====", " ", base64.StdEncoding.EncodeToString(want) + ",secret", base64.StdEncoding.EncodeToString(want[1:]), strings.Repeat("!", 44)} {
		if _, err := ParseKeys(environ); err == nil {
			t.Errorf("%q was taken for a key", environ)
		} else if len(environ) > 1 && strings.Contains(err.Error(), environ) {
			t.Errorf("the error contains the secret: %v", err)
		}
	}
}

// TestKeyFileIsMadeOnce simulates several processes that start on a new folder.
func TestKeyFileIsMadeOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data", "keys")
	const processes = 8
	var keys [processes][]byte
	var done sync.WaitGroup
	for i := range processes {
		done.Go(func() {
			made, err := ReadOrMakeKeyFile(filepath.Join(dir, "key-encryption.key"))
			if err != nil {
				t.Error(err)
				return
			}
			keys[i] = made[0]
		})
	}
	done.Wait()
	for _, key := range keys {
		if len(key) != kekSize || !bytes.Equal(key, keys[0]) || bytes.Equal(key, make([]byte, kekSize)) {
			t.Fatalf("the processes use the keys %x", keys)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Fatalf("the folder has %d files (%v), expected 1", len(files), err)
	}
	if info, err := files[0].Info(); err != nil || info.Mode() != 0o600 {
		t.Errorf("the file has mode %v (%v), expected 0600", info.Mode(), err)
	}
}

func TestKeyFileRefused(t *testing.T) {
	good := base64.StdEncoding.EncodeToString(kek())
	for _, test := range []struct {
		name, text string
		mode       os.FileMode
		want       string
	}{
		{"the group may read it", good, 0o640, "chmod 600"},
		{"other users can read it", good, 0o604, "chmod 600"},
		{"the group may write it", good, 0o620, "chmod 600"},
		{"empty", "", 0o600, "got 0 bytes"},
		{"cut off", good[:20], 0o600, "32 bytes"},
		{"not base64", strings.Repeat("?", 44), 0o600, "not base64"},
		{"endless", strings.Repeat("A", 1<<20), 0o600, "32 bytes"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "key-encryption.key")
		if err := os.WriteFile(path, []byte(test.text), test.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, test.mode); err != nil { // regardless of the umask
			t.Fatal(err)
		}
		if _, err := ReadOrMakeKeyFile(path); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, expected an error that contains %q", test.name, err, test.want)
		}
	}
	credential := filepath.Join(t.TempDir(), "credential")
	if err := errors.Join(os.WriteFile(credential, []byte(good), 0o600), os.Chmod(credential, 0o440)); err != nil {
		t.Fatal(err)
	}
	if keys, err := ReadKeyFile(credential); err != nil || len(keys) != 1 {
		t.Errorf("a credential of systemd has %d keys, %v", len(keys), err)
	}
	volume := filepath.Dir(credential) // with fsGroup
	if err := errors.Join(os.Chown(volume, -1, os.Getegid()), os.Chown(credential, -1, os.Getegid()),
		os.Chmod(volume, os.ModeSetgid|0o770), os.Chmod(credential, 0o660)); err != nil {
		t.Fatal(err)
	}
	if keys, err := ReadKeyFile(credential); err != nil || len(keys) != 1 {
		t.Errorf("a file in a volume has %d keys, %v", len(keys), err)
	}
	dir := t.TempDir()
	if _, err := ReadOrMakeKeyFile(dir); err == nil {
		t.Error("a folder was taken for the key file")
	}
}

// TestReplaceKeyFile writes several keys and reads them back in their order.
func TestReplaceKeyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key-encryption.key")
	first, err := ReadOrMakeKeyFile(path)
	if err != nil {
		t.Fatal(err)
	}
	newer := NewKeyEncryptionKey()
	if err := ReplaceKeyFile(path, [][]byte{newer, first[0]}); err != nil {
		t.Fatal(err)
	}
	got, err := ReadKeyFile(path)
	if err != nil || len(got) != 2 || !bytes.Equal(got[0], newer) || !bytes.Equal(got[1], first[0]) {
		t.Errorf("the file has the keys %x (%v), expected the newer one before %x", got, err, first)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("the file has mode %v (%v), expected 0600", info.Mode(), err)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("%d files are left (%v), expected the key file alone", len(files), err)
	}
}

func TestDerive(t *testing.T) {
	a, b := Derive(kek(), "decoys", 32), Derive(kek(), "cookies", 32)
	if len(a) != 32 || bytes.Equal(a, b) || bytes.Equal(a, kek()) || !bytes.Equal(a, Derive(kek(), "decoys", 32)) {
		t.Errorf("derived %x and %x", a, b)
	}
	if other := Derive(append(kek()[1:], 8), "decoys", 32); bytes.Equal(a, other) {
		t.Error("another key gives the same secret")
	}
	if got := len(Derive(kek(), "decoys", 100)); got != 100 {
		t.Errorf("derived %d bytes, expected 100", got)
	}
}
