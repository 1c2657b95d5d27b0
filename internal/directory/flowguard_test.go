package directory

import (
	"context"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// flowAttempts change flows of applications with permissions.
func (h *accessFixture) flowAttempts(t testing.TB) []attempt {
	named := func(flow, handle string) string {
		return strings.Replace(flow, `"`+flowHandle(flow)+`"`, `"`+handle+`"`, 1)
	}
	in, up := h.create(t, h.Flows, named(signInFlow, "in")), h.create(t, h.Flows, named(signUpFlow, "up"))
	h.create(t, h.UserTypes, `{"name": "Robot", "schema": {"type": "object"}}`) // its users have no permissions
	robots := []string{"Robot"}
	h.create(t, h.Applications, strings.Replace(machine(t, "In", "openid "+reading), "{", `{"allowedUserTypes": ["Robot"], "authFlowId": "`+in+`",`, 1))
	worker := h.create(t, h.Applications, object(t, "name", "Up", "registrationFlowId", up, "allowedUserTypes", robots))
	_, err := h.Assign(t.Context(), SystemCall(), h.ids["role"], schemas.Principal{Type: schemas.ApplicationPrincipal, ID: worker})
	must(t, err)
	better := strings.Replace(named(signInFlow, "in"), `"In"`, `"Better"`, 1)
	_, err = h.Flows.Replace(t.Context(), SystemCall(), in, "", doc(t, better))
	must(t, err)
	inner := h.create(t, h.Flows, secondFactor)
	nested := h.create(t, h.Flows, nestedFactor)
	two := h.create(t, h.Flows, strings.NewReplacer(`"second-factor"`, `"nested"`, `{"passed": "done"}`, `{"end": "done"}`).Replace(twoFactors))
	h.create(t, h.Applications, strings.Replace(machine(t, "Two", "openid "+reading), "{", `{"allowedUserTypes": ["Robot"], "authFlowId": "`+two+`",`, 1))
	renamed := func(text string) string { return strings.Replace(text, `"name": "`, `"name": "Another `, 1) }
	return []attempt{
		{"a sub-flow of its flow", reading, h.replace(t, h.Flows, nested, renamed(nestedFactor))},
		{"a sub-flow of that", reading, h.replace(t, h.Flows, inner, renamed(secondFactor))},
		{"the sign-in flow of a client that has it", reading, h.replace(t, h.Flows, in, named(signInFlow, "in"))},
		{"its flow as it was before", reading, func(ctx context.Context, c Call) error {
			_, err := h.RestoreFlow(ctx, c, in, 1)
			return err
		}},
		{"the registration flow of an application that has the role", writing, h.replace(t, h.Flows, up, strings.Replace(named(signUpFlow, "up"), `"Up"`, `"Upwards"`, 1))},
	}
}

func flowHandle(flow string) string {
	_, rest, _ := strings.Cut(flow, `"handle": "`)
	handle, _, _ := strings.Cut(rest, `"`)
	return handle
}

// waivingFlow adds a passkey to an account for any user who enters its name.
const waivingFlow = `{"handle": "enrol", "name": "Enrol", "flowType": "REGISTRATION", "waive": [{"rule": "takeover", "node": "key", "reason": "Supervised."}], "nodes": [
	{"id": "who", "use": "prompt", "next": "find", "with": {"inputs": [{"identifier": "username", "type": "TEXT_INPUT", "required": true}],
		"actions": [{"ref": "go", "label": "Go"}]}},
	{"id": "find", "use": "user-resolve", "with": {"by": ["username"], "from": "username"}, "next": {"found": "key", "missing": "who"}},
	{"id": "key", "use": "passkey-register", "next": "end"}]}`

// A flow that can take over accounts requires the permission system.
func TestWaiversAreForAdministrators(t *testing.T) {
	h := furnished(t, newFixture(t))
	enrol := h.create(t, h.Flows, waivingFlow)
	safe := h.create(t, h.Flows, strings.Replace(signUpFlow, "passkey-sign-up", "safe", 1))
	kiosk := object(t, "name", "Kiosk", "registrationFlowId", enrol, "allowedUserTypes", []string{"Person"})
	app := h.create(t, h.Applications, kiosk)
	plain := h.create(t, h.Applications, `{"name": "Plain"}`)
	_, err := h.Flows.Replace(t.Context(), SystemCall(), enrol, "", doc(t, strings.Replace(signUpFlow, "passkey-sign-up", "enrol", 1)))
	must(t, err)
	attempts := map[string]func(context.Context, Call) error{
		"a new flow": func(ctx context.Context, c Call) error {
			_, err := h.Flows.Create(ctx, c, doc(t, strings.Replace(waivingFlow, `"enrol"`, `"other"`, 1)))
			return err
		},
		"another flow that is to waive": h.replace(t, h.Flows, safe, strings.Replace(waivingFlow, `"enrol"`, `"safe"`, 1)),
		"a version that waives": func(ctx context.Context, c Call) error {
			_, err := h.RestoreFlow(ctx, c, enrol, 1)
			return err
		},
	}
	h.refusesClerks(t, attempts)
	must(t, attempts["a version that waives"](t.Context(), SystemCall()))
	h.refusesClerks(t, map[string]func(context.Context, Call) error{
		"a new application by it": func(ctx context.Context, c Call) error {
			_, err := h.Applications.Create(ctx, c, doc(t, object(t, "name", "New", "registrationFlowId", enrol)))
			return err
		},
		"another application by it":   h.replace(t, h.Applications, plain, object(t, "name", "Plain", "registrationFlowId", enrol)),
		"an application that uses it": h.replace(t, h.Applications, app, object(t, "name", "Kiosk", "registrationFlowId", enrol)),
	})
}

// refusesClerks checks that callers who may write all resources are refused, and
// administrators are not.
func (h *accessFixture) refusesClerks(t *testing.T, attempts map[string]func(context.Context, Call) error) {
	t.Helper()
	for name, do := range attempts {
		if err := do(t.Context(), as(h.ids["other"], "system:flows", "system:applications", "shop")); !schemas.HasClass(err, schemas.Forbidden) {
			t.Errorf("%s: got %v, expected it to be forbidden", name, err)
		}
		dry := as(h.ids["other"], "system")
		dry.DryRun = true
		if err := do(t.Context(), dry); err != nil {
			t.Errorf("%s, by an administrator: %v", name, err)
		}
	}
}
