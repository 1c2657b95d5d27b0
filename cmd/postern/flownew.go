package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/recipes"
	"github.com/postern-id/postern/internal/declare"
)

type flowNewCommand struct {
	From string `default:"sign-in" placeholder:"RECIPE" help:"The recipe to copy."`
	List bool   `help:"List the recipes."`
	Dir  string `arg:"" optional:"" default:"." type:"path" help:"The folder for the files. It is created if it does not exist."`
}

// Run copies a recipe into a folder. It writes nothing if one of the files exists.
func (c flowNewCommand) Run(p program) error {
	if c.List {
		t := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
		for _, r := range recipes.All() {
			fmt.Fprintf(t, "%s\t%s\n", r.Name, r.When)
		}
		return t.Flush()
	}
	r, err := recipes.Find(c.From)
	if err != nil {
		return err
	}
	copies := []fileCopy{
		{filepath.Join(c.Dir, r.FileName()), p.nameSchema(r.Flow, "flow")},
		{filepath.Join(c.Dir, flows.ScenariosOf(r.FileName())), p.nameSchema(r.Scenarios, "scenario")},
	}
	if r.UserType != "" {
		text, err := r.UserTypeText()
		if err != nil {
			return err
		}
		copies = append(copies, fileCopy{filepath.Join(c.Dir, flows.UserTypesFolder, r.UserType), text})
	}
	if err := writeNewFiles(copies); err != nil {
		return err
	}
	for _, f := range copies {
		fmt.Fprintf(p.stdout, "wrote %s\n", f.path)
	}
	fmt.Fprintf(p.stdout, "\nnext: postern flow check %s && postern flow test %s\n", copies[0].path, copies[1].path)
	return nil
}

// nameSchema replaces the first comment of a recipe, which names a schema in the repository for editors, by
// the address of the schema at the server of ADMIN_SERVER_URL. Without a server it removes the comment.
func (p program) nameSchema(text []byte, schema string) []byte {
	comment, rest, _ := bytes.Cut(text, []byte("\n"))
	if !bytes.HasPrefix(comment, []byte(declare.SchemaComment)) {
		return text
	}
	server := strings.TrimSuffix(p.getenv("ADMIN_SERVER_URL"), "/")
	if server == "" {
		return rest
	}
	return slices.Concat([]byte(declare.SchemaComment+server+schemasPath+schema+".json\n"), rest)
}

// fileCopy is a file to write.
type fileCopy struct {
	path string
	text []byte
}

// writeNewFiles writes files, or none of them if one exists.
func writeNewFiles(list []fileCopy) error {
	for _, f := range list {
		if _, err := os.Lstat(f.path); err == nil {
			return fmt.Errorf("%s exists: remove it, or choose another folder", f.path)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, f := range list {
		if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(f.path, f.text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
