package flowtest

import (
	"encoding/json"
	"fmt"
	"io"
)

type jsonFile struct {
	File      string   `json:"file"`
	Error     string   `json:"error,omitempty"`
	Scenarios []Result `json:"scenarios"`
}

// WriteJSON writes the results of scenarios as one JSON object: counts, each file with its
// scenarios, and the coverage of each flow.
func WriteJSON(w io.Writer, suite Suite) error {
	files := []jsonFile{}
	for _, f := range suite {
		if f.Err != nil {
			files = append(files, jsonFile{f.Name, f.Err.Error(), []Result{}})
		} else {
			files = append(files, jsonFile{f.Name, "", f.Report.Results})
		}
	}
	passed, failed := suite.Count()
	return writeJSON(w, struct {
		Passed   int        `json:"passed"`
		Failed   int        `json:"failed"`
		Files    []jsonFile `json:"files"`
		Coverage []Coverage `json:"coverage"`
	}{passed, failed, files, suite.Coverage()})
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
