//go:build unix

package folder

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skipf("symbolic links: %v", err)
	}
}

// newFolder returns a folder with every kind of entry.
func newFolder(t *testing.T) (dir string) {
	top := t.TempDir()
	dir = filepath.Join(top, "dir")
	datatest.WriteFile(t, filepath.Join(top, "outside.yaml"), "secret")
	datatest.WriteFile(t, filepath.Join(dir, "a.yaml"), "a")
	datatest.WriteFile(t, filepath.Join(dir, "below", "b.yaml"), "b")
	datatest.WriteFile(t, filepath.Join(dir, "..2026_11_28", "mounted.yaml"), "mounted")
	link(t, "..2026_11_28", filepath.Join(dir, "..data"))
	link(t, filepath.Join("..data", "mounted.yaml"), filepath.Join(dir, "mounted.yaml"))
	link(t, filepath.Join(dir, "a.yaml"), filepath.Join(dir, "absolute.yaml"))
	link(t, "below", filepath.Join(dir, "linked"))
	return dir
}

func isYAML(name string) bool { return filepath.Ext(name) == ".yaml" }

func TestFind(t *testing.T) {
	dir := newFolder(t)
	found, err := Find(dir, isYAML, nil)
	for i := range found {
		found[i] = strings.TrimPrefix(filepath.ToSlash(found[i]), filepath.ToSlash(dir)+"/")
	}
	if want := []string{"a.yaml", "absolute.yaml", "below/b.yaml", "mounted.yaml"}; err != nil || !slices.Equal(found, want) {
		t.Errorf("%q, %v", found, err)
	}
	// The folder itself may be a link.
	linked := filepath.Join(filepath.Dir(dir), "alias")
	link(t, dir, linked)
	if text, err := ReadIn(linked, filepath.Join(linked, "mounted.yaml"), 10); err != nil || string(text) != "mounted" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		make func(t *testing.T, path string)
		want string
	}{
		"a named pipe": {func(t *testing.T, path string) {
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				t.Skip(err)
			}
		}, "is a named pipe; expected a regular file"},
		"a link to a pipe": {func(t *testing.T, path string) {
			if err := syscall.Mkfifo(path+".pipe", 0o600); err != nil {
				t.Skip(err)
			}
			link(t, path+".pipe", path)
		}, "is a named pipe"},
		"a socket": {func(t *testing.T, path string) {
			l, err := net.Listen("unix", path)
			if err != nil {
				t.Skip(err)
			}
			t.Cleanup(func() { _ = l.Close() })
		}, "is a socket"},
		"a device":           {func(t *testing.T, path string) { link(t, os.DevNull, path) }, "outside of the folder"},
		"a link out of it":   {func(t *testing.T, path string) { link(t, filepath.Join("..", "outside.yaml"), path) }, "outside of the folder"},
		"a link to itself":   {func(t *testing.T, path string) { link(t, filepath.Base(path), path) }, "links"},
		"a link to nothing":  {func(t *testing.T, path string) { link(t, "none", path) }, "no such file"},
		"a file that is big": {func(t *testing.T, path string) { datatest.WriteFile(t, path, strings.Repeat("x", 101)) }, "is larger than 100 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newFolder(t)
			path := filepath.Join(dir, "x.yaml")
			test.make(t, path)
			_, err := Find(dir, isYAML, nil)
			if err == nil {
				_, err = ReadIn(dir, path, 100)
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, expected %q", err, test.want)
			}
			if _, err := fs.ReadFile(FS(dir), "x.yaml"); err == nil && name != "a file that is big" {
				t.Error("the file system has it")
			}
		})
	}
	dir := newFolder(t)
	if _, err := ReadIn(dir, filepath.Join(dir, "..", "outside.yaml"), 100); err == nil || !strings.Contains(err.Error(), "outside of the folder") {
		t.Errorf("a path out of the folder: %v", err)
	}
	if _, err := Read(dir, 100); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("a folder: %v", err)
	}
}

// A shell passes the output of a command as /dev/fd/N.
func TestReadDescriptor(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := w.WriteString("text"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("/dev/fd", strconv.Itoa(int(r.Fd())))
	if _, err := os.Stat(path); err != nil {
		t.Skip(err)
	}
	if text, err := Read(path, 100); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
}
