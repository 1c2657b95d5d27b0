package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/diff"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

type flowDiffCommand struct {
	Format string `enum:"text,json" default:"text" help:"text or json."`
	Old    string `arg:"" help:"A flow file, - for standard input, or a version on a server: HANDLE@VERSION, such as door@3; or a built-in flow of this program: HANDLE@builtin."`
	New    string `arg:"" help:"The flow file or the version to compare it with."`
	flowServer
}

// Run compares two flows. A flow with findings cannot be compared: that is an error and not
// a difference.
func (c flowDiffCommand) Run(ctx context.Context, p program) error {
	compile := c.newCompiler(ctx, p)
	before, err := compile(c.Old)
	if err != nil {
		return err
	}
	after, err := compile(c.New)
	if err != nil {
		return err
	}
	changes := diff.Compare(before, after)
	write := diff.Write
	if c.Format == "json" {
		write = diff.WriteJSON
	}
	if err := write(p.stdout, changes); err != nil {
		return err
	}
	if len(changes) > 0 {
		return errFindings
	}
	return nil
}

// storedVersion matches a version of a flow on a server.
var storedVersion = regexp.MustCompile(`^([^@]+)@([0-9]{1,9})$`)

// newCompiler returns a function that compiles a file or a version. It connects to the server for the
// first version.
func (c flowDiffCommand) newCompiler(ctx context.Context, p program) func(name string) (*engine.Graph, error) {
	connect := sync.OnceValues(func() (*bootstrap.FlowServer, error) { return c.connect(ctx, p) })
	return func(name string) (*engine.Graph, error) {
		if handle, is := strings.CutSuffix(name, "@builtin"); is {
			return compileBuiltin(handle)
		}
		version := storedVersion.FindStringSubmatch(name)
		if _, err := os.Stat(name); version == nil || err == nil {
			return p.compileFile(name)
		}
		server, err := connect()
		if err != nil {
			return nil, err
		}
		return compileVersion(ctx, server, version[1], version[2])
	}
}

// compileVersion compiles a version of a flow on a server.
func compileVersion(ctx context.Context, server *bootstrap.FlowServer, handle, version string) (*engine.Graph, error) {
	all, err := server.List(ctx)
	if err != nil {
		return nil, err
	}
	f, err := findFlowByHandle(all, handle)
	if err != nil {
		return nil, err
	}
	number, err := strconv.Atoi(version)
	if err != nil {
		return nil, err
	}
	stored, err := server.Version(ctx, f.ID, number)
	if schemas.HasClass(err, schemas.NotFound) {
		return nil, fmt.Errorf("the flow %q has no version %d; the newest is %d", handle, number, f.ActiveVersion)
	}
	if err != nil {
		return nil, err
	}
	g, problems := engine.Compile(stored, nodes.Kinds(nodes.Deps{}))
	if g == nil {
		return nil, fmt.Errorf("version %d of %q does not compile with this release: %w", number, handle, flows.Faults(handle+"@"+version, problems))
	}
	return g, nil
}

func (p program) compileFile(file string) (*engine.Graph, error) {
	g, err := p.compileFlow(file)
	if errors.Is(err, errFindings) {
		return nil, fmt.Errorf("%s has findings: fix them to compare it", file)
	}
	return g, err
}
