package flowtest

import (
	"encoding/json"
	"fmt"
	"io"
)

type jsonSuite struct {
	Passed   int        `json:"passed"`
	Failed   int        `json:"failed"`
	Files    []jsonFile `json:"files"`
	Coverage []Coverage `json:"coverage"`
}

type jsonFile struct {
	File      string       `json:"file"`
	Error     string       `json:"error,omitempty"`
	Scenarios []jsonResult `json:"scenarios"`
}

type jsonResult struct {
	Name       string   `json:"name"`
	Line       int      `json:"line"`
	Passed     bool     `json:"passed"`
	Failure    *Failure `json:"failure,omitempty"`
	Transcript []string `json:"transcript,omitempty"`
}

// WriteJSON writes the results of scenarios as one JSON object: counts, each file with its
// scenarios, and the coverage of each flow.
func WriteJSON(w io.Writer, suite Suite) error {
	out := jsonSuite{Files: []jsonFile{}, Coverage: suite.Coverage()}
	out.Passed, out.Failed = suite.Count()
	for _, f := range suite {
		file := jsonFile{File: f.Name, Scenarios: []jsonResult{}}
		if f.Err != nil {
			file.Error = f.Err.Error()
		} else {
			for _, r := range f.Report.Results {
				file.Scenarios = append(file.Scenarios, jsonResult{r.Name, r.Line, r.Failure == nil, r.Failure, r.Transcript})
			}
		}
		out.Files = append(out.Files, file)
	}
	return writeJSON(w, out)
}

func writeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false) // transcripts contain arrows
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// coverageFile is the file format of coverage between two commands.
type coverageFile struct {
	Flows []Coverage `json:"flows"`
}

// WriteCoverage writes the coverage of flows for ReadCoverage.
func WriteCoverage(w io.Writer, list []Coverage) error { return writeJSON(w, coverageFile{list}) }

// ReadCoverage reads the output of WriteCoverage.
func ReadCoverage(r io.Reader) ([]Coverage, error) {
	var f coverageFile
	decoder := json.NewDecoder(r)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil {
		return nil, fmt.Errorf("expected what `postern flow test --coverage-out` writes: %w", err)
	}
	return f.Flows, nil
}
