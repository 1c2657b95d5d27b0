package declare

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// Export returns all resources of a directory as the files of a tree: the text by path,
// with slashes. Equal stores give equal files. The files contain ids but no times, secrets
// or derived members.
func Export(ctx context.Context, d *directory.Directory) (map[string][]byte, error) {
	var files map[string][]byte
	err := d.Snapshot(ctx, directory.SystemCall(), func(call directory.Call) error {
		target := NewDirectory(d, call)
		e := exporter{newFormatter(target, newResourceCache(target)), map[string][]byte{}}
		if err := e.run(ctx); err != nil {
			return err
		}
		files = e.files
		return nil
	})
	return files, err
}

// SchemaComment precedes the address of a schema in the first line of a YAML file, for editors.
const SchemaComment = "# yaml-language-server: $schema="

// NameSchemas adds a reference to the schema at the address to the flows of an export, for
// editors.
func NameSchemas(files map[string][]byte, address string) {
	for name, text := range files {
		if strings.HasPrefix(name, flowsFolder+"/") {
			files[name] = append([]byte(SchemaComment+address+"\n"), text...)
		}
	}
}

// flowsFolder is the folder of flows in a tree.
const flowsFolder = "flows"

type exporter struct {
	*formatter
	files map[string][]byte
}

func (e *exporter) run(ctx context.Context) error {
	lists := map[string][]*Entry{}
	for _, n := range Nouns() {
		all, err := e.readAll(ctx, n)
		if err != nil {
			return err
		}
		lists[n.Plural] = slices.DeleteFunc(all, isMadeByServer)
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

// isMadeByServer reports whether a resource is a self-registered client. Exports omit
// these: in a file, one would become an administrator's.
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

// fileNames assigns a file to each resource of a noun. Ids distinguish resources with the
// same file name.
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

// flowFolder returns the folder for a flow's type; "" for other nouns.
func flowFolder(n Noun, d *schemas.Document) string {
	if n.Plural != "flows" {
		return ""
	}
	return strings.ToLower(d.TextAt("flowType"))
}

// maxSlugLength limits the part of a name in a file name, in characters.
const maxSlugLength = 80

// notInSlug matches the characters of names that file names replace.
var notInSlug = regexp.MustCompile(`[^a-z0-9@.]+`)

// slug converts a name to a part of a file name: lower-case letters, digits and dashes,
// valid on every system, and the dot and @ of usernames.
func slug(name string) string {
	s := strings.TrimLeft(notInSlug.ReplaceAllString(strings.ToLower(name), "-"), "-.")
	return strings.TrimRight(s[:min(len(s), maxSlugLength)], "-.")
}
