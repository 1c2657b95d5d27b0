// Package play steps through a run of a flow in a terminal, with the simulator of package flowtest:
// it prints each step, reads the answer, and can save the walk as a scenario. It reads commands line by
// line, so that scripts can drive it.
package play

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/postern-id/postern/flows/flowtest"
	"github.com/postern-id/postern/schemas"
)

// Game is a flow that is played.
type Game struct {
	// Read reads the flow and the text of its scenario file; "" if there is none. It is called at the
	// start and at each restart.
	Read func() (flowtest.Definition, string, error)
	// Save adds a scenario to the scenario file, and returns the path of the file.
	Save func(scenario string) (string, error)
	// Start contains members of a scenario that determine how the run begins, in YAML.
	Start string
	// Language is the language of the browser (BCP 47); "" if it reports none.
	Language string
	// Words are the texts of pages in that language by their English text, and of errors by error.CODE.
	Words map[string]string

	Lines <-chan string // the input; closed at its end
	Out   io.Writer
	// Echo prints the lines of the input, which a terminal does by itself.
	Echo bool

	definition flowtest.Definition
	file       string
	devices    []string
	player     *flowtest.Player
	sends      []flowtest.Send // the requests after the one that starts the run
	after      string          // how long to wait before the next request
	isOver     bool            // the user has left, or the input has ended
}

// Play reads and executes commands until the input ends, the user leaves or the context is done. The
// error reports a flow that cannot be read or played.
func (g *Game) Play(ctx context.Context) error {
	if err := g.restart(ctx); err != nil {
		return err
	}
	for !g.isOver {
		line, more := g.ask(ctx, "> ")
		if !more {
			break
		}
		if err := g.execute(ctx, line); err != nil {
			g.print("%v", err)
		}
	}
	return nil
}

// restart reads the files again, and starts a run.
func (g *Game) restart(ctx context.Context) (err error) {
	if g.definition, g.file, err = g.Read(); err != nil {
		return err
	}
	if g.file == "" {
		g.file = flowtest.FirstFile
	}
	return g.replay(ctx, nil)
}

// replay starts a run, makes requests and prints the step.
func (g *Game) replay(ctx context.Context, sends []flowtest.Send) error {
	f, err := g.parse(sends)
	if err != nil {
		return err
	}
	player, err := f.Play(ctx)
	if err != nil {
		return err
	}
	g.player, g.devices, g.after = player, f.DeviceNames(), ""
	g.sends = player.Sends()[1:]
	g.printTurn(g.player.Walk(ctx))
	return nil
}

// parse checks the requests as those of a scenario are checked.
func (g *Game) parse(sends []flowtest.Send) (*flowtest.File, error) {
	text := flowtest.WalkText{File: g.file, Start: g.Start, Language: g.Language}
	for _, s := range sends {
		send, err := json.Marshal(s)
		if err != nil {
			return nil, err
		}
		text.Sends = append(text.Sends, send)
	}
	f, problems := flowtest.ParseWalk(g.definition, text)
	if f != nil {
		return f, nil
	}
	var texts []string
	for _, p := range problems {
		if !p.Warning {
			texts = append(texts, describeProblem(p))
		}
	}
	return nil, fmt.Errorf("%s", strings.Join(texts, "\n"))
}

// describeProblem returns a problem with the part of the walk that it is in.
func describeProblem(p flowtest.WalkProblem) string {
	if p.In == "sends" {
		return p.Message
	}
	where := map[string]string{"file": "the scenario file", "start": "the start"}[p.In]
	return fmt.Sprintf("%s:%s", where, p.Problem)
}

// send makes the next request.
func (g *Game) send(ctx context.Context, s flowtest.Send) error {
	if s.After == "" {
		s.After = g.after
	}
	next := append(slices.Clip(g.sends), s)
	if _, err := g.parse(next); err != nil {
		return err
	}
	if err := g.player.Send(ctx, s); err != nil {
		before, failed := g.parse(g.sends)
		if failed == nil {
			g.player, failed = before.Play(ctx)
		}
		if failed != nil {
			return failed
		}
		return err
	}
	g.after, g.sends = "", g.player.Sends()[1:]
	g.printTurn(g.player.Walk(ctx))
	return nil
}

// save saves the walk as a scenario.
func (g *Game) save(name string) error {
	if name == "" {
		return fmt.Errorf("expected the name of the scenario: save a passkey signs in")
	}
	path, err := g.Save(g.player.Scenario(name))
	if err != nil {
		return err
	}
	g.print("saved %q in %s; it expects what this run has done, right or wrong: review it", name, path)
	return nil
}

// ask prints a prompt and reads a line. More is false at the end of the input.
func (g *Game) ask(ctx context.Context, prompt string) (line string, more bool) {
	fmt.Fprint(g.Out, prompt)
	select {
	case <-ctx.Done():
	case line, more = <-g.Lines:
	}
	switch {
	case !more:
		g.isOver = true
		fmt.Fprintln(g.Out)
	case g.Echo:
		fmt.Fprintln(g.Out, line)
	}
	return strings.TrimSuffix(line, "\r"), more
}

// word returns a text in the language of the browser.
func (g *Game) word(text string) string { return cmp.Or(g.Words[text], text) }

func (g *Game) print(format string, args ...any) { fmt.Fprintf(g.Out, format+"\n", args...) }

// step returns the last step of the run.
func (g *Game) step(ctx context.Context) *schemas.Step {
	if step := g.player.Walk(ctx).Step; step != nil {
		return step
	}
	return &schemas.Step{}
}
