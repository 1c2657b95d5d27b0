package findings

import (
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/postern-id/postern/flows/rules"
	"github.com/postern-id/postern/schemas"
)

// The written parts of SARIF 2.1.0 (OASIS Standard, March 2020), with the sections of the
// standard.
type (
	sarifLog struct { // §3.13
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct { // §3.14
		Tool       sarifTool     `json:"tool"`
		Artifacts  []sarifFile   `json:"artifacts,omitempty"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	// sarifFile is a valid flow. Its guarantees are not a result: code scanning would show them
	// as a problem.
	sarifFile struct { // §3.24
		Location   sarifArtifact   `json:"location"`
		Properties sarifProperties `json:"properties"`
	}
	sarifProperties struct { // §3.8
		Handle     string             `json:"handle"`
		Guarantees schemas.Guarantees `json:"guarantees"`
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
		CodeFlows []sarifCodeFlow `json:"codeFlows,omitempty"`
	}
	sarifCodeFlow struct { // §3.36
		ThreadFlows []sarifThreadFlow `json:"threadFlows"`
	}
	sarifThreadFlow struct { // §3.37
		Locations []sarifStep `json:"locations"`
	}
	sarifStep struct { // §3.38
		Location sarifLocation `json:"location"`
	}
	sarifLocation struct { // §3.28
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
		Message  *sarifText     `json:"message,omitempty"`
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
		StartColumn int `json:"startColumn,omitempty"` // 0: at the start of the line
	}
	sarifLogical struct { // §3.33
		Name          string `json:"name,omitempty"`
		QualifiedName string `json:"fullyQualifiedName"`
	}
)

// WriteSARIF writes the results as a SARIF log for code scanning. Version is the version of the
// program.
func WriteSARIF(w io.Writer, list []File, version string) error {
	index := map[string]int{}
	driver := sarifDriver{Name: "postern", Version: version}
	for i, r := range rules.All() {
		index[r.ID] = i
		driver.Rules = append(driver.Rules, sarifRule{
			ID: r.ID, ShortDescription: sarifText{Text: r.Title}, FullDescription: sarifText{Text: r.Why},
			Help: sarifText{Text: r.Why + "\n\n" + r.Fix, Markdown: r.Markdown()}, Default: sarifDefault{"error"},
		})
	}
	run := sarifRun{Tool: sarifTool{driver}, ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	for i := range list {
		if f := &list[i]; f.Runs() {
			run.Artifacts = append(run.Artifacts, sarifFile{sarifArtifact{fileURI(f.Name)}, sarifProperties{f.Handle, f.Guarantees}})
		}
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
	return sarifResult{
		RuleID: p.Rule, RuleIndex: rule, Level: severity(p), Message: sarifText{Text: p.Message},
		Locations: []sarifLocation{at}, CodeFlows: codeFlows(file, p.Trace),
	}
}

// codeFlows returns the run that breaks the rule, which code scanning shows step by step.
func codeFlows(file string, trace schemas.Trace) []sarifCodeFlow {
	if len(trace) == 0 {
		return nil
	}
	steps := make([]sarifStep, len(trace))
	for i, step := range trace {
		at := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{fileURI(file)}}, Message: &sarifText{Text: stepText(step)}}
		if step.Line > 0 {
			at.Physical.Region = &sarifRegion{StartLine: step.Line}
		}
		steps[i] = sarifStep{at}
	}
	return []sarifCodeFlow{{[]sarifThreadFlow{{steps}}}}
}

func stepText(s schemas.TraceStep) string {
	text := s.Node
	if s.Outcome != "" {
		text += " —" + s.Outcome + "→"
	}
	if s.Note != "" {
		text += ": " + s.Note
	}
	return text
}

// fileURI returns a path as a URI reference (RFC 3986 §4.1): relative to the working directory,
// as code scanning expects, or with a scheme if it is absolute.
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
