package nodes

import (
	"cmp"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// form is a step as the user sees it.
type form struct {
	title, text string
	shown       []schemas.Component // below the text
	fields      []field
	buttons     []button
}

// button is an action of a form.
type button struct {
	ref, label, variant, event string
}

// ask converts the form to the step for the client: the inputs and actions, the faults of the last
// answer, and the components with which any client can show them without knowing the kind. HIDDEN
// inputs have no component.
func (f form) ask(faults ...schemas.FieldError) *engine.Ask {
	a := &engine.Ask{FieldErrors: faults}
	block := schemas.Component{ID: "form", Type: schemas.BlockComponent}
	for _, in := range f.fields {
		a.Inputs = append(a.Inputs, in.input())
		if in.Type != schemas.HiddenInput {
			block.Components = append(block.Components, in.component())
		}
	}
	for i, b := range f.buttons {
		a.Actions = append(a.Actions, schemas.Action{Ref: b.ref})
		block.Components = append(block.Components, b.component(i == 0))
	}
	if f.title != "" {
		a.Components = append(a.Components, text("title", f.title, "HEADING_1"))
	}
	if f.text != "" {
		a.Components = append(a.Components, text("text", f.text, "BODY_1"))
	}
	a.Components = append(append(a.Components, f.shown...), block)
	return a
}

// faultAt returns the fault of an input, none for "".
func faultAt(identifier, message string) []schemas.FieldError {
	if message == "" {
		return nil
	}
	return []schemas.FieldError{{Identifier: identifier, Message: message}}
}

// hiddenFields returns inputs that the user does not see.
func hiddenFields(required bool, identifiers ...string) (fields []field) {
	for _, identifier := range identifiers {
		fields = append(fields, field{Identifier: identifier, Type: schemas.HiddenInput, Required: required})
	}
	return fields
}

func text(id, label, variant string) schemas.Component {
	return schemas.Component{ID: id, Type: schemas.TextComponent, Label: label, Variant: variant}
}

func (b button) component(first bool) schemas.Component {
	c := schemas.Component{
		ID:        b.ref,
		Type:      schemas.ActionComponent,
		Label:     cmp.Or(b.label, b.ref),
		Variant:   b.variant,
		EventType: cmp.Or(b.event, schemas.SubmitEvent),
	}
	if c.Variant == "" && first {
		c.Variant = "PRIMARY"
	}
	if c.Variant == "" {
		c.Variant = "SECONDARY"
	}
	return c
}

func (f field) input() schemas.Input {
	return schemas.Input{Ref: f.componentID(), Identifier: f.Identifier, Type: f.Type, Required: f.Required, Options: f.Options}
}

func (f field) component() schemas.Component {
	return schemas.Component{
		ID:           f.componentID(),
		Type:         string(f.Type),
		Ref:          f.Identifier,
		Label:        cmp.Or(f.Label, f.Identifier),
		Placeholder:  f.Placeholder,
		Required:     f.Required,
		Options:      f.Options,
		Autocomplete: f.Autocomplete,
	}
}

// componentID keeps the ids of inputs distinct from those of actions, which a flow can give the
// same name.
func (f field) componentID() string { return "input_" + f.Identifier }
