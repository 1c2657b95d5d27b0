package mcp

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/postern-id/postern/schemas"
)

func (s *Server) addPrompts(server *sdk.Server) {
	server.AddPrompt(&sdk.Prompt{
		Name: "write_flow", Title: "Write a flow", Description: "Helps to write a flow that meets a goal and passes every proof.",
		Arguments: []*sdk.PromptArgument{
			{Name: "goal", Title: "Goal", Description: "The steps that users take, in your own words.", Required: true},
			{Name: "flow_type", Title: "Flow type", Description: "AUTHENTICATION to sign users in, REGISTRATION to create users. Default: AUTHENTICATION."},
		},
	}, s.writeFlow)
}

const howToWriteAFlow = `Write a flow of the type {type} for Postern. The goal:

{goal}

A flow is an object {handle, name, flowType: "{type}", nodes}. Each node is {id, use, with?, next?}: "use" names a kind, "with" is that kind's configuration, and "next" is the id of a node for all outcomes, or {outcome: id of a node}. The first node is the entry; the target "end" completes the run. An optional outcome may be omitted: the node then asks again.

It is proven before it is stored. What a kind needs must be certain on every path to the node, so lead there only through outcomes that establish it:
- authorization-code, and in an AUTHENTICATION flow the end, only where the user is authenticated on every path;
- a passkey or a password only for a user that this run creates or has authenticated, otherwise an attacker could take over another user's account;
- every node is reachable from the entry, the end is reachable from every node, and every cycle contains a node that asks.

The kinds of nodes:

{kinds}

Proceed as follows:
1. Read a similar flow with service_list_flows and service_get_flow_by_handle.
2. Read the configuration of the kinds that you use: the resource postern://kinds, or the schema of service_create_flow.
3. Call service_create_flow with dry_run: true. Fix every finding of the result; each has its position, its rule and its fix, and some show the shortest run that violates the rule. Never waive a finding to get rid of it. Repeat until there are none.
4. Show the flow and briefly describe what users go through on each path. Call service_create_flow without dry_run only if that meets the goal.
5. A new flow has no effect until an application uses it: set authFlowId or registrationFlowId with service_update_application.`

func (s *Server) writeFlow(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	goal, t := strings.TrimSpace(req.Params.Arguments["goal"]), req.Params.Arguments["flow_type"]
	if t == "" {
		t = string(schemas.Authentication)
	}
	if goal == "" || t != string(schemas.Authentication) && t != string(schemas.Registration) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "expected a goal, and no flow_type other than AUTHENTICATION or REGISTRATION"}
	}
	var kinds strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.Kinds)) {
		kinds.WriteString("## " + name + "\n" + s.Kinds[name].Describe() + "\n\n")
	}
	text := strings.NewReplacer("{type}", t, "{goal}", goal, "{kinds}", strings.TrimSpace(kinds.String())).Replace(howToWriteAFlow)
	return &sdk.GetPromptResult{
		Description: "How to write a flow that passes every proof.",
		Messages:    []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}},
	}, nil
}
