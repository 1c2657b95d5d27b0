package declare

import (
	"context"
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// Export writes all resources of a directory as the files of a tree: path, with
// slashes, to text. Equal stores give equal files. They say no times, no secrets
// and nothing that follows from the rest; ids they do say.
func Export(ctx context.Context, d *directory.Directory) (map[string][]byte, error) {
	var files map[string][]byte
	err := d.Snapshot(ctx, directory.SystemCall(), func(call directory.Call) error {
		target := NewDirectory(d, call)
		e := exporter{formatter: newFormatter(target, newResourceCache(target)), files: map[string][]byte{}}
		if err := e.run(ctx); err != nil {
			return err
		}
		files = e.files
		return nil
	})
	return files, err
}

// NameSchemas has the flows among the files of an export name the schema that
// editors complete and check them by: that of the address.
func NameSchemas(files map[string][]byte, address string) {
	for name, text := range files {
		if strings.HasPrefix(name, flowsFolder+"/") {
			files[name] = append([]byte("# yaml-language-server: $schema="+address+"\n"), text...)
		}
	}
}

// flowsFolder is the folder of the flows in a tree.
const flowsFolder = "flows"

type exporter struct {
	*formatter
	files map[string][]byte
}

func (e *exporter) run(ctx context.Context) error {
	lists := map[string][]*Entry{}
	for _, n := range Nouns() {
		all, err := e.target.all(ctx, n)
		if err != nil {
			return err
		}
		e.cache.fill(n, all)
		lists[n.Plural] = slices.DeleteFunc(slices.Clone(all), isMadeByServer)
	}
	for _, n := range Nouns() {
		names := fileNames(n, lists[n.Plural])
		for i, entry := range lists[n.Plural] {
			text, err := e.write(ctx, n, entry.Document)
			if err != nil {
				return err
			}
			e.files[names[i]] = text
		}
	}
	return nil
}

// isMadeByServer reports whether a resource is a client that registered itself. Nobody
// declares those: in a file one would become an administrator's.
func isMadeByServer(e *Entry) bool { return e.Document.TextAt("registration") != "" }

func (e *exporter) write(ctx context.Context, n Noun, d *schemas.Document) ([]byte, error) {
	form, err := e.format(ctx, n, d)
	if err != nil {
		return nil, err
	}
	text, err := schemas.ToYAML(form.JSON())
	if err != nil {
		return nil, fmt.Errorf("declare: the %s: %w", n.describe(d), err)
	}
	return text, nil
}

// fileNames gives each resource of a noun a file. Where several would have the
// same, the id tells them apart.
func fileNames(n Noun, list []*Entry) []string {
	names, taken := make([]string, len(list)), map[string]int{}
	for i, e := range list {
		names[i] = slug(n.label(e.Document))
		if names[i] == "" {
			names[i] = e.ID
		}
		names[i] = path.Join(n.Folder, flowFolder(n, e.Document), names[i])
		taken[names[i]]++
	}
	for i, e := range list {
		if taken[names[i]] > 1 {
			names[i] += "." + e.ID
		}
		names[i] += ".yaml"
	}
	return names
}

// flowFolder is the folder of a flow's type; "" for another noun.
func flowFolder(n Noun, d *schemas.Document) string {
	if n.Plural != "flows" {
		return ""
	}
	return strings.ToLower(d.TextAt("flowType"))
}

// maxSlugLength is how many characters of a name go into that of a file.
const maxSlugLength = 80

// slug is a name as part of a file's name: lower-case letters, digits and dashes,
// so that it is one on every system, with a dot or @ as usernames have them.
func slug(name string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(name) {
		switch {
		case b.Len() >= maxSlugLength:
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '@':
			b.WriteRune(c)
		case c == '.' && b.Len() > 0:
			b.WriteRune(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.TrimRight(b.String(), "-.")
}

// Names lists the names of files, sorted.
func Names(files map[string][]byte) []string {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
