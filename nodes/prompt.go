package nodes

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

func promptKind(d Deps) declared {
	return configured[prompt](d, engine.Kind{
		Name: "prompt",
		Open: true,
		Doc: "Shows a form and collects what the user enters. Its outcomes are its actions. An " +
			"answer replaces the values of all inputs that the form declares: inputs that the action does not submit are cleared.",
		Asks: true,
		Outcomes: []engine.Outcome{engine.On("<action>", engine.NoEffect(), engine.Outcome{
			Doc: "The user chose the action of this name. The required inputs that it submits are certain afterwards.",
		})},
		Expressions: func(with json.RawMessage) (list []engine.Expression) {
			for i, f := range readLoosely[prompt](with).Inputs {
				if f.Pattern != "" {
					list = append(list, engine.Expression{Path: fmt.Sprintf("inputs[%d].pattern", i), Text: f.Pattern, Regexes: 1})
				}
			}
			return list
		},
	}, errorCodes{},
		row{"its actions", "the required inputs"})
}

type prompt struct {
	node
	Title   string         `json:"title,omitempty" doc:"The heading of the form."`
	Text    string         `json:"text,omitempty" doc:"A paragraph below the heading."`
	Inputs  []field        `json:"inputs,omitempty" doc:"The inputs of the form, in display order." item.doc:"An input of the form."`
	Actions []promptAction `json:"actions" min:"1" doc:"The actions of the form. Each is an outcome of the node. The first is the primary one." item.doc:"A button of the form."`
}

type promptAction struct {
	Ref     string   `json:"ref" is:"identifier" doc:"The name of the action and of the outcome; unique in the form."`
	Label   string   `json:"label,omitempty" doc:"The label of the button. Default: the ref."`
	Inputs  []string `json:"inputs,omitzero" unique:"true" unordered:"true" doc:"The inputs that this action submits. Default: all. [] submits none." item.doc:"The identifier of an input of this form."` // nil: all of them
	Variant string   `json:"variant,omitempty" doc:"The style of the button. Default: PRIMARY for the first action, SECONDARY for others."`
}

func (a promptAction) submits(identifier string) bool {
	return a.Inputs == nil || slices.Contains(a.Inputs, identifier)
}

// prepare declares the inputs and the actions. Each action replaces the value of every input of the
// form, including those it does not submit: a client that passed the prompt as A must not continue as
// A after entering B.
func (p *prompt) prepare(c *engine.Config) []schemas.Problem {
	found := p.compile(c.Stored)
	p.outcomes = nil
	p.form = form{title: p.Title, text: p.Text, fields: p.Inputs}
	p.collects = make(map[string]schemas.InputType, len(p.Inputs))
	declared := make([]string, len(p.Inputs))
	for i, f := range p.Inputs {
		declared[i], p.collects[f.Identifier] = f.Identifier, f.Type
	}
	for _, a := range p.Actions {
		b := button{ref: a.Ref, label: a.Label, variant: a.Variant}
		o := engine.On(a.Ref, engine.NoEffect(), engine.Outcome{Doc: "the user chose " + a.Ref, Withdraws: declared})
		for _, f := range p.Inputs {
			switch submitted := a.submits(f.Identifier); {
			case f.Required && !submitted: // pages do not submit a form with an empty required input
				b.event = schemas.TriggerEvent
			case f.Required && !f.Type.Secret(): // a secret does not outlive its step, so it is never certain
				o.Establishes = append(o.Establishes, engine.InputFact(f.Identifier))
			}
		}
		p.form.buttons = append(p.form.buttons, b)
		p.outcomes = append(p.outcomes, o)
	}
	return found
}

func (p *prompt) compile(stored bool) []schemas.Problem {
	var found []schemas.Problem
	declared := map[string]bool{}
	for i := range p.Inputs {
		f, at := &p.Inputs[i], fmt.Sprintf("inputs[%d]", i)
		if declared[f.Identifier] {
			found = append(found, problem(at+".identifier", "the form declares %q twice", f.Identifier))
		}
		declared[f.Identifier] = true
		for _, fault := range f.compile(stored) {
			fault.Path = at + "." + fault.Path
			found = append(found, fault)
		}
	}
	refs := map[string]bool{}
	for i, a := range p.Actions {
		if refs[a.Ref] {
			found = append(found, problem(fmt.Sprintf("actions[%d].ref", i), "the form declares %q twice", a.Ref))
		}
		refs[a.Ref] = true
		for j, identifier := range a.Inputs {
			if !declared[identifier] {
				found = append(found, problem(fmt.Sprintf("actions[%d].inputs[%d]", i, j),
					"%q is not an input of this form; declare it under inputs, or remove it here", identifier))
			}
		}
	}
	return found
}

// Execute asks, and leaves by the action once all its inputs are valid.
func (p *prompt) Execute(_ context.Context, v *engine.Visit) (*engine.Decision, error) {
	if v.Answer == nil {
		return &engine.Decision{Ask: p.form.ask()}, nil
	}
	a, err := p.action(v.Answer.Action)
	if err != nil {
		return nil, err
	}
	d := &engine.Decision{Outcome: a.Ref, Set: map[string]string{}}
	var faults []schemas.FieldError
	for i := range p.Inputs {
		f := &p.Inputs[i]
		value, fault := "", ""
		if a.submits(f.Identifier) {
			value, fault = f.accept(v.Answer.Inputs[f.Identifier])
		}
		if fault != "" {
			faults = append(faults, schemas.FieldError{Identifier: f.Identifier, Message: fault})
		}
		if value == "" {
			d.Drop = append(d.Drop, f.Identifier)
		} else {
			d.Set[f.Identifier] = value
		}
	}
	if len(faults) > 0 {
		return &engine.Decision{Ask: p.form.ask(faults...)}, nil
	}
	return d, nil
}

func (p *prompt) action(ref string) (promptAction, error) {
	if ref == "" && len(p.Actions) == 1 {
		return p.Actions[0], nil
	}
	i := slices.IndexFunc(p.Actions, func(a promptAction) bool { return a.Ref == ref })
	if i < 0 {
		return promptAction{}, schemas.Errorf(schemas.Invalid, schemas.CodeInvalidAction, "this step has no action %q", ref)
	}
	return p.Actions[i], nil
}
