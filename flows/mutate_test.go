package flows_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// mutant is a flow with one mistake in it.
type mutant struct {
	what string
	flow *schemas.Flow
}

// mutants returns the flow with each known kind of mistake, one at a time, always in the same
// order.
func mutants(flow *schemas.Flow) []mutant {
	var list []mutant
	add := func(what string, change func(f *schemas.Flow)) {
		f := clone(flow)
		change(f)
		list = append(list, mutant{flow.Handle + ": " + what, f})
	}
	for i, n := range flow.Nodes {
		moveEdges(flow, i, add)
		swapOutcomes(n, i, add)
		if i > 0 {
			add("begins at "+n.ID, func(f *schemas.Flow) { f.Nodes[0], f.Nodes[i] = f.Nodes[i], f.Nodes[0] })
			add("changes places with "+n.ID, func(f *schemas.Flow) { f.Nodes[0].Next, f.Nodes[i].Next = f.Nodes[i].Next, f.Nodes[0].Next })
		}
		if len(flow.Nodes) > 1 {
			add("without "+n.ID, func(f *schemas.Flow) { remove(f, i) })
		}
		for _, c := range configurations(n) {
			add(n.ID+" "+c.what, func(f *schemas.Flow) { f.Nodes[i].With = c.with })
		}
	}
	for i := range flow.Waive {
		add("without the waiver", func(f *schemas.Flow) { f.Waive = slices.Delete(f.Waive, i, i+1) })
	}
	return list
}

// mutantsWithin returns the flow with each mistake in the sub-flows that it uses.
func mutantsWithin(flow *schemas.Flow) []mutant {
	var list []mutant
	for _, handle := range slices.Sorted(maps.Keys(flow.Parts)) {
		part := flow.Parts[handle]
		for _, m := range slices.Concat(mutants(part), mutantsWithin(part)) {
			f := clone(flow)
			f.Parts = maps.Clone(flow.Parts)
			f.Parts[handle] = m.flow
			list = append(list, mutant{flow.Handle + ": " + m.what, f})
		}
	}
	return list
}

func clone(flow *schemas.Flow) *schemas.Flow {
	f := *flow
	f.Nodes, f.Waive = slices.Clone(flow.Nodes), slices.Clone(flow.Waive)
	for i := range f.Nodes {
		f.Nodes[i].Next.By = maps.Clone(f.Nodes[i].Next.By)
	}
	return &f
}

// moveEdges leads each edge of a node to every other target.
func moveEdges(flow *schemas.Flow, i int, add func(string, func(*schemas.Flow))) {
	n := flow.Nodes[i]
	targets := []string{schemas.End}
	for _, m := range flow.Nodes {
		targets = append(targets, m.ID)
	}
	for _, to := range targets {
		if n.Next.To != "" && n.Next.To != to {
			add(n.ID+" to "+to, func(f *schemas.Flow) { f.Nodes[i].Next.To = to })
		}
		for _, outcome := range n.Next.Outcomes() {
			if n.Next.By[outcome] != to {
				add(fmt.Sprintf("%s %s to %s", n.ID, outcome, to), func(f *schemas.Flow) { f.Nodes[i].Next.By[outcome] = to })
			}
		}
	}
}

// swapOutcomes swaps the targets of two outcomes.
func swapOutcomes(n schemas.Node, i int, add func(string, func(*schemas.Flow))) {
	outcomes := n.Next.Outcomes()
	for a, one := range outcomes {
		for _, other := range outcomes[a+1:] {
			if n.Next.By[one] != n.Next.By[other] {
				add(fmt.Sprintf("%s %s for %s", n.ID, one, other), func(f *schemas.Flow) {
					by := f.Nodes[i].Next.By
					by[one], by[other] = by[other], by[one]
				})
			}
		}
	}
}

// remove removes a node; edges to it lead to its successor.
func remove(f *schemas.Flow, i int) {
	n := f.Nodes[i]
	to := n.Next.To
	for _, outcome := range []string{"success", "created", "found", "active", "continue", "granted", "otherwise"} {
		if to == "" {
			to = n.Next.By[outcome]
		}
	}
	if to == "" {
		to = schemas.End
	}
	f.Nodes = slices.Delete(f.Nodes, i, i+1)
	for j := range f.Nodes {
		if f.Nodes[j].Next.To == n.ID {
			f.Nodes[j].Next.To = to
		}
		for outcome, target := range f.Nodes[j].Next.By {
			if target == n.ID {
				f.Nodes[j].Next.By[outcome] = to
			}
		}
	}
}

// guard is the test of an attribute before it is read.
var guard = regexp.MustCompile(`has\(user\.attributes\.[a-z_]+\) && `)

type configuration struct {
	what string
	with json.RawMessage
}

// configurations returns the node's configuration with each member removed, and with each
// boolean or condition inverted.
func configurations(n schemas.Node) []configuration {
	var with map[string]any
	if json.Unmarshal(n.With, &with) != nil {
		return nil
	}
	var list []configuration
	add := func(what string, change func(map[string]any)) {
		var fresh map[string]any
		_ = json.Unmarshal(n.With, &fresh) // it was parsed before
		change(fresh)
		text, _ := json.Marshal(fresh) // it was JSON before
		list = append(list, configuration{what, text})
	}
	for _, member := range slices.Sorted(maps.Keys(with)) {
		add("without "+member, func(m map[string]any) { delete(m, member) })
		if yes, is := with[member].(bool); is {
			add("turned "+member, func(m map[string]any) { m[member] = !yes })
		}
		items, _ := with[member].([]any)
		for i, item := range items {
			one, is := item.(map[string]any)
			if !is {
				continue
			}
			if when, is := one["when"].(string); is {
				add("negates "+when, func(m map[string]any) { m[member].([]any)[i].(map[string]any)["when"] = "!(" + when + ")" })
				add("weakens "+when, func(m map[string]any) {
					m[member].([]any)[i].(map[string]any)["when"] = when + ` || request.language == "de"`
				})
			}
			if when, is := one["when"].(string); is && guard.MatchString(when) {
				add("reads without the guard "+when, func(m map[string]any) {
					m[member].([]any)[i].(map[string]any)["when"] = guard.ReplaceAllString(when, "")
				})
			}
			if required, is := one["required"].(bool); is && required {
				add(fmt.Sprintf("asks for %v in vain", one["identifier"]), func(m map[string]any) {
					delete(m[member].([]any)[i].(map[string]any), "required")
				})
			}
			if member == "inputs" && one["autocomplete"] != "current-password" {
				add(fmt.Sprintf("asks for a password as %v", one["identifier"]), func(m map[string]any) {
					m[member].([]any)[i].(map[string]any)["autocomplete"] = "section-a current-password"
				})
			}
			if member == "actions" && !strings.Contains(fmt.Sprint(one), "inputs:") {
				add(fmt.Sprintf("submits nothing by %v", one["ref"]), func(m map[string]any) {
					m[member].([]any)[i].(map[string]any)["inputs"] = []any{}
				})
			}
		}
	}
	return list
}
