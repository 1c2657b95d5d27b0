package findings

import (
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/postern-id/postern/flows/rules"
	"github.com/postern-id/postern/schemas"
)

// The parts of SARIF 2.1.0 (OASIS Standard, March 2020) that are written; the
// sections are those of the standard.
type (
	sarifLog struct { // §3.13
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct { // §3.14
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct { // §3.18
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct { // §3.19
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct { // §3.49
		ID               string       `json:"id"`
		ShortDescription sarifText    `json:"shortDescription"`
		FullDescription  sarifText    `json:"fullDescription"`
		Help             sarifText    `json:"help"`
		Default          sarifDefault `json:"defaultConfiguration"`
	}
	sarifDefault struct { // §3.50
		Level string `json:"level"`
	}
	sarifText struct { // §3.12
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifResult struct { // §3.27
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct { // §3.28
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct { // §3.29
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct { // §3.4
		URI string `json:"uri"`
	}
	sarifRegion struct { // §3.30
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
	}
	sarifLogical struct { // §3.33
		Name          string `json:"name,omitempty"`
		QualifiedName string `json:"fullyQualifiedName"`
	}
)

// WriteSARIF writes what came of files as a SARIF log, for code scanning. Version
// is that of the program.
func WriteSARIF(w io.Writer, list []File, version string) error {
	index := map[string]int{}
	driver := sarifDriver{Name: "postern", Version: version}
	for i, r := range rules.All() {
		index[r.ID] = i
		driver.Rules = append(driver.Rules, sarifRule{
			ID: r.ID, ShortDescription: sarifText{Text: r.Title}, FullDescription: sarifText{Text: r.Why},
			Help: sarifText{Text: r.Why + "\n\n" + r.Mend, Markdown: r.Markdown()}, Default: sarifDefault{"error"},
		})
	}
	run := sarifRun{Tool: sarifTool{driver}, ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	for i := range list {
		for _, p := range list[i].Findings {
			run.Results = append(run.Results, result(list[i].Name, p, index[p.Rule]))
		}
	}
	return encode(w, sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run},
	})
}

func result(file string, p schemas.Problem, rule int) sarifResult {
	at := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{fileURI(file)}}}
	if p.Line > 0 {
		at.Physical.Region = &sarifRegion{p.Line, max(p.Column, 1)}
	}
	if p.Path != "" {
		at.Logical = []sarifLogical{{Name: p.Node, QualifiedName: p.Path}}
	}
	return sarifResult{RuleID: p.Rule, RuleIndex: rule, Level: severity(p), Message: sarifText{Text: p.Message}, Locations: []sarifLocation{at}}
}

// fileURI writes a path as a URI reference (RFC 3986 §4.1): relative to where the
// program runs, as code scanning wants it, or with a scheme if it is absolute.
func fileURI(path string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
		if !strings.HasPrefix(u.Path, "/") {
			u.Path = "/" + u.Path // a drive letter
		}
	}
	return u.String()
}
