package flowtest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
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
	if err != nil && (p == nil || p.environment.unanswered == nil) {
		return nil, err
	}
	s := &draftSearch{player: p, wanted: outcomes, found: map[Exit]draftRun{}, seen: map[string]bool{}, given: p.environment.file.Scenarios[0].HTTP}
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
	found   map[Exit]draftRun   // the first run that leaves a node by an outcome
	seen    map[string]bool     // situations that the search has met
	given   map[string][]Answer // replies of services that the author has given
	replays int
	// unmatched is the last input for whose pattern no value was found.
	unmatched string
}

// draftRun is a run: its requests, and the replies of services that are invented for it.
type draftRun struct {
	sends   []Send
	replies map[string][]Answer
}

// replay makes the requests of a run.
func (s *draftSearch) replay(ctx context.Context, r draftRun) error {
	s.replays++
	http := maps.Clone(s.given)
	for target, list := range r.replies {
		if http == nil {
			http = map[string][]Answer{}
		}
		http[target] = slices.Concat(s.given[target], list)
	}
	s.player.environment.file.Scenarios[0].HTTP = http
	return s.player.replay(ctx, r.sends)
}

func (s *draftSearch) run(ctx context.Context) error {
	queue, err := s.visit(ctx, draftRun{sends: []Send{{}}})
	for len(queue) > 0 && err == nil && s.replays < maxReplays && !s.hasAll() {
		r := queue[0]
		queue = queue[1:]
		if err := s.replay(ctx, r); err != nil {
			return err
		}
		next := s.player.run.answersToTry()
		s.unmatched = cmp.Or(s.player.run.unmatched, s.unmatched)
		for _, send := range next {
			var more []draftRun
			more, err = s.visit(ctx, draftRun{append(slices.Clip(r.sends), send), r.replies})
			queue = append(queue, more...)
		}
	}
	return err
}

// visit plays a run, and returns it if it waits in a new situation. If a service is asked that has no reply left, it
// plays the run with each reply that it invents.
func (s *draftSearch) visit(ctx context.Context, r draftRun) (waiting []draftRun, err error) {
	failed := s.replay(ctx, r)
	call := s.player.environment.unanswered
	switch {
	case call != nil && s.replays < maxReplays:
		for _, answer := range inventReplies(s.player.environment.graph, *call) {
			with := maps.Clone(r.replies)
			if with == nil {
				with = map[string][]Answer{}
			}
			with[call.Target] = append(slices.Clip(with[call.Target]), answer)
			more, err := s.visit(ctx, draftRun{r.sends, with})
			if err != nil {
				return nil, err
			}
			waiting = append(waiting, more...)
		}
	case failed == nil && s.meets(ctx, r):
		waiting = append(waiting, draftRun{s.player.Sends(), r.replies})
	}
	return waiting, ctx.Err()
}

func (s *draftSearch) hasAll() bool {
	return !slices.ContainsFunc(s.wanted, func(at Exit) bool { return s.found[at].sends == nil })
}

// meets records what the run has reached, and reports whether it waits in a situation that the
// search has not met.
func (s *draftSearch) meets(ctx context.Context, r draftRun) bool {
	run, sends := s.player.run, s.player.Sends()
	for at := range s.player.reached() {
		if s.found[at].sends == nil {
			s.found[at] = draftRun{sends, r.replies}
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
	run := s.found[at]
	way := wayTo(s.player.environment.graph, at)
	for i := len(way) - 1; run.sends == nil && i >= 0; i-- {
		run = s.found[way[i]]
		if run.sends != nil {
			way = way[i+1:]
		}
	}
	if run.sends == nil {
		run.sends = []Send{{}}
	}
	if err := s.replay(ctx, run); err != nil && s.player.environment.unanswered == nil {
		return Draft{}, err
	}
	d := Draft{Exit: at, Complete: s.found[at].sends != nil, Scenario: s.player.Scenario(name)}
	if !d.Complete {
		if s.unmatched != "" {
			d.Scenario += "      # To do: " + s.unmatched + "\n"
		}
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
