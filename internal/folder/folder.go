// Package folder reads files that others may have put where they are: a checkout, a mounted volume, an
// export. It opens regular files only, because a named pipe would block for ever, and limits their size.
// In a folder, it follows symbolic links as long as they stay in it, as in a Kubernetes ConfigMap, whose
// files are links into a dated folder; names that start with .. are that machinery and are skipped.
package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// MaxFile is the maximum size of a text that people write, in bytes.
const MaxFile = 4 << 20

// Open opens a file that an operator has named. It must be a regular one, or a file descriptor of the
// process, such as /dev/stdin or /dev/fd/63 for <(command) in a shell.
func Open(path string) (*os.File, error) {
	return open(path, os.Stat, os.OpenFile)
}

func open(path string, stat func(string) (fs.FileInfo, error), openFile func(string, int, fs.FileMode) (*os.File, error)) (*os.File, error) {
	info, err := stat(path)
	if err != nil {
		return nil, err
	}
	if err := checkRegular(path, info.Mode()); err != nil {
		return nil, err
	}
	f, err := openFile(path, os.O_RDONLY|nonBlocking, 0) // a pipe in its place would block
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = checkRegular(path, info.Mode())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func checkRegular(path string, mode fs.FileMode) error {
	kind := "a device"
	switch {
	case mode.IsRegular() || isDescriptor(path) && !mode.IsDir():
		return nil
	case mode.IsDir():
		kind = "a folder"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	}
	return fmt.Errorf("%s is %s; expected a regular file", path, kind)
}

// isDescriptor reports whether a path names an open file of the process.
func isDescriptor(path string) bool {
	return path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
}

// Read returns the content of a file that an operator has named: see Open. It has at most limit bytes.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	return readAll(f, path, limit)
}

func readAll(f *os.File, path string, limit int64) ([]byte, error) {
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("%s is larger than %d bytes", path, limit)
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// OpenIn opens a regular file of a folder. A symbolic link out of the folder is an error.
func OpenIn(dir, path string) (*os.File, error) {
	root, rel, err := resolve(dir, path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return open(rel, root.Stat, root.OpenFile)
}

// ReadIn returns the content of a regular file of a folder, of at most limit bytes.
func ReadIn(dir, path string, limit int64) ([]byte, error) {
	f, err := OpenIn(dir, path)
	if err != nil {
		return nil, err
	}
	return readAll(f, path, limit)
}

// resolve returns the folder, and the path of a file in it without symbolic links.
func resolve(dir, path string) (*os.Root, string, error) {
	rel, err := relative(dir, path)
	if err != nil {
		return nil, "", err
	}
	root, err := os.OpenRoot(dir)
	return root, rel, err
}

// relative returns the path of a file within a folder, without symbolic links.
func relative(dir, path string) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	base, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	if base, err = filepath.Abs(base); err != nil {
		return "", err
	}
	if target, err = filepath.Abs(target); err != nil {
		return "", err
	}
	rel, err := filepath.Rel(base, target)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s is outside of the folder %s; expected a file in it", path, dir)
	}
	return rel, nil
}

// Contains reports whether a path leads to a file in a folder. Both must exist.
func Contains(dir, path string) bool {
	_, err := relative(dir, path)
	return err == nil
}

// Entry is an entry of a folder.
type Entry struct {
	Path  string
	IsDir bool // also for a link to a folder
}

// List returns the entries of a folder below top, or of top itself, sorted by name. It skips names that
// start with "..". A symbolic link out of top is an error, and whatever is neither a folder nor a
// regular file is too, if it is wanted.
func List(top, dir string, wanted func(name string) bool) (list []Entry, err error) {
	found, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range found {
		if strings.HasPrefix(e.Name(), "..") || !e.IsDir() && !wanted(e.Name()) {
			continue
		}
		entry := Entry{filepath.Join(dir, e.Name()), e.IsDir()}
		if !e.IsDir() {
			if entry.IsDir, err = check(top, entry.Path); err != nil {
				return nil, err
			}
		}
		list = append(list, entry)
	}
	return list, nil
}

// check reports whether a path leads to a folder. It must lead to a folder or a regular file in top.
func check(top, path string) (isDir bool, err error) {
	if _, err := relative(top, path); err != nil {
		return false, err
	}
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return err == nil, err
	}
	return false, checkRegular(path, info.Mode())
}

// Find returns the paths of the wanted files in a folder and the folders below it, sorted. It does not
// enter folders that skip reports, nor those that are symbolic links. Skip may be nil.
func Find(top string, wanted, skip func(name string) bool) (files []string, err error) {
	pending := []string{top}
	for len(pending) > 0 {
		dir := pending[0]
		pending = pending[1:]
		list, err := List(top, dir, wanted)
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			switch {
			case !e.IsDir:
				files = append(files, e.Path)
			case isLink(e.Path) || skip != nil && skip(filepath.Base(e.Path)):
			default:
				pending = append(pending, e.Path)
			}
		}
	}
	slices.Sort(files)
	return files, nil
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// FS is a folder as a file system.
type FS string

// Open implements fs.FS.
func (f FS) Open(name string) (fs.File, error) {
	file, err := OpenIn(string(f), f.path(name))
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return file, nil
}

// ReadFile implements fs.ReadFileFS.
func (f FS) ReadFile(name string) ([]byte, error) { return ReadIn(string(f), f.path(name), MaxFile) }

// ReadDir implements fs.ReadDirFS.
func (f FS) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := os.ReadDir(f.path(name))
	return slices.DeleteFunc(list, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), "..") }), err
}

func (f FS) path(name string) string { return filepath.Join(string(f), filepath.FromSlash(name)) }
