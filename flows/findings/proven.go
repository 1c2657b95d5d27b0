package findings

import (
	"fmt"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Proven describes what is proven of a flow and what it demands of sessions. For a sub-flow that
// depends on its use.
func (f *File) Proven() string {
	if f.FlowType == schemas.Subflow {
		return "a sub-flow"
	}
	text := guaranteesText(f.Guarantees)
	for _, s := range f.Sessions {
		text += fmt.Sprintf("; %s requires acr %s of sessions", s.Node, s.ACR)
	}
	return text
}

// guaranteesText describes in words what every completed run of a flow has proved, and whether
// it conceals accounts. A flow without guarantees is reported as such: silence must not be
// mistaken for a proof.
func guaranteesText(g schemas.Guarantees) string {
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

// Runs reports whether the file contains a valid flow.
func (f *File) Runs() bool { return f.Handle != "" }
