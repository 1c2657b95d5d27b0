package declare

import (
	"fmt"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Resource is a resource declared in a file.
type Resource struct {
	Noun     Noun
	Document *schemas.Document
	File     string
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

// maxFile is the maximum size of a file in bytes.
const maxFile = 4 << 20

// ReadSeed reads a seed file. If it is wrong, the error is Faults.
func ReadSeed(file string, text []byte) ([]Resource, error) {
	var faults Faults
	d := parse(file, text, &faults)
	if d == nil {
		return nil, faults.err()
	}
	var list []Resource
	members := d.Members()
	if len(members) == 0 {
		faults.addAll(file, d.Locate([]schemas.Problem{{Message: "expected an object with resources, such as groups: [{name: staff}]; the file is empty"}}))
	}
	for _, plural := range members {
		noun, known := NounOf(plural)
		if !known {
			faults.addAll(file, d.Locate([]schemas.Problem{schemas.Problem{Path: schemas.MemberPath("", plural), Message: unknownNoun("member", plural)}.OnName()}))
			continue
		}
		list = append(list, readList(file, d, noun, &faults)...)
	}
	return list, faults.err()
}

// readList reads the resources of one member of a seed file.
func readList(file string, d *schemas.Document, noun Noun, faults *Faults) (list []Resource) {
	items, ok := d.At(noun.Plural).Items()
	if !ok {
		faults.addAll(file, d.Locate([]schemas.Problem{{Path: noun.Plural, Message: "expected a list of " + noun.Plural}}))
		return nil
	}
	for _, item := range items {
		r := Resource{noun, item, file}
		r.check(faults)
		list = append(list, r)
	}
	return list
}

// readOne reads a file of a tree, which declares one resource.
func readOne(file string, text []byte, noun Noun, faults *Faults) (Resource, bool) {
	d := parse(file, text, faults)
	if d == nil {
		return Resource{}, false
	}
	r := Resource{noun, d, file}
	r.check(faults)
	return r, true
}

func parse(file string, text []byte, faults *Faults) *schemas.Document {
	if len(text) > maxFile {
		faults.add(file, "expected a file of at most %d bytes, got %d", maxFile, len(text))
		return nil
	}
	d, problems := schemas.ParseYAML(text)
	faults.addAll(file, problems)
	if d != nil && len(d.JSON()) > 0 && d.JSON()[0] != '{' {
		faults.addAll(file, d.Locate([]schemas.Problem{{Message: "expected an object"}}))
		return nil
	}
	return d
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

// unknownNoun returns the message for an unknown member or folder.
func unknownNoun(what, name string) string {
	var known []string
	for _, n := range Nouns() {
		if what == "member" {
			known = append(known, n.Plural)
		} else {
			known = append(known, n.Folder)
		}
	}
	message := fmt.Sprintf("unknown %s %q", what, name)
	if near := schemas.Hint(name, known); near != "" {
		return message + near
	}
	return message + "; known: " + strings.Join(known, ", ")
}
