package findings

import (
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/postern-id/postern/flows/rules"
	"github.com/postern-id/postern/schemas"
)

// object is an object of SARIF 2.1.0 (OASIS Standard, March 2020). The comments name the
// sections of the standard.
type object map[string]any

// WriteSARIF writes the results as a SARIF log for code scanning. Version is the version of the
// program.
func WriteSARIF(w io.Writer, list []File, version string) error {
	index := map[string]int{}
	var descriptors []object
	for i, r := range rules.All() {
		index[r.ID] = i
		descriptors = append(descriptors, object{ // §3.49
			"id": r.ID, "shortDescription": text(r.Title), "fullDescription": text(r.Why),
			"help":                 object{"text": r.Why + "\n\n" + r.Fix, "markdown": r.Markdown()},
			"defaultConfiguration": object{"level": "error"},
		})
	}
	artifacts, results := []object{}, []object{}
	for i := range list {
		if f := &list[i]; f.Runs() {
			artifacts = append(artifacts, validFlow(f))
		}
		for _, p := range list[i].Findings {
			found := result(list[i].Name, p, index[p.Rule])
			if cause := root(p, list[i].Findings); cause != nil {
				found["relatedLocations"] = []object{relatedLocation(list[i].Name, *cause)}
			}
			results = append(results, found)
		}
	}
	driver := object{"name": "postern", "version": version, "rules": descriptors} // §3.19
	return encode(w, object{                                                      // §3.13
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{ // §3.14
			"tool": object{"driver": driver}, "columnKind": "unicodeCodePoints", "artifacts": artifacts, "results": results,
		}},
	})
}

func text(s string) object { return object{"text": s} } // §3.12

// validFlow returns the artifact (§3.24) of a flow. Its guarantees are not a result: code
// scanning would show them as a problem.
func validFlow(f *File) object {
	return object{"location": artifact(f.Name), "properties": object{"handle": f.Handle, "guarantees": f.Guarantees}}
}

// result returns a finding (§3.27). Rule is the index of its rule.
func result(file string, p schemas.Problem, rule int) object {
	at := location(file, p.Line, max(p.Column, 1))
	if p.Path != "" {
		logical := object{"fullyQualifiedName": p.Path} // §3.33
		if p.Node != "" {
			logical["name"] = p.Node
		}
		at["logicalLocations"] = []object{logical}
	}
	r := object{
		"ruleId": p.Rule, "ruleIndex": rule, "level": severity(p), "message": text(p.Message), "locations": []object{at},
	}
	if len(p.Trace) > 0 {
		r["codeFlows"] = codeFlows(file, p.Trace)
	}
	return r
}

// relatedLocation returns the position of the finding that another one follows from (§3.27.22).
func relatedLocation(file string, cause schemas.Problem) object {
	at := location(file, cause.Line, max(cause.Column, 1))
	at["message"] = text("follows from this finding: " + cause.Message)
	return at
}

// codeFlows returns the run that breaks the rule (§3.36), which code scanning shows step by step.
func codeFlows(file string, trace schemas.Trace) []object {
	var steps []object
	for _, step := range trace {
		at := location(file, step.Line, 0)
		at["message"] = text(StepText(step))
		steps = append(steps, object{"location": at}) // §3.38
	}
	return []object{{"threadFlows": []object{{"locations": steps}}}}
}

// location returns a position in a file (§3.28). Without a line it is the file, and without a
// column the line.
func location(file string, line, column int) object {
	physical := object{"artifactLocation": artifact(file)}
	region := object{"startLine": line}
	if column > 0 {
		region["startColumn"] = column
	}
	if line > 0 {
		physical["region"] = region
	}
	return object{"physicalLocation": physical}
}

func artifact(file string) object { return object{"uri": fileURI(file)} } // §3.4

// StepText describes a step of a run that breaks a rule.
func StepText(s schemas.TraceStep) string {
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
