package lsp

import (
	"errors"
	"io/fs"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/postern-id/postern/flows"
)

// document is an open file.
type document struct {
	uri     string
	path    string
	version int
	text    text
	tooLong bool // the text is not kept
}

// newDocument returns an open file. A text that is too long is not kept: the server would parse it, with
// many times its memory.
func newDocument(uri, path string, version int, content text) *document {
	if len(content.content) > maxDocument {
		return &document{uri: uri, path: path, version: version, tooLong: true}
	}
	return &document{uri: uri, path: path, version: version, text: content}
}

// openFiles are the files of the disk, except for those that are open. It is a snapshot of the open ones.
type openFiles map[string]*document

// ReadFile implements flows.Files.
func (o openFiles) ReadFile(name string) ([]byte, error) {
	if d := o[filepath.Clean(name)]; d != nil {
		return []byte(d.text.content), nil
	}
	if isVirtual(name) {
		return nil, fs.ErrNotExist
	}
	return flows.Disk{}.ReadFile(name)
}

// ReadDir implements flows.Files. It also lists open files that are not saved yet.
func (o openFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	var entries []fs.DirEntry
	var err error
	if !isVirtual(name) {
		entries, err = flows.Disk{}.ReadDir(name)
	}
	known := map[string]bool{}
	for _, e := range entries {
		known[e.Name()] = true
	}
	for path := range o {
		if filepath.Dir(path) == filepath.Clean(name) && !known[filepath.Base(path)] {
			entries = append(entries, unsaved(filepath.Base(path)))
		}
	}
	if len(entries) > 0 && errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return entries, err
}

var _ flows.Files = openFiles{}

// unsaved is the entry of a file that is not on the disk.
type unsaved string

func (u unsaved) Name() string             { return string(u) }
func (unsaved) IsDir() bool                { return false }
func (unsaved) Type() fs.FileMode          { return 0 }
func (unsaved) Info() (fs.FileInfo, error) { return nil, fs.ErrNotExist }

// virtualFolder contains documents that are not files, such as untitled:Untitled-1.
const virtualFolder = "\x00"

func isVirtual(path string) bool { return strings.HasPrefix(path, virtualFolder) }

// pathOf returns the path of a URI. A URI that is not a file has a path in a folder of its own.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return filepath.Join(virtualFolder+url.PathEscape(uri), filepath.Base(uri))
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.Clean(filepath.FromSlash(path))
}

// uriOf returns the URI of a file.
func (o openFiles) uriOf(path string) string {
	if d := o[path]; d != nil {
		return d.uri
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive letter
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
