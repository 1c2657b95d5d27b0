package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/schemas"
)

type flowPullCommand struct {
	Dir     string   `default:"." type:"path" help:"The folder to write; by default this one."`
	Handles []string `arg:"" optional:"" name:"handle" help:"The handles of flows; by default all."`
	flowServer
}

// Run writes flows as files. A file with the same meaning is not changed.
func (c flowPullCommand) Run(ctx context.Context, p program) error {
	server, err := c.connect(ctx, p)
	if err != nil {
		return err
	}
	list, err := c.wanted(ctx, server)
	if err != nil {
		return err
	}
	if err := checkHandles(list); err != nil {
		return err
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return err
	}
	for i := range list {
		name := fileName(list, i)
		path := filepath.Join(c.Dir, name)
		if isSameFlow(path, &list[i]) {
			fmt.Fprintf(p.stdout, "%s: unchanged, version %d\n", name, list[i].ActiveVersion)
			continue
		}
		text, err := encodeFlow(list[i].Flow)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "%s: version %d\n", name, list[i].ActiveVersion)
	}
	return nil
}

func (c flowPullCommand) wanted(ctx context.Context, server *bootstrap.FlowServer) ([]bootstrap.StoredFlow, error) {
	if len(c.Handles) == 0 {
		return server.List(ctx)
	}
	var list []bootstrap.StoredFlow
	for _, handle := range c.Handles {
		f, err := findFlowByHandle(ctx, server, handle)
		if err != nil {
			return nil, err
		}
		list = append(list, *f)
	}
	return list, nil
}

// suggestFlow returns the closest flow of a server, if any.
func suggestFlow(ctx context.Context, server *bootstrap.FlowServer, name string) string {
	list, err := server.List(ctx)
	if err != nil {
		return ""
	}
	var known []string
	for _, f := range list {
		known = append(known, f.Handle)
	}
	return schemas.Hint(name, known)
}

// handle is the pattern of handles in the JSON Schema of flows.
var handle = regexp.MustCompile(`^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$`)

// checkHandles makes sure that handles are file names inside the folder: a malicious server
// could otherwise write anywhere on the user's machine.
func checkHandles(list []bootstrap.StoredFlow) error {
	for _, f := range list {
		if !handle.MatchString(f.Handle) || !slices.Contains(schemas.FlowTypes(), f.FlowType) {
			return fmt.Errorf("the server returned an invalid flow handle or type (%.100q, %.100q): nothing was written", f.Handle, f.FlowType)
		}
	}
	return nil
}

// fileName returns the file name of a flow. It contains the type if two flows have the same
// handle.
func fileName(list []bootstrap.StoredFlow, i int) string {
	f := list[i]
	two := slices.ContainsFunc(list, func(g bootstrap.StoredFlow) bool { return g.Handle == f.Handle && g.FlowType != f.FlowType })
	if two {
		return f.Handle + "." + strings.ToLower(string(f.FlowType)) + ".yaml"
	}
	return f.Handle + ".yaml"
}

// isSameFlow reports whether a file has the meaning of a flow. The meaning of sub-flows
// belongs to their own files.
func isSameFlow(path string, f *bootstrap.StoredFlow) bool {
	g, err := program{}.compileFlow(path)
	if err != nil {
		return false
	}
	f.Parts, f.Uses = g.Flow().Parts, nil
	changes, known := compareWithStored(f, g)
	return known && len(changes) == 0
}

// encodeFlow returns a flow in the format of files, without server metadata.
func encodeFlow(f *schemas.Flow) ([]byte, error) {
	bare := *f
	bare.Uses, bare.UsedBy = nil, nil
	bare.ID, bare.ActiveVersion, bare.CreatedAt, bare.UpdatedAt, bare.IsReadOnly = "", 0, nil, nil, false
	text, err := json.Marshal(&bare)
	if err != nil {
		return nil, err
	}
	return schemas.ToYAML(text)
}

// findFlowByHandle finds a flow by its handle, or by its type and handle
// ("REGISTRATION/sign-up").
func findFlowByHandle(ctx context.Context, server *bootstrap.FlowServer, name string) (*bootstrap.StoredFlow, error) {
	types := schemas.FlowTypes()
	if t, handle, ok := strings.Cut(name, "/"); ok {
		types, name = []schemas.FlowType{schemas.FlowType(t)}, handle
	}
	var found *bootstrap.StoredFlow
	for _, t := range types {
		f, err := server.Find(ctx, t, name)
		switch {
		case err != nil:
			return nil, err
		case f != nil && found != nil:
			return nil, fmt.Errorf("there are two flows %q: use %s/%s or %s/%s", name, found.FlowType, name, f.FlowType, name)
		case f != nil:
			found = f
		}
	}
	if found == nil {
		return nil, fmt.Errorf("the server has no flow %q%s", name, suggestFlow(ctx, server, name))
	}
	return found, nil
}
