package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/postern-id/postern/flows/rules"
)

type flowExplainCommand struct {
	List     bool     `help:"List the rules."`
	Markdown bool     `help:"Print Markdown: the named rules, or the page of all rules."`
	Output   string   `short:"o" type:"path" help:"The file to write; by default standard output."`
	Rules    []string `arg:"" optional:"" name:"rule" help:"The ids of rules, as findings show them in brackets."`
}

// explanationWidth is the width of the text in characters.
const explanationWidth = 88

// Run prints explanations of rules.
func (c flowExplainCommand) Run(p program) error {
	return p.writeTo(c.Output, c.write)
}

func (c flowExplainCommand) write(w io.Writer) error {
	switch {
	case c.List:
		return listRules(w)
	case c.Markdown && len(c.Rules) == 0:
		_, err := io.WriteString(w, rules.Page())
		return err
	case len(c.Rules) == 0:
		return errors.New("expected the id of a rule, as findings show it in brackets; --list lists all rules")
	}
	for i, id := range c.Rules {
		rule, err := rules.Find(id)
		if err != nil {
			return err
		}
		text := rule.Text(explanationWidth)
		if c.Markdown {
			text = rule.Markdown()
		}
		if i > 0 {
			text = "\n" + text
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}

func listRules(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range rules.All() {
		fmt.Fprintf(t, "%s\t%s\n", r.ID, r.Title)
	}
	return t.Flush()
}

// writeTo writes to a file, or to standard output if none is named.
func (p program) writeTo(file string, write func(io.Writer) error) error {
	if file == "" {
		return write(p.stdout)
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
