package importer

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// maxPlaces limits the places that a finding lists.
const maxPlaces = 5

// Finding is something that is not imported, or not as it was.
type Finding struct {
	Subject string // "users", "clients"
	Problem string
	Fix     string // what to do instead
	Count   int
	Places  []string // the first ones: a file with a position, or an ID
}

// Report collects findings. Equal ones are counted. It is safe for concurrent use.
type Report struct {
	mu       sync.Mutex
	findings map[string]*Finding
	order    []*Finding
	details  *csv.Writer // nil for none
}

// NewReport returns an empty report. It writes each place of each finding to details as CSV; nil for none.
func NewReport(details io.Writer) *Report {
	r := &Report{findings: map[string]*Finding{}}
	if details != nil {
		r.details = csv.NewWriter(details)
		_ = r.details.Write([]string{"subject", "place", "problem", "fix"}) // Close returns the error
	}
	return r
}

// add adds a finding at a place.
func (r *Report) add(subject, place, problem, fix string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	place, problem = printable(place), printable(problem)
	key := subject + "\x00" + problem + "\x00" + fix
	f := r.findings[key]
	if f == nil {
		f = &Finding{Subject: subject, Problem: problem, Fix: fix}
		r.findings[key] = f
		r.order = append(r.order, f)
	}
	f.Count++
	if place != "" && len(f.Places) < maxPlaces {
		f.Places = append(f.Places, place)
	}
	if r.details != nil {
		_ = r.details.Write([]string{subject, place, problem, fix})
	}
}

// maxText limits the names from an export in a report, in characters.
const maxText = 400

// printable returns a text from an export for a terminal: on one line, without control characters, and not long.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > maxText {
		return string(runes[:maxText]) + "…"
	}
	return text
}

// Findings returns the findings, grouped by subject, the most frequent first.
func (r *Report) Findings() []Finding {
	list := make([]Finding, len(r.order))
	for i, f := range r.order {
		list[i] = *f
	}
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.Subject, b.Subject), cmp.Compare(b.Count, a.Count), strings.Compare(a.Problem, b.Problem))
	})
	return list
}

// Close writes the rest of the details.
func (r *Report) Close() error {
	if r.details == nil {
		return nil
	}
	r.details.Flush()
	return r.details.Error()
}

// Write writes the findings for people.
func (r *Report) Write(w io.Writer) {
	subject := ""
	for _, f := range r.Findings() {
		if f.Subject != subject {
			subject = f.Subject
			fmt.Fprintf(w, "\n%s\n", subject)
		}
		fmt.Fprintf(w, "  %d × %s\n", f.Count, f.Problem)
		if f.Fix != "" {
			fmt.Fprintf(w, "      → %s\n", f.Fix)
		}
		if places := strings.Join(f.Places, "; "); places != "" {
			if f.Count > len(f.Places) {
				places += "; …"
			}
			fmt.Fprintf(w, "      at %s\n", places)
		}
	}
}
