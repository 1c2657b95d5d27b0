package declare

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// marker is the file that marks a folder as an export.
const marker = ".postern-export"

const markerText = "`postern export` writes this folder, and removes the files of resources that are gone.\n"

// WriteFolder writes the files of an export to a folder and removes the files of deleted
// resources. It refuses a folder that contains files and is not marked as an export, unless
// force is set. Unchanged files are not written.
func WriteFolder(dir string, files map[string][]byte, force bool) error {
	if err := prepareFolder(dir, force); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(name)), files[name]); err != nil {
			return err
		}
	}
	for _, n := range Nouns() {
		if err := os.MkdirAll(filepath.Join(dir, n.Folder), 0o700); err != nil {
			return err
		}
	}
	return removeOthers(dir, files)
}

func prepareFolder(dir string, force bool) error {
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the folder %s cannot be written: %w", dir, err)
	}
	known := force
	for _, entry := range list {
		known = known || entry.Name() == marker
	}
	if len(list) > 0 && !known {
		return fmt.Errorf("%s is not empty and was not written by `postern export`: choose another folder, or use --force to overwrite it", dir)
	}
	return writeFile(filepath.Join(dir, marker), []byte(markerText))
}

// writeFile writes a file atomically. Only its owner can read it, because exports contain
// personal data.
func writeFile(path string, text []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	half := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".new")
	if err := os.WriteFile(half, text, 0o600); err != nil {
		return err
	}
	return os.Rename(half, path)
}

// removeOthers removes the resource files that an export does not have.
func removeOthers(dir string, files map[string][]byte) error {
	for _, n := range Nouns() {
		err := filepath.WalkDir(filepath.Join(dir, n.Folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".yaml") || strings.HasPrefix(d.Name(), ".") || n.Plural == "flows" && isScenarios(path) {
				return err
			}
			rel, err := filepath.Rel(dir, path)
			if err != nil || files[filepath.ToSlash(rel)] != nil {
				return err
			}
			return os.Remove(path)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
