package nodes

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

func decisionKind(d Deps) declared {
	return configured[decision](d, engine.Kind{
		Name: "decision",
		Doc: "Selects an outcome by CEL expressions: that of the first case whose expression is true, or otherwise if " +
			"none is. The nodes that follow can rely on what an expression established: where user.isAuthenticated is " +
			"true, the user is authenticated.",
		Outcomes: []engine.Outcome{
			engine.On("<case>", engine.NoEffect(), engine.Outcome{Doc: "the expression of a case with this outcome is the first that is true"}),
			engine.On(otherwise, engine.NoEffect(), engine.Outcome{Doc: "no expression is true"}),
		},
		Expressions: func(with json.RawMessage) (list []engine.Expression) {
			for i, one := range readLoosely[decision](with).Cases {
				list = append(list, expressionAt(whenPath(i), one.When))
			}
			return list
		},
	}, errorCodes{schemas.CodeExpressionFailed, schemas.CodeNotAccepted},
		row{"its cases, otherwise", "what its conditions test: an authenticated user, an input, an attribute"})
}

// otherwise is the outcome if no case applies.
const otherwise = "otherwise"

type decisionCase struct {
	When    string `json:"when" min:"1" max:"4096" doc:"A boolean CEL expression. It can read user (id, type, ouId, attributes, isNew, isAuthenticated, methods; groups, roles, permissions; hasPasskey, hasPassword, hasTotp, hasRecoveryCodes, hasIdentity; knowsBrowser, and knowsBrowser(\"mfa\") with the strength that the browser must be known for), application (id, name, ouId, clientId), inputs, request (origin, language, acrValues, scopes), and replies: the reply that an http-request stores as risk is replies.risk, with its values by name."`
	Outcome string `json:"outcome" is:"identifier" doc:"The outcome if the expression is true. Several cases may share one."`
	Message string `json:"message,omitempty" min:"1" max:"500" doc:"A message that the next step shows, such as the reason why an input is not accepted."`
	Input   string `json:"input,omitempty" is:"identifier" doc:"The input of the next step that the message is about."`
}

// decisionMessage is what the next step shows to the user; it may be about one of its inputs.
type decisionMessage struct{ text, input string }

// check reports an input without a message, and one that the flow does not have.
func (m decisionMessage) check(c *engine.Config, path string) []schemas.Problem {
	inputs := c.Collected().Inputs
	_, known := inputs[m.input]
	switch {
	case m.input == "":
		return nil
	case m.text == "":
		return []schemas.Problem{problem(path, "an input without a message has no effect; add a message, or remove the input")}
	case !known:
		return []schemas.Problem{problem(path, "no prompt of this flow has the input %q%s", m.input, schemas.Hint(m.input, slices.Collect(maps.Keys(inputs))))}
	}
	return nil
}

// leaveBy leaves by the outcome with the message.
func (m decisionMessage) leaveBy(outcome string) *engine.Decision {
	d := engine.LeaveBy(outcome)
	if m.text == "" {
		return d
	}
	d.Notice = schemas.Errorf(schemas.Invalid, schemas.CodeNotAccepted, "%s", m.text)
	d.Notice.Message = schemas.Text{DefaultValue: m.text}
	if m.input != "" {
		d.Notice.Errors = []schemas.Problem{{Path: m.input, Message: m.text}}
	}
	return d
}

type decision struct {
	expressionReader
	Cases   []decisionCase `json:"cases" min:"1" max:"100" doc:"The cases, in order of evaluation." item.doc:"A condition and its outcome."`
	Message string         `json:"message,omitempty" min:"1" max:"500" doc:"A message that the next step shows if no case applies."` // for otherwise, as Input
	Input   string         `json:"input,omitempty" is:"identifier" doc:"The input of the next step that this message is about."`

	proves map[string]provenCases // facts after each outcome
	untrue provenCases            // facts if no case so far is true
}

func (x *decision) prepare(c *engine.Config) (found []schemas.Problem) {
	env := x.environment(c)
	x.proves = map[string]provenCases{}
	for i, one := range x.Cases {
		compiled, faults := compileExpression(env, c, one.When, x.untrue.facts)
		found = append(found, x.add(c, compiled, faults, whenPath(i))...)
		found = append(found, decisionMessage{one.Message, one.Input}.check(c, fmt.Sprintf("cases[%d].input", i))...)
		if f := checkEffect(x.expressions); f != nil {
			found = append(found, f.problem(whenPath(i), one.When))
		}
		x.conclude(one.Outcome, x.untrue.both(compiled.isTrue))
		x.untrue = x.untrue.both(compiled.isFalse)
	}
	found = append(found, decisionMessage{x.Message, x.Input}.check(c, "input")...)
	x.conclude(otherwise, x.untrue)
	x.outcomes = x.wayOutcomes()
	return found
}

func whenPath(i int) string { return fmt.Sprintf("cases[%d].when", i) }

// conclude adds what one way to an outcome proves.
func (x *decision) conclude(outcome string, p provenCases) {
	if before, twice := x.proves[outcome]; twice {
		p = p.either(before)
	}
	x.proves[outcome] = p
}

// wayOutcomes returns the outcomes of the cases, each once, and otherwise.
func (x *decision) wayOutcomes() []engine.Outcome {
	var outcomes []engine.Outcome
	seen := map[string]bool{otherwise: true}
	for _, one := range x.Cases {
		if !seen[one.Outcome] {
			seen[one.Outcome] = true
			outcomes = append(outcomes, x.outcome(one.Outcome, "when "+one.When))
		}
	}
	return append(outcomes, x.outcome(otherwise, "when no case applies"))
}

// outcome establishes what the expressions prove: see expression_truth.go.
func (x *decision) outcome(name, doc string) engine.Outcome {
	return engine.On(name, engine.NoEffect(), engine.Outcome{Doc: doc, Establishes: x.proves[name].facts})
}

// Execute evaluates the cases in order.
func (x *decision) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	values, err := x.values(ctx, v)
	if err != nil {
		return nil, err
	}
	for i, e := range x.expressions {
		yes, err := e.eval(values)
		if err != nil {
			return expressionFailed("case %d: %s", i+1, evalFault(err)), nil
		}
		if yes {
			one := x.Cases[i]
			return decisionMessage{one.Message, one.Input}.leaveBy(one.Outcome), nil
		}
	}
	return decisionMessage{x.Message, x.Input}.leaveBy(otherwise), nil
}
