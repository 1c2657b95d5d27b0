package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows/flowtest"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// testSuffix is what the names of scenario files end with.
const testSuffix = "_test.yaml"

// isFlow reports whether a file in a folder is taken for a flow: all YAML and
// JSON is, but for scenarios and schemas.
func isFlow(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)) &&
		!strings.HasSuffix(name, testSuffix) && !strings.HasSuffix(name, ".schema.json")
}

type flowCommands struct {
	Check flowCheckCommand `cmd:"" help:"Check and prove flow files; every finding is printed with its line."`
	Test  flowTestCommand  `cmd:"" help:"Run the scenario tests of flow files."`
}

type flowCheckCommand struct {
	Paths []string `arg:"" name:"path" help:"Flow files, or folders of them."`
}

// Run checks every flow file.
func (c flowCheckCommand) Run(p program) error {
	files, err := filesIn(c.Paths, isFlow)
	if err != nil {
		return err
	}
	kinds := nodes.Kinds(nodes.Deps{})
	bad := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		flow, _, problems := engine.Check(text, !strings.HasSuffix(file, ".json"), kinds)
		refused := printFindings(p.stdout, file, text, problems)
		if refused {
			bad++
			continue
		}
		fmt.Fprintf(p.stdout, "ok\t%s\t%s, %d nodes\n", file, flow.Handle, len(flow.Nodes))
	}
	if bad > 0 {
		fmt.Fprintf(p.stdout, "%d of %d flows have findings\n", bad, len(files))
		return errFindings
	}
	return nil
}

// printFindings prints findings with the line each is about and reports whether
// any of them refuses the flow.
func printFindings(w io.Writer, file string, text []byte, problems []schemas.Problem) (refused bool) {
	lines := strings.Split(string(text), "\n")
	for _, p := range problems {
		severity := "error"
		if p.Warning {
			severity = "warning"
		} else {
			refused = true
		}
		fmt.Fprintf(w, "%s:%d:%d: %s: %s [%s]\n", file, p.Line, p.Column, severity, p.Message, p.Rule)
		if p.Line > 0 && p.Line <= len(lines) {
			line := strings.TrimRight(lines[p.Line-1], "\r")
			fmt.Fprintf(w, "    %s\n    %s^\n", line, indent(line, p.Column-1))
		}
	}
	return refused
}

// indent is white space as wide as the first n characters of line.
func indent(line string, n int) string {
	var b strings.Builder
	for i, r := range []rune(line) {
		if i >= n {
			break
		}
		if r != '\t' {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}

type flowTestCommand struct {
	Verbose bool     `short:"v" help:"Print every scenario."`
	Paths   []string `arg:"" name:"path" help:"Scenario files (*_test.yaml), or folders of them."`
}

// Run runs every scenario file.
func (c flowTestCommand) Run(ctx context.Context, p program) error {
	files, err := filesIn(c.Paths, func(name string) bool { return strings.HasSuffix(name, testSuffix) })
	if err != nil {
		return err
	}
	passed, failed := 0, 0
	for _, file := range files {
		f, err := flowtest.Load(file)
		if err != nil {
			fmt.Fprintln(p.stdout, err)
			failed++
			continue
		}
		report, err := f.Run(ctx)
		if err != nil {
			fmt.Fprintf(p.stdout, "FAIL\t%s\n%s\n", file, err)
			failed++
			continue
		}
		for _, r := range report.Results {
			if r.Failure != "" {
				failed++
				fmt.Fprintf(p.stdout, "FAIL\t%s\t%s\n%s\n", file, r.Name, r.Failure)
				continue
			}
			passed++
			if c.Verbose {
				fmt.Fprintf(p.stdout, "ok\t%s\t%s\n", file, r.Name)
			}
		}
	}
	fmt.Fprintf(p.stdout, "%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		return errFindings
	}
	return nil
}

// filesIn lists the files that are named, and in named folders those that are
// wanted.
func filesIn(paths []string, wanted func(name string) bool) ([]string, error) {
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && wanted(d.Name()) {
				files = append(files, file)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return nil, errors.New("there are no such files under " + strings.Join(paths, ", "))
	}
	return files, nil
}
