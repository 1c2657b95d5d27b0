package flowtest

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Text writes the results of scenarios for humans.
type Text struct {
	// Verbose also lists scenarios that passed, transcripts of those that failed, and
	// outcomes that none reached.
	Verbose bool
	// Coverage adds a table with the coverage of each flow.
	Coverage bool
}

// Write writes the results of the files in order, then the tables, then the count.
func (t Text) Write(w io.Writer, suite Suite) error {
	out := &bytes.Buffer{}
	for _, f := range suite {
		t.file(out, f)
	}
	if t.Coverage {
		for _, c := range suite.Coverage() {
			writeTable(out, c)
		}
	}
	passed, failed := suite.Count()
	fmt.Fprintf(out, "%d passed, %d failed\n", passed, failed)
	_, err := w.Write(out.Bytes())
	return err
}

func (t Text) file(w io.Writer, f FileReport) {
	if f.Err != nil {
		fmt.Fprintf(w, "FAIL\t%s\n%s", f.Name, indented(f.Err.Error()))
		return
	}
	for _, r := range f.Report.Results {
		switch {
		case r.Failure != nil:
			fmt.Fprintf(w, "FAIL\t%s:%d\t%s\n%s", f.Name, r.Line, r.Name, indented(r.Failure.Text(f.Name)))
			if t.Verbose {
				fmt.Fprint(w, indented("what happened:\n  "+strings.Join(r.Transcript, "\n  ")))
			}
		case t.Verbose:
			fmt.Fprintf(w, "ok\t%s:%d\t%s\n", f.Name, r.Line, r.Name)
		}
	}
	if t.Verbose {
		for _, missed := range f.Report.Coverage.Missed() {
			fmt.Fprintf(w, "--\t%s\tnot reached: %s\n", f.Name, missed)
		}
	}
}

// indented indents the lines of a text.
func indented(text string) string {
	return "    " + strings.ReplaceAll(text, "\n", "\n    ") + "\n"
}

// writeTable writes the number of scenarios that left each node by each outcome.
func writeTable(w io.Writer, c Coverage) {
	if reached, _ := c.Count(); reached == 0 {
		fmt.Fprintf(w, "%s: %s\n    nothing is reached\n\n", c.File, c.Summary())
		return
	}
	fmt.Fprintf(w, "%s: %s\n", c.File, c.Summary())
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, n := range c.Nodes {
		for _, o := range n.Outcomes {
			count := fmt.Sprint(o.Scenarios)
			if o.Scenarios == 0 {
				count = "not reached"
			}
			fmt.Fprintf(table, "    %s\t%s\t%s\t%s\n", n.ID, n.Kind, cmp.Or(o.Outcome, "(ends the run)"), count)
		}
	}
	_ = table.Flush() // a buffer never fails
	fmt.Fprintln(w)
}
