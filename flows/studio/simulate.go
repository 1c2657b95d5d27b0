package studio

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/postern-id/postern/flows/flowtest"
	"github.com/postern-id/postern/schemas"
)

// PlayInput is a walk through a flow: see flowtest.WalkText.
type PlayInput struct {
	Source
	File  string            `json:"file"`
	Start string            `json:"start"`
	Sends []json.RawMessage `json:"sends"`
	Name  string            `json:"name"` // of the scenario
}

// PlayResult describes where the walk is, or why it cannot be made.
type PlayResult struct {
	Problems []flowtest.WalkProblem `json:"problems"`
	// Failure is why the flow cannot run, or why the last request cannot be made.
	Failure string         `json:"failure,omitempty"`
	Walk    *flowtest.Walk `json:"walk,omitempty"`
	// Sends are the requests, with references to codes instead of the codes.
	Sends []flowtest.Send `json:"sends"`
	// Scenario is the walk as an item of the list of scenarios, in YAML.
	Scenario string `json:"scenario"`
}

// played is a walk that the next call may continue.
type played struct {
	player *flowtest.Player
	of     string // what was played, without the requests
	sends  []byte
}

// Play makes the requests of a walk. A walk that continues that of the call before, keeps its
// random values, such as codes in mails.
func (s *Studio) Play(input PlayInput) (PlayResult, error) {
	result := PlayResult{Sends: []flowtest.Send{}}
	f, problems := flowtest.ParseWalk(s.definition(input.Source), flowtest.WalkText{File: input.File, Start: input.Start, Sends: input.Sends})
	result.Problems = append([]flowtest.WalkProblem{}, problems...)
	if f == nil {
		return result, nil
	}
	player, err := s.play(input, f)
	if err != nil {
		result.Failure = err.Error()
		return result, nil
	}
	result.Walk, result.Sends, result.Scenario = player.Walk(context.Background()), player.Sends()[1:], player.Scenario(input.Name)
	return result, nil
}

// play continues the walk of the call before, or makes all requests.
func (s *Studio) play(input PlayInput, f *flowtest.File) (*flowtest.Player, error) {
	of, err := json.Marshal(PlayInput{Source: input.Source, File: input.File, Start: input.Start})
	if err != nil {
		return nil, err
	}
	before := s.played
	s.played = played{}
	steps := f.Scenarios[0].Steps
	last := len(steps) - 1
	if before.player != nil && before.of == string(of) && bytes.Equal(before.sends, encodeSends(steps[:last])) {
		err = before.player.Send(context.Background(), steps[last].Send)
	} else {
		before.player, err = f.Play(context.Background())
	}
	if err != nil {
		return nil, err
	}
	var made []flowtest.Exchange
	for _, send := range before.player.Sends() {
		made = append(made, flowtest.Exchange{Send: send})
	}
	s.played = played{before.player, string(of), encodeSends(made)}
	return before.player, nil
}

func encodeSends(steps []flowtest.Exchange) []byte {
	text, err := json.Marshal(steps)
	if err != nil {
		panic(err) // they were decoded
	}
	return text
}

func (s *Studio) definition(input Source) flowtest.Definition {
	return flowtest.Definition{Text: []byte(input.Text), JSON: input.JSON, Subflows: s.subflows}
}

// ScenariosInput is a flow with its scenario file in YAML.
type ScenariosInput struct {
	Source
	File string `json:"file"`
}

// ScenariosResult contains the results of scenarios, or why they cannot run.
type ScenariosResult struct {
	Problems []schemas.Problem  `json:"problems"`
	Failure  string             `json:"failure,omitempty"`
	Results  []flowtest.Result  `json:"results"`
	Coverage *flowtest.Coverage `json:"coverage,omitempty"`
	// Missed lists the outcomes that no scenario reaches.
	Missed []flowtest.Exit `json:"missed"`
}

// RunScenarios runs the scenarios of a file.
func (s *Studio) RunScenarios(input ScenariosInput) (ScenariosResult, error) {
	result := ScenariosResult{Problems: []schemas.Problem{}, Results: []flowtest.Result{}, Missed: []flowtest.Exit{}}
	f, problems := flowtest.Parse(s.definition(input.Source), []byte(input.File))
	result.Problems = append(result.Problems, problems...)
	if f == nil {
		return result, nil
	}
	report, err := flowtest.Runner{Transcripts: true}.Run(context.Background(), f)
	if err != nil {
		result.Failure = err.Error()
		return result, nil
	}
	result.Results, result.Coverage = report.Results, &report.Coverage
	result.Missed = append(result.Missed, report.Coverage.MissedExits()...)
	return result, nil
}

// DraftInput names the outcomes to draft scenarios for.
type DraftInput struct {
	Source
	File     string          `json:"file"`
	Start    string          `json:"start"`
	Outcomes []flowtest.Exit `json:"outcomes"`
}

// DraftResult contains a draft for each outcome, or why there is none.
type DraftResult struct {
	Problems []flowtest.WalkProblem `json:"problems"`
	Failure  string                 `json:"failure,omitempty"`
	Drafts   []flowtest.Draft       `json:"drafts"`
}

// DraftScenarios drafts scenarios for outcomes.
func (s *Studio) DraftScenarios(input DraftInput) (DraftResult, error) {
	result := DraftResult{Drafts: []flowtest.Draft{}}
	f, problems := flowtest.ParseWalk(s.definition(input.Source), flowtest.WalkText{File: input.File, Start: input.Start})
	result.Problems = append([]flowtest.WalkProblem{}, problems...)
	if f == nil {
		return result, nil
	}
	drafts, err := f.Drafts(context.Background(), input.Outcomes)
	if err != nil {
		result.Failure = err.Error()
	}
	result.Drafts = append(result.Drafts, drafts...)
	return result, nil
}

// FaultsResult lists the faults that devices and identity providers can have.
type FaultsResult struct {
	Devices   []flowtest.Fault `json:"devices"`
	Providers []flowtest.Fault `json:"providers"`
}

// ListFaults lists the faults of the simulation.
func (*Studio) ListFaults(struct{}) (FaultsResult, error) {
	return FaultsResult{flowtest.DeviceFaults(), flowtest.ProviderFaults()}, nil
}
