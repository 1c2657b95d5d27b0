package bootstrap

import (
	"context"
	"fmt"
	"net/http"

	"github.com/postern-id/postern/schemas"
)

// maxSteps limits the steps of a sign-in.
const maxSteps = 8

// signIn signs a user in with the console's flow and the password, and returns the
// assertion. The flow may be a customized one if its steps ask only for a name and a
// password, or offer the action "password".
func (r *remoteServer) signIn(ctx context.Context) (assertion string, err error) {
	step, err := r.executeStep(ctx, map[string]any{"applicationId": ConsoleID, "flowType": schemas.Authentication})
	for range maxSteps {
		if err != nil {
			return "", err
		}
		if step.FlowStatus == schemas.Complete {
			return step.Assertion, nil
		}
		if step.Error != nil {
			return "", fmt.Errorf("%q cannot sign in: %s", r.Admin.username(), step.Error.Description.DefaultValue)
		}
		action, inputs, ok := answer(step, r.Admin)
		if step.FlowStatus != schemas.Incomplete || !ok {
			break
		}
		step, err = r.executeStep(ctx, map[string]any{"executionId": step.ExecutionID, "challengeToken": step.ChallengeToken, "action": action, "inputs": inputs})
	}
	return "", fmt.Errorf("the console's sign-in flow requires more than a username and a password: pass a token with --token")
}

func (r *remoteServer) executeStep(ctx context.Context, body any) (*schemas.Step, error) {
	anonymous := &remoteServer{Setup{BaseURL: r.BaseURL, HTTP: r.HTTP}} // a sign-in is unauthenticated
	step := new(schemas.Step)
	_, err := anonymous.send(ctx, http.MethodPost, "/flow/execute", "", body, step)
	return step, err
}

// answer returns the reply to a step that asks for a name or a password; ok is false for
// other steps.
func answer(step *schemas.Step, a Admin) (action string, inputs map[string]string, ok bool) {
	inputs = map[string]string{}
	for _, in := range step.Data.Inputs {
		switch in.Identifier {
		case "username":
			inputs["username"] = a.username()
		case "password":
			inputs["password"] = a.Password
		}
	}
	for _, offered := range step.Data.Actions {
		if offered.Ref == "password" && len(inputs) == 0 {
			return offered.Ref, nil, true
		}
	}
	if len(inputs) == 0 || len(step.Data.Actions) == 0 {
		return "", nil, false
	}
	return step.Data.Actions[0].Ref, inputs, true
}
