package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/findings"
	"github.com/postern-id/postern/schemas"
)

// flowFolder is a folder from which a server reads its flow files.
type flowFolder struct {
	dir             string
	app             *app
	program         program
	lastFingerprint []byte // fingerprint of the files that were read first
}

// read reads and checks the flow files of the folder. It prints the errors.
func (f flowFolder) read() ([]*schemas.Document, error) {
	var files []findings.File
	names, err := flowFiles().expandPaths([]string{f.dir})
	if err == nil {
		checker := findings.Checker{Kinds: f.app.kinds, Subflows: flows.NewSubflowResolver(names...).ForFile}
		files, err = checker.Check(len(names), func(i int) (findings.Source, error) { return f.program.readSource(names[i]) })
	}
	if err != nil {
		return nil, fmt.Errorf("flow.dir: %w", err)
	}
	documents := make([]*schemas.Document, len(files))
	for i, f := range files {
		read := schemas.ParseYAML
		if flows.IsJSON(f.Name) {
			read = schemas.ParseJSON
		}
		documents[i], _ = read(f.Text) // a file that cannot be read has findings
	}
	findings.ReportHandleConflicts(files, func(string) string { return f.dir })
	files = slices.DeleteFunc(files, func(file findings.File) bool { return len(file.Findings) == 0 })
	if len(files) == 0 {
		return documents, nil
	}
	if err := (findings.Text{Colour: f.program.useColor("auto")}).Write(f.program.stdout, files); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(files, isRefused) {
		return nil, fmt.Errorf("the flows in %s have errors", f.dir)
	}
	return documents, nil
}

// storeFlows replaces the store's flows with the documents, and prints those with a new
// version.
func (f flowFolder) storeFlows(ctx context.Context, documents []*schemas.Document) error {
	held, err := f.app.directory.SyncFlowsFromFiles(ctx, documents)
	if err != nil {
		return err
	}
	for _, h := range held {
		if h.New {
			fmt.Fprintf(f.program.stdout, "flow %s is version %d\n", h.Handle, h.Version)
		}
	}
	return nil
}

// watch reloads the files whenever they have changed, until the context ends. Rejected
// files change nothing: the previous flows stay active.
func (f flowFolder) watch(ctx context.Context) {
	whenChanged(ctx, f.lastFingerprint, f.fingerprint, func() { f.reload(ctx) })
}

// reload stores the files, and prints the result.
func (f flowFolder) reload(ctx context.Context) {
	documents, err := f.read()
	if err == nil {
		err = f.storeFlows(ctx, documents)
	}
	if err != nil {
		fmt.Fprintf(f.program.stdout, "%v; the previous flows stay active\n", err)
	}
}

// fingerprint changes with the state of the folder.
func (f flowFolder) fingerprint() []byte {
	return fingerprint([]watchedFolder{{f.dir, true}}, flows.IsFlow)
}
