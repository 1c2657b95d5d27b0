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
		if isSameFlow(path, list[i]) {
			fmt.Fprintf(p.stdout, "%s: unchanged, version %d\n", name, list[i].ActiveVersion)
			continue
		}
		text, err := encodeFlow(list[i])
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

func (c flowPullCommand) wanted(ctx context.Context, server *bootstrap.FlowServer) ([]schemas.Flow, error) {
	all, err := server.List(ctx)
	if err != nil || len(c.Handles) == 0 {
		return all, err
	}
	var list []schemas.Flow
	for _, handle := range c.Handles {
		f, err := findFlowByHandle(all, handle)
		if err != nil {
			return nil, err
		}
		list = append(list, *f)
	}
	return list, nil
}

// handle is the pattern of handles in the JSON Schema of flows.
var handle = regexp.MustCompile(`^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$`)

// checkHandles makes sure that handles are file names inside the folder: a malicious server
// could otherwise write anywhere on the user's machine.
func checkHandles(list []schemas.Flow) error {
	for _, f := range list {
		if !handle.MatchString(f.Handle) || !slices.Contains(schemas.FlowTypes(), f.FlowType) {
			return fmt.Errorf("the server returned an invalid flow handle or type (%.100q, %.100q): nothing was written", f.Handle, f.FlowType)
		}
	}
	return nil
}

// fileName returns the file name of a flow. It contains the type if two flows have the same
// handle.
func fileName(list []schemas.Flow, i int) string {
	f := list[i]
	two := slices.ContainsFunc(list, func(g schemas.Flow) bool { return g.Handle == f.Handle && g.FlowType != f.FlowType })
	if two {
		return f.Handle + "." + strings.ToLower(string(f.FlowType)) + ".yaml"
	}
	return f.Handle + ".yaml"
}

// isSameFlow reports whether a file has the meaning of a flow. The meaning of sub-flows
// belongs to their own files.
func isSameFlow(path string, f schemas.Flow) bool {
	g, err := program{}.compileFlow(path)
	if err != nil {
		return false
	}
	f.Parts, f.Uses = g.Flow().Parts, nil
	changes, known := compareWithStored(&f, g)
	return known && len(changes) == 0
}

// encodeFlow returns a flow in the format of files, without server metadata.
func encodeFlow(f schemas.Flow) ([]byte, error) {
	f.Uses, f.UsedBy = nil, nil
	f.ID, f.ActiveVersion, f.CreatedAt, f.UpdatedAt, f.IsReadOnly = "", 0, nil, nil, false
	text, err := json.Marshal(&f)
	if err != nil {
		return nil, err
	}
	return schemas.ToYAML(text)
}

// findFlowByHandle finds a flow by its handle, or by its type and handle
// ("REGISTRATION/sign-up").
func findFlowByHandle(list []schemas.Flow, name string) (*schemas.Flow, error) {
	var found *schemas.Flow
	var known []string
	for i, f := range list {
		known = append(known, f.Handle)
		switch {
		case name != f.Handle && name != string(f.FlowType)+"/"+f.Handle:
		case found != nil:
			return nil, fmt.Errorf("there are two flows %q: use %s/%s or %s/%s", name, found.FlowType, name, f.FlowType, name)
		default:
			found = &list[i]
		}
	}
	if found == nil {
		return nil, fmt.Errorf("the server has no flow %q%s", name, schemas.Hint(name[strings.LastIndexByte(name, '/')+1:], known))
	}
	return found, nil
}
