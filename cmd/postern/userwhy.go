package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/signins"
)

type userWhyCommand struct {
	JSON bool `name:"json" help:"Print JSON, as the API returns it."`
	oneUser
}

// Run explains why a user could not sign in.
func (c userWhyCommand) Run(ctx context.Context, p program) error {
	client, user, err := c.find(ctx, p)
	if err != nil {
		return err
	}
	var report signins.Report
	if err := client.Send(ctx, http.MethodGet, "/users/"+user.text("id")+"/sign-in-attempts", nil, &report); err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(p.stdout, report)
	}
	var applications []string
	for _, a := range report.Attempts {
		applications = append(applications, a.ApplicationID)
	}
	return writeSignIns(p.stdout, nameOf(user), report, namesOfApplications(ctx, client, applications))
}

// writeSignIns writes a report as text, with the names of applications.
func writeSignIns(w io.Writer, name string, r signins.Report, applications map[string]string) error {
	lines := []string{name}
	for _, s := range r.State {
		lines = append(lines, "  "+s.String())
	}
	if r.BlockedAt != nil {
		lines = append(lines, "  To allow guesses again: postern user reset-guesses.")
	}
	switch {
	case r.Attempts == nil:
		lines = append(lines, "  The latest sign-ins are in the audit log: they need the permission system:audit:read.")
	case len(r.Attempts) == 0:
		lines = append(lines, "  The audit log has no sign-ins and no refusals of this user. An attempt with a wrong username belongs to no user.")
	}
	for _, a := range r.Attempts {
		outcome := "not signed in"
		if a.SignedIn {
			outcome = "signed in"
			if slices.ContainsFunc(a.Steps, func(s signins.Step) bool { return s.Flow != "" }) { // a failure
				outcome = "signed in afterwards"
			}
		}
		if a.ApplicationID != "" {
			outcome += ", application " + cmp.Or(applications[a.ApplicationID], a.ApplicationID)
		}
		lines = append(lines, "", a.At.UTC().Format(time.RFC3339)+"  "+outcome)
		for _, s := range a.Steps {
			lines = append(lines, "  "+stepLine(s))
		}
	}
	for i := range lines {
		lines[i] = printable(lines[i])
	}
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

// stepLine returns the sentences of a step, its code and its place in the flow.
func stepLine(s signins.Step) string {
	var parts, notes []string
	for _, sentence := range s.Sentences {
		parts = append(parts, sentence.String())
	}
	if s.Code != "" {
		notes = append(notes, s.Code)
	}
	if s.Node != "" {
		notes = append(notes, fmt.Sprintf("flow %s, version %s, node %s", s.Flow, s.FlowVersion, s.Node))
	}
	if len(notes) > 0 {
		parts = append(parts, "("+strings.Join(notes, "; ")+")")
	}
	return strings.Join(parts, " ")
}
