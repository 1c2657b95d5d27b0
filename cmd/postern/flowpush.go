package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/diff"
	"github.com/postern-id/postern/flows/findings"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// flowServer is the server of a command on flows.
type flowServer struct{ apiServer }

func (c flowServer) connect(ctx context.Context, p program) (*bootstrap.FlowServer, error) {
	client, err := c.apiServer.connect(ctx, p)
	if err != nil {
		return nil, err
	}
	return client.Flows(), nil
}

type flowPushCommand struct {
	Plan   bool     `help:"Print the changes without applying them. The exit code is 1 if there are any."`
	Reason string   `short:"m" placeholder:"TEXT" help:"The reason for the changes: one line, without secrets. It is stored with the new versions."`
	Paths  []string `arg:"" name:"path" help:"Flow files, or folders of them."`
	flowServer
}

// Run checks every flow, prints the changes of each, and stores the changed ones in one transaction: all or
// none, sub-flows before the flows that use them, which then use the new versions. A plan makes the same
// request, with all checks of the server, and stores nothing.
func (c flowPushCommand) Run(ctx context.Context, p program) error {
	files, err := flowFiles().expandPaths(c.Paths)
	if err != nil {
		return err
	}
	graphs, from, err := p.compileFlows(ctx, files)
	if err != nil {
		return err
	}
	client, err := c.apiServer.connect(ctx, p)
	if err != nil {
		return err
	}
	var changes []bootstrap.FlowChange
	var changed []string // their files
	pushed := subflowVersions{}
	for _, g := range graphs {
		change, err := c.compare(ctx, p, client.Flows(), g, pushed)
		if err != nil {
			return p.locateInFile(from[g], err)
		}
		if change != nil {
			changes, changed = append(changes, *change), append(changed, from[g])
		}
	}
	if len(changes) == 0 {
		return nil
	}
	stored, err := client.Flows().Push(ctx, changes, c.Reason, c.Plan)
	if err != nil {
		return p.pushFault(changed, err)
	}
	if c.Plan {
		return errFindings
	}
	return c.printStored(ctx, p, client, changes, stored)
}

// printStored prints the new versions, and the applications that use them.
func (c flowPushCommand) printStored(ctx context.Context, p program, client *bootstrap.Client, changes []bootstrap.FlowChange, stored []schemas.Flow) error {
	var versions []*schemas.Flow
	for i := range stored {
		now := *changes[i].Flow
		now.ID, now.ActiveVersion = stored[i].ID, stored[i].ActiveVersion
		fmt.Fprintf(p.stdout, "%s: version %d\n", now.Handle, now.ActiveVersion)
		versions = append(versions, &now)
	}
	return printApplicationsOf(ctx, p.stdout, client, versions)
}

// pushFault converts an error about the flows of a push, which stored none, to their files.
func (p program) pushFault(files []string, err error) error {
	if schemas.HasClass(err, schemas.Precondition) {
		return fmt.Errorf("a flow was changed on the server meanwhile, and nothing was stored; review that change, and push again: %w", err)
	}
	var refused *schemas.Error
	if !errors.As(err, &refused) {
		return err
	}
	for i, file := range files {
		about, prefix := *refused, fmt.Sprintf("flows[%d]", i)
		about.Errors = nil
		for _, problem := range refused.Errors {
			if rest, is := strings.CutPrefix(problem.Path, prefix); is {
				problem.Path = strings.TrimPrefix(rest, ".")
				about.Errors = append(about.Errors, problem)
			}
		}
		if len(about.Errors) > 0 {
			return p.locateInFile(file, &about)
		}
	}
	if len(files) == 1 { // a rule about the whole system names no flow of the request
		return p.locateInFile(files[0], err)
	}
	return err
}

// compileFlows compiles flow files, which must be of different flows. It returns sub-flows before
// the flows that use them, and the file of each.
func (p program) compileFlows(ctx context.Context, files []string) (graphs []*engine.Graph, from map[*engine.Graph]string, wrong error) {
	from, taken := map[*engine.Graph]string{}, findings.Handles{}
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		g, err := p.compileFlow(file, filterFlows(files)...)
		if err != nil {
			wrong = errors.Join(wrong, err)
			continue
		}
		if clash := taken.Register(file, g.Flow().FlowType, g.Flow().Handle); clash != nil {
			wrong = errors.Join(wrong, flows.Faults(file, clash))
		}
		graphs, from[g] = append(graphs, g), file
	}
	if wrong != nil {
		return nil, nil, wrong
	}
	return sortByUse(graphs), from, nil
}

// locateInFile converts the positions in a server's findings from the request to the flow's file.
func (p program) locateInFile(file string, err error) error {
	var refused *schemas.Error
	if file == stdinPath || !errors.As(err, &refused) || len(refused.Errors) == 0 {
		return err
	}
	s, unread := p.readSource(file)
	if unread != nil {
		return err
	}
	problems := slices.Clone(refused.Errors)
	for i := range problems {
		problems[i].Line, problems[i].Column = 0, 0
	}
	return flows.Faults(file, s.Locate(problems))
}

// compare prints how a flow differs from the server's, and returns the change, nil if there is none. It
// records the version that the flow will have for the flows that use it.
func (c flowPushCommand) compare(ctx context.Context, p program, server *bootstrap.FlowServer, g *engine.Graph, pushed subflowVersions) (*bootstrap.FlowChange, error) {
	f := g.Flow()
	was, err := server.Find(ctx, f.FlowType, f.Handle)
	if err != nil {
		return nil, err
	}
	if was != nil {
		pushed.recordVersion(was.Flow)
	}
	if f.Uses, err = pushed.uses(ctx, server, f); err != nil {
		return nil, err
	}
	if was == nil {
		fmt.Fprintf(p.stdout, "%s: new\n", f.Handle)
	} else {
		changes, known := compareWithStored(was.Flow, g)
		if known && len(changes) == 0 {
			fmt.Fprintf(p.stdout, "%s: unchanged, version %d\n", f.Handle, was.ActiveVersion)
			return nil, nil
		}
		fmt.Fprintf(p.stdout, "%s: differs from version %d\n", f.Handle, was.ActiveVersion)
		if err := diff.Write(p.stdout, changes); err != nil {
			return nil, err
		}
	}
	pushed.expectVersion(f)
	return &bootstrap.FlowChange{Flow: f, Was: was}, nil
}

// compareWithStored returns how a flow differs from the server's. Known is false if the server's
// flow does not compile here, because it is of another release.
func compareWithStored(was *schemas.Flow, g *engine.Graph) (changes []diff.Change, known bool) {
	before, _ := engine.Compile(was, nodes.Kinds(nodes.Deps{}))
	if before == nil {
		return nil, false
	}
	return diff.Compare(before, g), true
}
