package flows

import (
	"path/filepath"
	"slices"
	"sync"

	"github.com/postern-id/postern/schemas"
)

// UserTypes finds the user types in the folder that a flow file belongs to, in the layout that
// postern export writes: <folder>/user-types/*.yaml and <folder>/flows/**. It is safe for concurrent
// use.
type UserTypes struct {
	// Files are the files to read, nil for those of the disk.
	Files   Files
	mu      sync.Mutex
	folders map[string][]schemas.UserType
}

// UserTypesFolder is the name of the folder of user types next to flows, as postern export writes it.
const UserTypesFolder = "user-types"

// maxLevels is how many folders above a flow are searched for user types.
const maxLevels = 3

// ForFile returns the user types for a flow or scenario file; none if there is no such folder.
func (u *UserTypes) ForFile(file string) []schemas.UserType {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.Files == nil {
		u.Files = Disk{}
	}
	for _, dir := range UserTypeFolders(file) {
		if types := u.read(dir); len(types) > 0 {
			return types
		}
	}
	return nil
}

// UserTypeFolders returns the folders that can have the user types for a flow file. The first one with
// user types applies.
func UserTypeFolders(file string) (list []string) {
	dir := filepath.Dir(file)
	for range maxLevels {
		list = append(list, filepath.Join(dir, UserTypesFolder))
		dir = filepath.Join(dir, "..")
	}
	return list
}

// read returns the types in a folder. It ignores files that are no user types.
func (u *UserTypes) read(dir string) []schemas.UserType {
	if known, read := u.folders[dir]; read {
		return known
	}
	var types []schemas.UserType
	entries, _ := u.Files.ReadDir(dir) // an unreadable folder contains none
	for _, e := range entries {
		if e.IsDir() || !slices.Contains(flowEndings(), filepath.Ext(e.Name())) {
			continue
		}
		text, err := u.Files.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		parse := schemas.ParseYAML
		if IsJSON(e.Name()) {
			parse = schemas.ParseJSON
		}
		var t schemas.UserType
		if doc, _ := parse(text); doc != nil {
			doc.DecodeLoosely(schemas.UserTypeSchema(), &t)
		}
		if t.Name != "" && len(t.Schema) > 0 {
			types = append(types, t)
		}
	}
	if u.folders == nil {
		u.folders = map[string][]schemas.UserType{}
	}
	u.folders[dir] = types
	return types
}
