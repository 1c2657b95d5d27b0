package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/draw"
	"github.com/postern-id/postern/flows/syntax"
	"github.com/postern-id/postern/schemas"
)

// The commands of the server. Their only argument is the URI of an open flow.
const (
	commandGraph     = "postern.graph"     // returns a graph
	commandShowGraph = "postern.showGraph" // also shows it with another program
)

// graph is what the command postern.graph returns.
type graph struct {
	// SVG is a drawing, in which the element of a node has its id in the attribute data-node.
	SVG string `json:"svg"`
	// Proven means that the flow has no errors. Otherwise the drawing shows no facts.
	Proven bool        `json:"proven"`
	Nodes  []graphNode `json:"nodes"`
}

// graphNode is a node of the flow itself with its range in the text.
type graphNode struct {
	ID    string `json:"id"`
	Kind  string `json:"kind"`
	Range Range  `json:"range"`
	// Next maps the outcomes to their targets; "" stands for every outcome.
	Next map[string]string `json:"next"`
}

// lenses offers the graph of a flow on its first line.
func (s *server) lenses(_ context.Context, p documentParams) ([]codeLens, error) {
	list := []codeLens{}
	o, err := s.open(p.TextDocument.URI)
	if err != nil || flows.IsScenarios(o.path) || !isFlow(o.document) {
		return list, err
	}
	name := s.client.InitializationOptions.GraphCommand
	if name == "" {
		name = commandShowGraph
	}
	return append(list, codeLens{Command: command{"Show graph", name, []any{o.uri}}}), nil
}

func (s *server) execute(ctx context.Context, p executeCommandParams) (*graph, error) {
	if p.Command != commandGraph && p.Command != commandShowGraph {
		return nil, failed("there is no command %q; expected %s or %s", p.Command, commandGraph, commandShowGraph)
	}
	var uri string
	if len(p.Arguments) != 1 || json.Unmarshal(p.Arguments[0], &uri) != nil {
		return nil, failed("the command %s needs one argument: the URI of an open flow", p.Command)
	}
	o, err := s.open(uri)
	if err != nil {
		return nil, err
	}
	if flows.IsScenarios(o.path) {
		if o = s.flowOf(o); o == nil {
			return nil, failed("the flow of the scenarios cannot be read")
		}
	}
	g, err := s.graphOf(o)
	if err == nil && p.Command == commandShowGraph {
		err = s.show(ctx, o, g)
	}
	return g, err
}

// graphOf draws a flow.
func (s *server) graphOf(o *opened) (*graph, error) {
	drawn := &graph{Nodes: []graphNode{}}
	var flow schemas.Flow
	doc, problems := schemas.ParseYAML([]byte(o.text.content)) // JSON is YAML
	if doc == nil {
		return nil, failed("the flow cannot be parsed: %s", problems[0].String())
	}
	doc.DecodeLoosely(schemas.FlowSchema(), &flow) // its problems are findings
	_, proven, _ := engine.CheckUsing([]byte(o.text.content), !flows.IsJSON(o.path), s.kinds, o.files.resolver().ForFile(o.path))
	if drawn.Proven = proven != nil; drawn.Proven {
		drawn.SVG = draw.SVG(proven, draw.Options{})
	} else {
		drawn.SVG = draw.Sketch(&flow)
	}
	x := indexOf(o)
	for i, n := range x.nodes {
		next := map[string]string{}
		if i < len(flow.Nodes) {
			if next = flow.Nodes[i].Next.By; next == nil {
				next = map[string]string{}
			}
			if to := flow.Nodes[i].Next.To; to != "" {
				next[""] = to
			}
		}
		drawn.Nodes = append(drawn.Nodes, graphNode{n.id, n.kind, o.text.rangeOf(syntax.Span{Start: n.item.Start, End: n.item.End}), next})
	}
	return drawn, nil
}

// show shows a drawing with the program of the user for SVG.
func (s *server) show(ctx context.Context, o *opened, g *graph) error {
	if !s.client.Capabilities.Window.ShowDocument.Support {
		return nil // the client uses the result
	}
	dir, err := os.MkdirTemp("", "postern-graph-") // of this user only
	if err != nil {
		return err
	}
	file := filepath.Join(dir, filepath.Base(o.path)+".svg")
	if err := os.WriteFile(file, []byte(g.SVG), 0o600); err != nil {
		return err
	}
	go func() { // the client may wait for the result first
		if _, err := s.rpc.Callback(context.WithoutCancel(ctx), "window/showDocument", object{"uri": openFiles{}.uriOf(file), "external": true}); err != nil {
			fmt.Fprintln(s.Log, "postern lsp: the graph cannot be shown:", err)
		}
	}()
	return nil
}
