package flowtest

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/postern-id/postern/internal/federation/federationtest"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// WalkText contains the texts of a walk.
type WalkText struct {
	// File is the text of a scenario file in YAML, for its users, devices, application and clock.
	// Its scenarios are not used and can be missing.
	File string
	// Start contains the members of a scenario that determine how the run begins, such as session
	// and request, in YAML.
	Start string
	// Sends are the requests after the one that starts the run, each like `send` of a step.
	Sends []json.RawMessage
	// Language is the language of the browser (BCP 47); "" if it reports none.
	Language string
}

// WalkProblem is a problem in a part of a walk: "file", "start", or "sends".
type WalkProblem struct {
	In string `json:"in"`
	schemas.Problem
}

// ParseWalk returns a scenario file with one scenario, which Play plays. The file is nil if there
// are problems other than warnings.
func ParseWalk(flow Definition, w WalkText) (*File, []WalkProblem) {
	file, problems := parsePart("file", w.File)
	start, more := parsePart("start", w.Start)
	if problems = append(problems, more...); len(problems) > 0 {
		return nil, problems
	}
	text := joinWalk(file.members, start.members, w.Sends)
	f, found := Parse(flow, text)
	if f != nil {
		f.language = w.Language
	}
	for _, p := range found {
		problems = append(problems, locateWalkProblem(file.doc, start.doc, p))
	}
	return f, problems
}

// walkPart is a parsed part of a walk.
type walkPart struct {
	doc     *schemas.Document
	members map[string]json.RawMessage
}

// parsePart parses an object; without any content it is empty.
func parsePart(name, text string) (walkPart, []WalkProblem) {
	if isBlank(text) {
		text = "{}"
	}
	part := walkPart{}
	doc, problems := schemas.ParseYAML([]byte(text))
	if len(problems) == 0 && json.Unmarshal(doc.JSON(), &part.members) != nil {
		problems = []schemas.Problem{{Message: "expected members, such as users: {}", Line: 1, Column: 1}}
	}
	part.doc = doc
	return part, namesOf(problems, func(p schemas.Problem) WalkProblem { return WalkProblem{name, p} })
}

// isBlank reports whether all lines are empty or comments.
func isBlank(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return true
}

// joinWalk returns the scenario file of a walk.
func joinWalk(file, start map[string]json.RawMessage, sends []json.RawMessage) []byte {
	steps := []any{map[string]any{}}
	for _, s := range sends {
		steps = append(steps, map[string]any{"send": s})
	}
	scenario := map[string]any{}
	for name, value := range start {
		scenario[name] = value
	}
	scenario["name"], scenario["steps"] = "walk", steps
	whole := map[string]any{}
	for name, value := range file {
		whole[name] = value
	}
	delete(whole, "flow") // the walk is of the given flow
	whole["scenarios"] = []any{scenario}
	text, err := json.Marshal(whole)
	if err != nil {
		return []byte("{") // a send that is not JSON, which the parser reports
	}
	return bytes.TrimSpace(text)
}

// locateWalkProblem returns the problem with its position in the part that it is in.
func locateWalkProblem(file, start *schemas.Document, p schemas.Problem) WalkProblem {
	p.Line, p.Column = 0, 0
	rest, inScenario := strings.CutPrefix(p.Path, scenarioPath(0))
	switch {
	case !inScenario:
		return WalkProblem{"file", file.Locate([]schemas.Problem{p})[0]}
	case strings.HasPrefix(rest, ".steps"):
		return WalkProblem{"sends", p}
	}
	p.Path = strings.TrimPrefix(rest, ".")
	return WalkProblem{"start", start.Locate([]schemas.Problem{p})[0]}
}

// ParseSend parses a request in YAML, as `send` of a step contains it. ParseWalk checks it with the
// others.
func ParseSend(text string) (s Send, problems []schemas.Problem) {
	doc, problems := schemas.ParseYAML([]byte(text))
	if len(problems) == 0 {
		problems = doc.Decode(nil, &s)
	}
	return s, problems
}

// Fault describes a way in which a device or an identity provider misbehaves.
type Fault struct {
	Fault    string `json:"fault"`
	Ceremony string `json:"ceremony,omitempty"` // of a device: registration, authentication or both
	Doc      string `json:"doc"`
}

// DeviceFaults returns the faults of devices.
func DeviceFaults() []Fault {
	return namesOf(passkeytest.Catalog(), func(d passkeytest.Description) Fault {
		return Fault{string(d.Fault), string(d.Ceremony), d.Doc}
	})
}

// ProviderFaults returns the faults of identity providers.
func ProviderFaults() []Fault {
	return namesOf(federationtest.Catalog(), func(d federationtest.Description) Fault { return Fault{string(d.Fault), "", d.Doc} })
}
