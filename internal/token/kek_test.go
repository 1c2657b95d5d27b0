package token

import (
	"bytes"
	"encoding/base64"
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
		dir := t.TempDir()
		got, err := KeyEncryptionKey(dir, environ)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%q gives %x, %v", environ, got, err)
		}
		if files, _ := os.ReadDir(dir); len(files) != 0 {
			t.Error("a file was made although the environment gives the key")
		}
	}
	for _, environ := range []string{"secret", "====", " ", base64.StdEncoding.EncodeToString(want[1:]), strings.Repeat("!", 44)} {
		if _, err := KeyEncryptionKey(t.TempDir(), environ); err == nil {
			t.Errorf("%q was taken for a key", environ)
		} else if len(environ) > 1 && strings.Contains(err.Error(), environ) {
			t.Errorf("the error tells the secret: %v", err)
		}
	}
}

// TestKeyFileIsMadeOnce starts several processes, as it were, on a new folder.
func TestKeyFileIsMadeOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	const processes = 8
	var keys [processes][]byte
	var done sync.WaitGroup
	for i := range processes {
		done.Go(func() {
			var err error
			if keys[i], err = KeyEncryptionKey(dir, ""); err != nil {
				t.Error(err)
			}
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
		{"anybody may read it", good, 0o604, "chmod 600"},
		{"the group may write it", good, 0o620, "chmod 600"},
		{"empty", "", 0o600, "got 0 bytes"},
		{"cut off", good[:20], 0o600, "32 bytes"},
		{"not base64", strings.Repeat("?", 44), 0o600, "not base64"},
		{"endless", strings.Repeat("A", 1<<20), 0o600, "32 bytes"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, KeyFile)
		if err := os.WriteFile(path, []byte(test.text), test.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, test.mode); err != nil { // whatever the umask
			t.Fatal(err)
		}
		if _, err := KeyEncryptionKey(dir, ""); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, expected an error that tells %q", test.name, err, test.want)
		}
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, KeyFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := KeyEncryptionKey(dir, ""); err == nil {
		t.Error("a folder was taken for the key file")
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
