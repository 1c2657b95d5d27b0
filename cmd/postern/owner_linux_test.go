package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// Root runs commands for a server that runs as another user, such as that of the systemd unit. The server can read
// what they write.
func TestFilesKeepTheirOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIP: only root can give files to other users")
	}
	sequential(t)
	const user = 65534
	source := newTestApp(t)
	temp := t.TempDir()
	file, passphrase := filepath.Join(temp, "backup"), filepath.Join(temp, "passphrase")
	datatest.WriteFile(t, passphrase, "a passphrase of a test")
	mustRun(t, source.cfg.Environ, "backup", "--include-key", "--passphrase-file", passphrase, file)
	dir := filepath.Join(temp, "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, user, user); err != nil {
		t.Fatal(err)
	}
	environ := testEnvironment(dir)
	for _, args := range [][]string{
		{"restore", "--passphrase-file", passphrase, file},
		{"restore", "--force", "--passphrase-file", passphrase, file},
		{"keys", "re-encrypt", "--new-key", "--drop-old-keys"},
	} {
		mustRun(t, environ, args...)
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err == nil && info.Sys().(*syscall.Stat_t).Uid != user {
				t.Errorf("after %q, %s belongs to another user", args, path)
			}
			return err
		})
		if err != nil || !isFile(filepath.Join(dir, "database", "postern.db")) || !isFile(filepath.Join(dir, "keys", "key-encryption.key")) {
			t.Errorf("after %q: files are missing, %v", args, err)
		}
	}
}
