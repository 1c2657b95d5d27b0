package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/flowtest"
	"github.com/postern-id/postern/flows/play"
	"github.com/postern-id/postern/internal/translations"
)

type flowPlayCommand struct {
	Type  string `placeholder:"TYPE" help:"The user type that the application allows, which new users get. Default: Person."`
	Lang  string `placeholder:"LANGUAGE" help:"The language of the browser, such as de, in which the pages are printed."`
	Start string `placeholder:"YAML" help:"Members of a scenario that determine how the run begins, such as 'request: {bound: true}'."`
	File  string `arg:"" help:"A flow file. Its scenario file has the users and devices; without one, there is the user ada with a password and a passkey on laptop."`
}

// Run plays a flow.
func (c flowPlayCommand) Run(ctx context.Context, p program) error {
	if flows.IsScenarios(c.File) {
		return fmt.Errorf("%s: these are scenarios; expected the file of the flow", c.File)
	}
	if _, err := p.compileFlow(c.File); err != nil {
		return err
	}
	start := c.Start
	if c.Type != "" {
		start += fmt.Sprintf("\napplication: {allowedUserTypes: [%s]}\n", jsonString(c.Type))
	}
	input := p.stdin
	if input == nil {
		input = strings.NewReader("")
	}
	game := play.Game{
		Read: c.read, Save: c.save, Start: start, Language: c.Lang, Words: translations.Builtin().Match(c.Lang).Flows,
		Lines: scanLines(ctx, input), Out: p.stdout, Echo: !isTerminal(input),
	}
	fmt.Fprintln(p.stdout, "help lists the commands; quit or the end of the input leaves.")
	return game.Play(ctx)
}

// read reads the flow and its scenario file.
func (c flowPlayCommand) read() (flowtest.Definition, string, error) {
	definition, err := flowtest.ReadDefinition(c.File)
	if err != nil {
		return flowtest.Definition{}, "", err
	}
	text, err := flows.Disk{}.ReadFile(flows.ScenariosOf(c.File))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return *definition, string(text), err
}

// save adds a scenario to the scenario file.
func (c flowPlayCommand) save(scenario string) (string, error) {
	path := flows.ScenariosOf(c.File)
	return path, addScenarios(path, scenario)
}

// addScenarios adds scenarios to a file, which is created if it does not exist.
func addScenarios(path string, scenarios ...string) error {
	text, err := flows.Disk{}.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, s := range scenarios {
		if text, err = flowtest.AddScenario(text, s); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return os.WriteFile(path, text, 0o644)
}

// scanLines reads lines until the end of the input or of the context.
func scanLines(ctx context.Context, r io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(r)
		scanner.Buffer(nil, 1<<20)
		for scanner.Scan() {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}
