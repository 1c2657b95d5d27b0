package declare

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/postern-id/postern/internal/folder"
	"github.com/postern-id/postern/schemas"
)

// Resource is a resource declared in a file.
type Resource struct {
	Noun     Noun
	Document *schemas.Document
	File     string
	Root     string // the folder of the files, in which secrets are
}

// Name returns the noun with the key or the id.
func (r *Resource) Name() string { return r.Noun.describe(r.Document) }

func (n Noun) describe(d *schemas.Document) string {
	name := n.label(d)
	if name == "" {
		name = d.TextAt("id")
	}
	if name == "" {
		return n.displayName() + " without a name"
	}
	return fmt.Sprintf("%s %q", n.displayName(), name)
}

// ReadSeed reads a seed file. If it is wrong, the error is Faults.
func ReadSeed(file string, text []byte) ([]Resource, error) {
	var faults Faults
	seed, ok := parse(file, text, &faults)
	if !ok {
		return nil, faults.err()
	}
	var list []Resource
	members := seed.Document.Members()
	if len(members) == 0 {
		faults = append(faults, seed.fault("", "expected an object with resources, such as groups: [{name: staff}]; the file is empty"))
	}
	for _, plural := range members {
		noun, known := NounOf(plural)
		if !known {
			p := schemas.Problem{Path: schemas.MemberPath("", plural), Message: unknownName("member", plural, func(n Noun) string { return n.Plural })}
			faults = append(faults, seed.located(p.OnName()))
			continue
		}
		items, isList := seed.Document.At(plural).Items()
		if !isList {
			faults = append(faults, seed.fault(plural, "expected a list of %s", plural))
		}
		for _, item := range items {
			r := Resource{noun, item, file, filepath.Dir(file)}
			r.check(&faults)
			list = append(list, r)
		}
	}
	return list, faults.err()
}

// parse reads a file with an object, without its noun.
func parse(file string, text []byte, faults *Faults) (r Resource, ok bool) {
	if len(text) > folder.MaxFile {
		faults.add(file, "expected a file of at most %d bytes, got %d", folder.MaxFile, len(text))
		return r, false
	}
	d, problems := schemas.ParseYAML(text)
	for _, p := range problems {
		*faults = append(*faults, Fault{file, p})
	}
	r = Resource{Document: d, File: file}
	if d != nil && len(d.JSON()) > 0 && d.JSON()[0] != '{' {
		*faults = append(*faults, r.fault("", "expected an object"))
		return r, false
	}
	return r, d != nil
}

// check reports faults of form that concern only files.
func (r *Resource) check(faults *Faults) {
	if r.Document.JSON()[0] != '{' {
		*faults = append(*faults, r.fault("", "expected an object: the %s", r.Noun.displayName()))
		return
	}
	if len(r.Document.Members()) == 0 {
		*faults = append(*faults, r.fault("", "expected a %s, the object is empty", r.Noun.displayName()))
	}
	*faults = append(*faults, r.checkSecrets()...)
}

// unknownName returns the message for an unknown member or folder; nameOf returns the names
// of nouns there.
func unknownName(what, name string, nameOf func(Noun) string) string {
	known := nounNames(nameOf)
	message := fmt.Sprintf("unknown %s %q", what, name)
	if near := schemas.Hint(name, known); near != "" {
		return message + near
	}
	return message + "; known: " + strings.Join(known, ", ")
}

func nounNames(nameOf func(Noun) string) (list []string) {
	for _, n := range Nouns() {
		list = append(list, nameOf(n))
	}
	return list
}
