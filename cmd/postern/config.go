package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/postern-id/postern/internal/config"
)

type configCommands struct {
	Check     configCheckCommand     `cmd:"" help:"Check a configuration file with the environment."`
	Print     configPrintCommand     `cmd:"" help:"Print the value of each key that is in effect, and where it comes from. Secrets are not shown."`
	Reference configReferenceCommand `cmd:"" help:"Print a page that describes all keys."`
	Sample    configSampleCommand    `cmd:"" help:"Print a commented configuration file."`
}

type configCheckCommand struct {
	File string `arg:"" optional:"" type:"path" help:"The configuration file. Default: the environment alone."`
}

// Run checks a configuration. All errors are printed.
func (c configCheckCommand) Run(p program) error {
	cfg, err := config.Load(c.File, p.environ)
	if err != nil {
		return err
	}
	if _, err := readLanguages(cfg.GateClient); err != nil {
		return err
	}
	warnings, err := cfg.CheckSecretFiles()
	if err != nil {
		return err
	}
	for _, w := range append(warnings, cfg.Warnings...) {
		fmt.Fprintln(p.stdout, "warning:", w)
	}
	_, err = fmt.Fprintf(p.stdout, "the configuration is valid; the server is reached at %s\n", cfg.Server.PublicURL)
	return err
}

type configPrintCommand struct {
	Config  string `type:"path" help:"The configuration file."`
	Changed bool   `help:"Print only the keys that the file or the environment sets."`
	output
}

// Run prints the settings.
func (c configPrintCommand) Run(p program) error {
	cfg, err := config.Load(c.Config, p.environ)
	if err != nil {
		return err
	}
	list := []config.Setting{}
	for _, s := range cfg.Settings() {
		if !c.Changed || s.Source != config.FromDefault {
			list = append(list, s)
		}
	}
	if c.JSON {
		return writeJSON(p.stdout, list)
	}
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "KEY\tVALUE\tSOURCE")
	for _, s := range list {
		value, err := json.Marshal(s.Value)
		if err != nil {
			return err
		}
		text := string(value)
		if plain, isText := s.Value.(string); isText {
			text = plain
		} else if s.Value == nil {
			text = ""
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", s.Key, printable(text), s.Source)
	}
	return table.Flush()
}

type configReferenceCommand struct{}

// Run prints the reference.
func (configReferenceCommand) Run(p program) error {
	_, err := io.WriteString(p.stdout, config.Reference())
	return err
}

type configSampleCommand struct{}

// Run prints the sample.
func (configSampleCommand) Run(p program) error {
	_, err := io.WriteString(p.stdout, config.Sample())
	return err
}
