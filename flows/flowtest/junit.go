package flowtest

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	File     string      `xml:"file,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string      `xml:"name,attr"`
	Class   string      `xml:"classname,attr"`
	File    string      `xml:"file,attr"`
	Line    int         `xml:"line,attr"`
	Failure *junitFault `xml:"failure,omitempty"`
	Error   *junitFault `xml:"error,omitempty"`
	Out     string      `xml:"system-out,omitempty"`
}

type junitFault struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the results of scenarios in the XML format of JUnit, which build
// servers read: a suite for each file, a case for each scenario. It omits durations, so
// that the output is reproducible.
func WriteJUnit(w io.Writer, suite Suite) error {
	var out junitSuites
	for _, f := range suite {
		s := junitOf(f)
		out.Tests, out.Failures, out.Errors = out.Tests+s.Tests, out.Failures+s.Failures, out.Errors+s.Errors
		out.Suites = append(out.Suites, s)
	}
	text, err := xml.MarshalIndent(out, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	}
	return err
}

func junitOf(f FileReport) junitSuite {
	s := junitSuite{Name: f.Name, File: f.Name}
	if f.Err != nil {
		s.Tests, s.Errors = 1, 1
		s.Cases = []junitCase{{Name: f.Name, Class: f.Name, File: f.Name, Line: 1, Error: &junitFault{"the file cannot be run", f.Err.Error()}}}
		return s
	}
	for _, r := range f.Report.Results {
		c := junitCase{Name: r.Name, Class: f.Name, File: f.Name, Line: r.Line}
		if r.Failure != nil {
			s.Failures++
			c.Failure = &junitFault{fmt.Sprintf("step %d is not as expected", r.Failure.Step), "\n" + r.Failure.Text(f.Name) + "\n"}
			c.Out = "\n" + strings.Join(r.Transcript, "\n") + "\n"
		}
		s.Cases = append(s.Cases, c)
	}
	s.Tests = len(s.Cases)
	return s
}
