package flowtest

import (
	"fmt"
	"strings"
)

// Failure is a step that is not as expected.
type Failure struct {
	Step   int `json:"step"` // number of the step, from 1
	Line   int `json:"line"` // position of the step
	Column int `json:"column"`
	// Differences lists all differences, in the order of the comparison.
	Differences []Difference `json:"differences"`
}

// Difference is an expected member and the received value. Without a member, Got states
// why the step could not be executed.
type Difference struct {
	Member string `json:"member,omitempty"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Want   any    `json:"expected,omitempty"`
	Got    any    `json:"got"`
}

// failure adds positions to the differences of step j.
func (p *scenarioRun) failure(j int, d differences) *Failure {
	at := stepPath(p.number, j)
	f := &Failure{Step: j + 1, Differences: d}
	f.Line, f.Column = p.file.place(at)
	for i := range d {
		path := at
		if d[i].Member != "" {
			path += ".expect." + d[i].Member
		}
		d[i].Line, d[i].Column = p.file.place(path)
		if text, ok := d[i].Got.(string); ok {
			d[i].Got = p.normalizer.text(text)
		}
	}
	return f
}

// Text lists the expected and received values of each member, with the position in the
// named file.
func (f *Failure) Text(file string) string {
	var b strings.Builder
	for _, d := range f.Differences {
		if d.Member == "" {
			fmt.Fprintf(&b, "%s:%d:%d: step %d\n  %v\n", file, d.Line, d.Column, f.Step, d.Got)
			continue
		}
		fmt.Fprintf(&b, "%s:%d:%d: step %d: %s\n  expected  %s\n  got       %s\n", file, d.Line, d.Column, f.Step, d.Member, show(d.Want), show(d.Got))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
