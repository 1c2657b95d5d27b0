package findings

import (
	"fmt"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// proven says what is proven of a flow, and what it demands of sessions. Of a sub-flow
// that depends on where it is used.
func (f *File) proven() string {
	if f.FlowType == schemas.Subflow {
		return "a part of flows"
	}
	text := proven(f.Guarantees)
	for _, s := range f.Sessions {
		text += fmt.Sprintf("; %s demands acr %s of sessions", s.Node, s.ACR)
	}
	return text
}

// proven says in words what every run of a flow that completes has proved, and
// what the flow keeps from strangers. A flow of which nothing is proven says so:
// whoever reads it must not take silence for a proof.
func proven(g schemas.Guarantees) string {
	var all []string
	add := func(is bool, words string) {
		if is {
			all = append(all, words)
		}
	}
	add(g.ACR != "", "acr "+g.ACR)
	add(len(g.AMR) > 0, "amr "+strings.Join(g.AMR, " "))
	add(g.PhishingResistant, "phishing-resistant")
	add(g.UserVerified, "user-verified")
	add(g.NoEnumeration, "no enumeration")
	if len(all) == 0 {
		return "guarantees nothing"
	}
	return "guarantees " + strings.Join(all, ", ")
}

// Runs reports whether the file is a flow that may run.
func (f *File) Runs() bool { return f.Handle != "" }
