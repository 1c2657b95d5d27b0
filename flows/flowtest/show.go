package flowtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// show writes a value in the notation of scenario files.
func show(value any) string {
	switch v := value.(type) {
	case nil:
		return "none"
	case string:
		if v == "" {
			return "none"
		}
		return v
	case []string:
		return "[" + strings.Join(v, ", ") + "]"
	case map[string]string:
		var members []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			members = append(members, k+": "+v[k])
		}
		return "{" + strings.Join(members, ", ") + "}"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

// describe returns the transcript line of a request.
func (s Send) describe(first bool, start map[string]string) string {
	var said []string
	if s.After != "" {
		said = append(said, "after "+s.After)
	}
	if s.Elsewhere {
		said = append(said, "from another browser")
	}
	switch {
	case first && len(start) > 0:
		said = append(said, "start "+show(start))
	case first:
		said = append(said, "start")
	case s.Resume:
		said = append(said, "resume")
	}
	if s.Stale {
		said = append(said, "with the token of the step before")
	}
	if s.Action != "" {
		said = append(said, "action "+s.Action)
	}
	if c := s.Passkey; c != nil {
		said = append(said, c.describe())
	}
	if s.Federated != nil {
		said = append(said, s.Federated.describe())
	}
	if s.TOTP != nil {
		said = append(said, "the code that "+s.TOTP.Device+" shows")
	}
	if s.MailedCode != "" {
		said = append(said, "the code of the "+s.MailedCode+" mail")
	}
	if s.RecoveryCode > 0 {
		said = append(said, fmt.Sprintf("recovery code %d", s.RecoveryCode))
	}
	if len(s.Inputs) > 0 {
		said = append(said, "inputs "+show(s.Inputs))
	}
	if len(said) == 0 {
		said = []string{"nothing"}
	}
	return "> " + strings.Join(said, ", ")
}

func (c *Ceremony) describe() string {
	said := "passkey of " + c.Device
	if c.As != "" {
		said += " as " + c.As
	}
	if c.Old {
		said += " to the options before"
	}
	if c.Replay {
		said += " once more"
	}
	if c.Origin != "" {
		said += " on " + c.Origin
	}
	if c.Fault != "" {
		said += " with the fault " + c.Fault
	}
	return said
}

// describe returns the transcript lines of a reply: the reply, the outcomes, the requests
// to services and the audit log.
func (r *reply) describe() (lines []string) {
	switch {
	case r.declined != nil:
		lines = append(lines, "< nothing: "+r.declined.Error())
	case r.refused != nil:
		lines = append(lines, "< refused "+codeOf(r.refused)+descriptionOf(r.refused))
	default:
		lines = append(lines, "< "+describeStep(r.step))
	}
	if len(r.left) > 0 {
		var ways []string
		for _, w := range r.left {
			ways = append(ways, strings.TrimSuffix(w.node+" "+w.outcome, " "))
		}
		lines = append(lines, "  by way of "+strings.Join(ways, ", "))
	}
	if len(r.requests) > 0 {
		lines = append(lines, "  requests "+show(describeRequest(r.requests)))
	}
	if len(r.events) > 0 {
		lines = append(lines, "  audit log "+show(actions(r.events)))
	}
	return lines
}

func describeStep(s *schemas.Step) string {
	said := []string{strings.TrimSuffix(string(s.FlowStatus)+" "+s.StepID, " ")}
	for _, list := range []struct {
		name  string
		items []string
	}{
		{"inputs", inputsOf(s)}, {"actions", actionsOf(s)}, {"data", slices.Sorted(maps.Keys(s.Data.AdditionalData))}, {"fieldErrors", faultyOf(s)},
	} {
		if len(list.items) > 0 {
			said = append(said, list.name+" "+show(list.items))
		}
	}
	switch provider := providerOf(s); {
	case provider != "":
		said = append(said, "provider "+provider)
	case s.Data.RedirectURL != "":
		said = append(said, "redirectURL "+s.Data.RedirectURL)
	}
	if s.Error != nil {
		said = append(said, "error "+codeOf(s.Error)+descriptionOf(s.Error))
	}
	return strings.Join(said, ", ")
}
