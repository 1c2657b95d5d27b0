package flowtest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Draft is a scenario for an outcome that no scenario reaches.
type Draft struct {
	Exit
	// Complete means that the run reaches the outcome. Otherwise the rest of the way to it is a
	// comment.
	Complete bool `json:"complete"`
	// Scenario is the text: see Player.Scenario.
	Scenario string `json:"scenario"`
}

// maxReplays limits how many runs a search for drafts plays.
const maxReplays = 400

// Drafts returns a draft for each outcome. It tries the answers that the users of the file can give
// at each step, with right and wrong credentials, until it has reached all outcomes or has tried
// every answer in every situation. It begins the run as the first scenario of the file does.
func (f *File) Drafts(ctx context.Context, outcomes []Exit) ([]Draft, error) {
	p, err := f.Play(ctx)
	if err != nil {
		return nil, err
	}
	s := &draftSearch{player: p, wanted: outcomes, found: map[Exit][]Send{}, seen: map[string]bool{}}
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	drafts := make([]Draft, len(outcomes))
	for i, at := range outcomes {
		if drafts[i], err = s.draft(ctx, at); err != nil {
			return nil, err
		}
	}
	return drafts, nil
}

// draftSearch searches runs breadth first, so that it finds the shortest.
type draftSearch struct {
	player  *Player
	wanted  []Exit
	found   map[Exit][]Send // the first run that leaves a node by an outcome
	seen    map[string]bool // situations that the search has met
	replays int
}

func (s *draftSearch) run(ctx context.Context) error {
	queue := [][]Send{}
	visit := func(sends []Send) error {
		s.replays++
		if err := s.player.replay(ctx, sends); err != nil {
			return nil // this answer cannot be given here
		}
		if s.meets(ctx) {
			queue = append(queue, s.player.Sends())
		}
		return ctx.Err()
	}
	if err := visit([]Send{{}}); err != nil {
		return err
	}
	for len(queue) > 0 && s.replays < maxReplays && !s.hasAll() {
		sends := queue[0]
		queue = queue[1:]
		if err := s.player.replay(ctx, sends); err != nil {
			return err
		}
		for _, next := range s.player.run.answersToTry() {
			if err := visit(append(slices.Clip(sends), next)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *draftSearch) hasAll() bool {
	return !slices.ContainsFunc(s.wanted, func(at Exit) bool { return s.found[at] == nil })
}

// meets records what the run has reached, and reports whether it waits in a situation that the
// search has not met.
func (s *draftSearch) meets(ctx context.Context) bool {
	run, sends := s.player.run, s.player.Sends()
	for at := range s.player.reached() {
		if s.found[at] == nil {
			s.found[at] = sends
		}
	}
	step := run.lastStep()
	last := run.replies[len(run.replies)-1]
	if step == nil || step.FlowStatus != schemas.Incomplete || last.declined != nil {
		return false
	}
	code := describeError(step.Error)
	user := ""
	if r, err := run.Run(ctx, step.ExecutionID); err == nil {
		user = r.UserID
	}
	situation := fmt.Sprint(step.StepID, code, user, run.facts(ctx, step))
	met := s.seen[situation]
	s.seen[situation] = true
	return !met
}

// draft returns the shortest run that was found, or the way to the outcome as a comment.
func (s *draftSearch) draft(ctx context.Context, at Exit) (Draft, error) {
	name := strings.TrimSuffix("reaches "+at.Node+" "+at.Outcome, " ")
	sends := s.found[at]
	way := wayTo(s.player.environment.graph, at)
	for i := len(way) - 1; sends == nil && i >= 0; i-- {
		sends = s.found[way[i]]
		if sends != nil {
			way = way[i+1:]
		}
	}
	if sends == nil {
		sends = []Send{{}}
	}
	if err := s.player.replay(ctx, sends); err != nil {
		return Draft{}, err
	}
	d := Draft{Exit: at, Complete: s.found[at] != nil, Scenario: s.player.Scenario(name)}
	if !d.Complete {
		d.Scenario += "      # To do: continue with steps that leave\n"
		for _, e := range way {
			d.Scenario += strings.TrimSuffix("      #   "+e.Node+" "+e.Outcome, " ") + "\n"
		}
	}
	return d, nil
}

// wayTo returns the shortest way through the graph that ends with the exit.
func wayTo(g *engine.Graph, at Exit) []Exit {
	nodes := g.Nodes()
	ways := map[string][]Exit{nodes[0].ID: {}}
	for queue := []string{nodes[0].ID}; len(queue) > 0; queue = queue[1:] {
		i := slices.IndexFunc(nodes, func(n engine.Node) bool { return n.ID == queue[0] })
		if i < 0 {
			continue // the end of the run
		}
		if queue[0] == at.Node {
			break
		}
		for _, e := range nodes[i].Edges {
			if ways[e.Target] == nil {
				ways[e.Target] = append(slices.Clip(ways[queue[0]]), Exit{queue[0], e.Outcome})
				queue = append(queue, e.Target)
			}
		}
	}
	return append(slices.Clip(ways[at.Node]), at)
}
