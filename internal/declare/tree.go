package declare

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/folder"
	"github.com/postern-id/postern/schemas"
)

// Tree is the content of a folder of files.
type Tree struct {
	Resources []Resource
	// Nouns are the plurals whose folder exists: the files declare all their resources.
	Nouns map[string]bool
}

// ReadTree reads a tree. It ignores dot files and the scenarios of flows (*_test.yaml); any
// other file that is no resource is a fault.
func ReadTree(dir string) (*Tree, error) {
	t := treeReader{dir: dir, Tree: Tree{Nouns: map[string]bool{}}}
	if info, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no folder %s", dir)
	} else if err != nil {
		return nil, fmt.Errorf("the folder cannot be read: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder; expected one that `postern export` wrote", dir)
	}
	if err := t.root(dir); err != nil {
		return nil, err
	}
	if len(t.Nouns) == 0 && len(t.faults) == 0 {
		return nil, fmt.Errorf("%s has no folder of resources: expected one of %s", dir, folders())
	}
	return &t.Tree, t.faults.err()
}

func folderOf(n Noun) string { return n.Folder }

// folders lists the folders of a tree.
func folders() string { return strings.Join(nounNames(folderOf), ", ") }

type treeReader struct {
	Tree
	dir    string
	faults Faults
}

// flowFolders maps the folders in flows/ to types of flows.
func flowFolders() map[string]schemas.FlowType {
	return map[string]schemas.FlowType{
		"authentication": schemas.Authentication,
		"registration":   schemas.Registration,
		"subflow":        schemas.Subflow,
	}
}

func (t *treeReader) root(dir string) error {
	return t.entries(dir, func(path string, isDir bool) error {
		i := slices.IndexFunc(Nouns(), func(n Noun) bool { return n.Folder == filepath.Base(path) })
		switch {
		case !isDir:
			t.faults.add(path, "unexpected file; resources are in the folders %s", folders())
		case i < 0:
			t.faults.add(path, "%s", unknownName("folder", filepath.Base(path), folderOf))
		default:
			t.Nouns[Nouns()[i].Plural] = true
			return t.folder(path, Nouns()[i])
		}
		return nil
	})
}

// folder reads the folder of a noun.
func (t *treeReader) folder(dir string, noun Noun) error {
	if noun.Plural != "flows" {
		return t.files(dir, noun, "")
	}
	return t.entries(dir, func(path string, isDir bool) error {
		flowType, known := flowFolders()[filepath.Base(path)]
		if !isDir || !known {
			t.faults.add(path, "expected the folders authentication, registration and subflow in %s; a flow is in the folder of its type", dir)
			return nil
		}
		return t.files(path, noun, flowType)
	})
}

// files reads the files of a folder. Flows have a type.
func (t *treeReader) files(dir string, noun Noun, flowType schemas.FlowType) error {
	return t.entries(dir, func(path string, isDir bool) error {
		switch {
		case isDir:
			t.faults.add(path, "unexpected folder; expected files of resources")
		case flowType != "" && isScenarios(path):
		case filepath.Ext(path) != ".yaml":
			t.faults.add(path, "expected a file that ends with .yaml; rename it, or remove it from the tree")
		default:
			return t.file(path, noun, flowType)
		}
		return nil
	})
}

// isScenarios reports whether a file contains the scenarios of a flow, which are tests.
func isScenarios(path string) bool {
	return strings.HasSuffix(path, "_test.yaml") || strings.HasSuffix(path, "_test.yml")
}

func (t *treeReader) file(path string, noun Noun, flowType schemas.FlowType) error {
	text, err := folder.ReadIn(t.dir, path, folder.MaxFile)
	if err != nil {
		return err
	}
	r, ok := parse(path, text, &t.faults)
	if !ok {
		return nil
	}
	r.Noun, r.Root = noun, t.dir
	r.check(&t.faults)
	if got := r.Document.TextAt("flowType"); flowType != "" && got != string(flowType) {
		t.faults = append(t.faults, r.fault("flowType", "expected %s, the type of the folder, got %q; move the file, or change the type", flowType, got))
	}
	t.Resources = append(t.Resources, r)
	return nil
}

// entries calls do for each entry of a folder, sorted by name. It follows symbolic links within the tree.
func (t *treeReader) entries(dir string, do func(path string, isDir bool) error) error {
	list, err := folder.List(t.dir, dir, func(name string) bool { return !strings.HasPrefix(name, ".") })
	if err != nil {
		return err
	}
	for _, entry := range list {
		if strings.HasPrefix(filepath.Base(entry.Path), ".") {
			continue
		}
		if err := do(entry.Path, entry.IsDir); err != nil {
			return err
		}
	}
	return nil
}
