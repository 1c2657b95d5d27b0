package play

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/flows/flowtest"
	"github.com/postern-id/postern/schemas"
)

func hasCeremony(step *schemas.Step) bool {
	return step.Data.AdditionalData["passkeyChallenge"] != "" || step.Data.AdditionalData["passkeyCreationOptions"] != ""
}

func componentsOf(step *schemas.Step) []schemas.Component {
	if step.Data.Meta == nil {
		return nil
	}
	return step.Data.Meta.Components
}

// hasTrigger reports whether a component starts the ceremony of a passkey in the browser.
func hasTrigger(components []schemas.Component, action string) bool {
	return slices.ContainsFunc(components, func(c schemas.Component) bool {
		return c.EventType == schemas.TriggerEvent && c.ID == action || hasTrigger(c.Components, action)
	})
}

// printTurn prints what the last request has done, and the step that waits for an answer.
func (g *Game) printTurn(w *flowtest.Walk) {
	if len(w.Turns) == 0 {
		return
	}
	g.printEffects(w)
	step := w.Step
	switch {
	case step == nil:
		g.print("The run has not started.")
	case step.FlowStatus == schemas.Complete && w.User != "":
		g.print("The run is complete: %s is signed in.", w.User)
		delete(w.Claims, "sid") // it is random
		claims, _ := json.Marshal(w.Claims)
		g.print("  claims %s", claims)
	case step.FlowStatus == schemas.Complete:
		g.print("The run is complete.")
	case step.FlowStatus != schemas.Incomplete:
		g.print("The run has failed.")
	default:
		g.printStep(w)
	}
}

// printEffects prints the outcomes, errors, events, mails and requests of the last turn.
func (g *Game) printEffects(w *flowtest.Walk) {
	turn := w.Turns[len(w.Turns)-1]
	if len(turn.Left) > 0 {
		var way []string
		for _, exit := range turn.Left {
			way = append(way, strings.TrimSpace(exit.Node+" "+exit.Outcome))
		}
		g.print("  left %s", strings.Join(way, ", "))
	}
	for _, e := range []*schemas.Error{turn.Error, turn.Refused} {
		if e != nil {
			g.print("  error %s", strings.TrimSpace(fmt.Sprintf("%s: %s %s", e.Code, cmp.Or(g.Words["error."+e.Code], e.Description.DefaultValue), inBrackets(turn.Check))))
		}
	}
	if turn.Declined != "" {
		g.print("  the device did not answer: %s", turn.Declined)
	}
	if len(turn.Events) > 0 {
		g.print("  audit log %s", strings.Join(turn.Events, ", "))
	}
	for _, request := range turn.Requests {
		g.print("  request %s", request)
	}
	for _, mail := range w.Mails[max(0, len(w.Mails)-len(turn.Mails)):] {
		g.print("  mail to %s: %s", mail.To, describeMail(mail))
	}
}

func inBrackets(text string) string {
	if text == "" {
		return ""
	}
	return "(" + text + ")"
}

func describeMail(m schemas.Mail) string {
	if m.Code != "" {
		return "code " + m.Code
	}
	return string(m.Notice)
}

// printStep prints the page of a step: its texts, inputs and actions.
func (g *Game) printStep(w *flowtest.Walk) {
	step := w.Step
	g.print("The run waits at %s.", step.StepID)
	labels := map[string]string{}
	g.printTexts(componentsOf(step), labels)
	for _, in := range formInputs(step) {
		g.print("  input %s%s", in.Identifier, describeInput(in, labels[in.Identifier]))
	}
	for _, e := range step.Data.FieldErrors {
		g.print("  wrong %s: %s", e.Identifier, g.word(e.Message))
	}
	if hasCeremony(step) {
		g.print("  passkey [DEVICE] [FAULT]")
	}
	if w.Provider != "" {
		g.print("  provider SUBJECT [FAULT]: sign in at %s", w.Provider)
	} else if step.Data.RedirectURL != "" {
		g.print("  redirect to %s", step.Data.RedirectURL)
	}
	g.printActions(step, labels)
	for _, device := range slices.Sorted(maps.Keys(w.AppCodes)) {
		g.print("  the app on %s shows %s", device, w.AppCodes[device])
	}
	g.printFacts(w)
}

func (g *Game) printActions(step *schemas.Step, labels map[string]string) {
	for i, ref := range actionsOf(step) {
		note := ""
		if commands()[ref] != nil {
			note = fmt.Sprintf(" (type %d: %s is a command)", i+1, ref)
		}
		label := labels[ref]
		if label != "" {
			label = ": " + label
		}
		g.print("  %d %s%s%s", i+1, ref, label, note)
	}
}

func describeInput(in schemas.Input, label string) string {
	text := " (" + string(in.Type)
	if in.Required {
		text += ", required"
	}
	text += ")"
	if label != "" {
		text += ": " + label
	}
	if len(in.Options) > 0 {
		text += ", one of " + strings.Join(in.Options, ", ")
	}
	return text
}

// printTexts prints the texts of a page, and records the labels of inputs and actions.
func (g *Game) printTexts(components []schemas.Component, labels map[string]string) {
	for _, c := range components {
		switch {
		case c.Type == schemas.ActionComponent:
			labels[c.ID] = g.word(c.Label)
		case c.Ref != "":
			labels[c.Ref] = g.word(c.Label)
		case c.Label != "":
			g.print("  %q", g.word(c.Label))
		}
		g.printTexts(c.Components, labels)
	}
}

// printFacts prints what holds in the run. Different facts can have the same words.
func (g *Game) printFacts(w *flowtest.Walk) {
	var texts []string
	for _, f := range w.Facts {
		if !slices.Contains(texts, f.Text) {
			texts = append(texts, f.Text)
		}
	}
	if len(texts) > 0 {
		g.print("  holds: %s", strings.Join(texts, "; "))
	}
}

// printFaults lists the faults that fit the step.
func (g *Game) printFaults(step *schemas.Step) {
	list, ceremony := flowtest.DeviceFaults(), "authentication"
	if step.Data.AdditionalData["passkeyCreationOptions"] != "" {
		ceremony = "registration"
	}
	if step.Type == schemas.Redirection {
		list, ceremony = flowtest.ProviderFaults(), ""
	}
	for _, f := range list {
		if f.Ceremony == ceremony || f.Ceremony == "both" {
			g.print("  %s: %s", f.Fault, f.Doc)
		}
	}
}
