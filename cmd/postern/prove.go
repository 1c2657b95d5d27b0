package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/postern-id/postern/flows/chains"
	"github.com/postern-id/postern/internal/config"
	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

type proveCommand struct {
	Dir    string `arg:"" optional:"" help:"A folder in the format of postern export, or of flow files. Default: the store of the local server."`
	Server string `placeholder:"URL" help:"The URL of a server whose applications and flows to analyze."`
	Format string `enum:"text,json" default:"text" help:"The format of the report: text or json."`
	NoMail bool   `help:"Assume that the server of the folder has no mail server."`

	serverFlags `embed:""`
}

// Run prints the weakest chains of runs that reach each application.
func (c proveCommand) Run(ctx context.Context, p program) error {
	progress := p.startProgress("analyzing the flows")
	report, err := c.report(ctx, p)
	progress.stop()
	if err != nil {
		return err
	}
	if c.Format == "text" {
		return report.Write(p.stdout)
	}
	encoder := json.NewEncoder(p.stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(report)
}

func (c proveCommand) report(ctx context.Context, p program) (*chains.Report, error) {
	switch {
	case c.Dir != "" && c.Server != "":
		return nil, errors.New("expected a folder or --server, got both")
	case c.Server != "":
		server, err := flowServer{apiServer{Server: c.Server, serverFlags: c.serverFlags}}.connect(ctx, p)
		if err != nil {
			return nil, err
		}
		return server.Chains(ctx)
	case c.Dir != "":
		system, err := c.readFolder(ctx, p)
		if err != nil {
			return nil, err
		}
		checker := chains.Checker{Kinds: nodes.Kinds(nodes.Deps{}), NoMail: c.NoMail}
		return checker.Analyze(ctx, system)
	}
	h, err := p.openLocal(ctx, c.Config)
	if err != nil {
		return nil, err
	}
	defer h.close()
	system, err := h.directory.SignInSystem(ctx, directory.SystemCall())
	if err != nil {
		return nil, err
	}
	return h.chains.Analyze(ctx, system)
}

// readFolder returns the applications and flows of a folder.
func (c proveCommand) readFolder(ctx context.Context, p program) (*schemas.SignInSystem, error) {
	if info, err := os.Stat(filepath.Join(c.Dir, "applications")); err == nil && info.IsDir() {
		return c.applyFolder(ctx, p)
	}
	files, err := flowFiles().expandPaths([]string{c.Dir})
	if err != nil {
		return nil, err
	}
	graphs, _, err := p.compileFlows(ctx, files)
	if err != nil {
		return nil, err
	}
	s := &schemas.SignInSystem{Flows: map[string]*schemas.Flow{}}
	for _, g := range graphs {
		if f := g.Flow(); f.FlowType != schemas.Subflow {
			id := string(f.FlowType) + "/" + f.Handle
			s.Flows[id] = f
			s.Applications = append(s.Applications, schemas.SystemApplication{ID: id, Name: fmt.Sprintf("any application that uses the flow %q", f.Handle), FlowIDs: []string{id}})
		}
	}
	return s, nil
}

// applyFolder applies a folder to a new store, which is removed afterwards.
func (c proveCommand) applyFolder(ctx context.Context, p program) (*schemas.SignInSystem, error) {
	tree, err := declare.ReadTree(c.Dir)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "postern-prove-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	environ := []string{"POSTERN_DATA_DIR=" + dir, "POSTERN_LOG_LEVEL=error"}
	if !c.NoMail {
		environ = append(environ, "POSTERN_MAIL_HOST=localhost", "POSTERN_MAIL_FROM=postern@localhost") // nothing is sent
	}
	cfg, err := config.Load("", environ)
	if err != nil {
		return nil, err
	}
	if cfg.HTTP.Targets, err = c.targetsOf(p, tree); err != nil {
		return nil, err
	}
	h, err := openApp(ctx, cfg, newLog(p.stderr, cfg.Log))
	if err != nil {
		return nil, err
	}
	defer h.close()
	h.directory.AcceptsSettable = true
	if _, err := h.seedStore(ctx, nil); err != nil {
		return nil, err
	}
	if _, err := declare.Apply(ctx, h.directory, tree, declare.Options{Secrets: declare.Secrets{Getenv: placeholder}, Delete: true}); err != nil {
		return nil, fmt.Errorf("applying the folder to an empty store: %w", err)
	}
	return h.directory.SignInSystem(ctx, directory.SystemCall())
}

// targetsOf returns a target for each name that the flows of a folder call, which the configuration must have. The
// analysis calls none, so all have the same address.
func (c proveCommand) targetsOf(p program, tree *declare.Tree) (map[string]config.Target, error) {
	cfg, err := config.Load(c.Config, p.environ)
	if err != nil {
		return nil, err
	}
	targets := map[string]config.Target{}
	for _, r := range tree.Resources {
		for _, n := range r.Document.ItemsAt("nodes") {
			name := n.TextAt("with.target")
			if n.TextAt("use") != "http-request" || name == "" {
				continue
			}
			if _, configured := cfg.HTTP.Targets[name]; !configured {
				return nil, fmt.Errorf("%s: the node %q calls the target %q, which is not configured; pass --config with the configuration file of the server, whose http.targets has it", r.File, n.TextAt("id"), name)
			}
			targets[name] = config.Target{URL: "https://service.example", Timeout: cfg.HTTP.Targets[name].Timeout}
		}
	}
	return targets, nil
}

// placeholder stands for the secrets of a folder, which the analysis does not need.
func placeholder(name string) string {
	return "placeholder-for-the-secret-in-the-variable-" + name
}

// reportChains logs who can sign in with nothing but a browser, and the stored flows that add
// credentials after a weaker proof than new flows may.
func (h *app) reportChains(ctx context.Context) {
	system, err := h.directory.SignInSystem(ctx, directory.SystemCall())
	if err != nil {
		h.log.ErrorContext(ctx, "cannot read the applications and flows", "error", err)
		return
	}
	report, err := h.chains.Analyze(ctx, system)
	if err != nil {
		h.log.WarnContext(ctx, "cannot analyze attacks across flows; run `postern prove` for details", "error", err)
		return
	}
	for _, w := range report.Ways {
		if w.Means == (chains.Means{}) && w.Target.Credential == "" {
			h.log.WarnContext(ctx, "an attacker with only a browser can get tokens of another user; add a node that authenticates the user, and see `postern prove`", "way", w.String())
		}
	}
	for _, f := range h.chains.Limited(ctx, system) {
		h.log.WarnContext(ctx, "a stored flow adds credentials after a weaker proof than new flows may: they are limited to that proof, see `postern flow explain chain`",
			"flow", f.Handle, "type", string(f.FlowType), "id", f.ID)
	}
}
