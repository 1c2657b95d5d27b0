package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/flowtest"
)

type flowDraftCommand struct {
	Append bool   `help:"Add the drafts to the scenario file instead of printing them."`
	Start  string `placeholder:"YAML" help:"Members of the scenarios that determine how the runs begin, such as 'request: {bound: true}'."`
	File   string `arg:"" help:"A flow file. Its scenario file has the users and devices, and the scenarios so far."`
}

// Run drafts scenarios for the outcomes that no scenario reaches.
func (c flowDraftCommand) Run(ctx context.Context, p program) error {
	if flows.IsScenarios(c.File) {
		return fmt.Errorf("%s: these are scenarios; expected the file of the flow", c.File)
	}
	if _, err := p.compileFlow(c.File); err != nil {
		return err
	}
	path := flows.ScenariosOf(c.File)
	missed, users, err := c.missed(ctx, path)
	if err != nil {
		return err
	}
	if len(missed) == 0 {
		fmt.Fprintf(p.stderr, "%s: the scenarios reach every outcome\n", c.File)
		return nil
	}
	drafts, err := c.drafts(ctx, users, missed)
	if err != nil {
		return err
	}
	texts, complete := distinctDrafts(drafts)
	if c.Append {
		if err := addScenarios(path, texts...); err != nil {
			return err
		}
	} else {
		fmt.Fprint(p.stdout, strings.Join(texts, ""))
	}
	fmt.Fprintf(p.stderr, "%s: %d drafts, %d of them reach their outcome; they expect what the flow does, right or wrong: review them\n", path, len(texts), complete)
	return nil
}

// distinctDrafts returns the texts of drafts, without those that take the same way as another one, and
// how many of them reach their outcome.
func distinctDrafts(drafts []flowtest.Draft) (texts []string, complete int) {
	seen := map[string]bool{}
	for _, d := range drafts {
		_, way, _ := strings.Cut(d.Scenario, "\n") // the first line has the name
		if d.Complete && seen[way] {
			continue
		}
		seen[way] = true
		texts = append(texts, d.Scenario)
		if d.Complete {
			complete++
		}
	}
	return texts, complete
}

// missed returns the outcomes that the scenarios in a file do not reach, and the text of the file.
func (c flowDraftCommand) missed(ctx context.Context, path string) ([]flowtest.Exit, string, error) {
	text, err := flows.Disk{}.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		report, err := flowtest.Untested(c.File)
		if err != nil {
			return nil, "", err
		}
		return report.Report.Coverage.MissedExits(), flowtest.FirstFile, nil
	}
	if err != nil {
		return nil, "", err
	}
	if !flowtest.HasScenarios(text) { // it has users at most
		report, err := flowtest.Untested(c.File)
		if err != nil {
			return nil, "", err
		}
		return report.Report.Coverage.MissedExits(), flowtest.WithUsers(text), nil
	}
	f, err := flowtest.Load(path)
	if err != nil {
		return nil, "", err
	}
	report, err := f.Run(ctx)
	if err != nil {
		return nil, "", err
	}
	return report.Coverage.MissedExits(), string(text), nil
}

// drafts returns a draft for each outcome, with the users of a scenario file.
func (c flowDraftCommand) drafts(ctx context.Context, users string, missed []flowtest.Exit) ([]flowtest.Draft, error) {
	definition, err := flowtest.ReadDefinition(c.File)
	if err != nil {
		return nil, err
	}
	f, problems := flowtest.ParseWalk(*definition, flowtest.WalkText{File: users, Start: c.Start})
	if f == nil {
		return nil, errors.New(problems[0].String())
	}
	return f.Drafts(ctx, missed)
}
