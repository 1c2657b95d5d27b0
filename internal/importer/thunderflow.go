package importer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// thunderNode is a node of a flow definition of ThunderID.
type thunderNode struct {
	ID       string `json:"id"`
	Type     string `json:"type"` // START, PROMPT, TASK_EXECUTION, CALL or END
	Executor struct {
		Name string `json:"name"`
		Mode string `json:"mode"`
	} `json:"executor"`
	Properties   map[string]any `json:"properties"`
	OnSuccess    string         `json:"onSuccess"`
	OnFailure    string         `json:"onFailure"`
	OnIncomplete string         `json:"onIncomplete"`
	Next         string         `json:"next"`
	Inputs       []thunderInput `json:"inputs"`
	Prompts      []struct {
		Inputs []thunderInput `json:"inputs"`
		Action thunderAction  `json:"action"`
	} `json:"prompts"`
	Actions []thunderAction `json:"actions"`
	Meta    struct {
		Components []thunderComponent `json:"components"`
	} `json:"meta"`
}

type thunderInput struct {
	Ref        string `json:"ref"`
	Identifier string `json:"identifier"`
	Type       string `json:"type"`
	Required   bool   `json:"required"`
}

type thunderAction struct {
	Ref      string `json:"ref"`
	NextNode string `json:"nextNode"`
	Executor struct {
		Name string `json:"name"`
	} `json:"executor"`
}

type thunderComponent struct {
	ID         string             `json:"id"`
	Ref        string             `json:"ref"`
	Label      string             `json:"label"`
	Components []thunderComponent `json:"components"`
}

// thunderTranslator translates a flow. Each node becomes the nodes that do the same, at most once.
type thunderTranslator struct {
	*flowFile
	report  *Report
	place   string
	nodes   map[string]thunderNode
	entries map[string]string // of the nodes that were translated
	end     string
}

// translateThunderFlow returns a flow file; nil for a flow that cannot be translated.
func translateThunderFlow(r *Report, d thunderDocument) []byte {
	nodes, err := thunderNodes(d.get("nodes"))
	kinds := map[string]schemas.FlowType{"AUTHENTICATION": schemas.Authentication, "REGISTRATION": schemas.Registration}
	kind, known := kinds[strings.ToUpper(d.text("flowType"))]
	place := "flow " + firstText(d.text("handle"), d.text("name"))
	if err != nil || !known {
		r.add("flows", place, fmt.Sprintf("a flow of the type %.40q cannot be translated", d.text("flowType")), "write it by hand (docs/flows.md)")
		return nil
	}
	t := &thunderTranslator{flowFile: newFlowFile(firstText(d.text("handle"), d.text("name")), firstText(d.text("name"), d.text("handle")), kind),
		report: r, place: place, nodes: map[string]thunderNode{}, entries: map[string]string{}}
	t.notes = []string{fmt.Sprintf("Translated from the ThunderID flow %q.", firstText(d.text("handle"), d.text("name")))}
	start := ""
	for _, n := range nodes {
		t.nodes[n.ID] = n
		if n.Type == "START" {
			start = firstText(n.OnSuccess, n.Next)
		}
	}
	t.end = t.addEnd()
	entry := t.node(start)
	if entry == t.end {
		r.add("flows", place, "the flow has no node that could be translated", "write it by hand (docs/flows.md)")
		return nil
	}
	return t.text(entry)
}

// node translates the node with the ID, and returns the ID of the first of its nodes.
func (t *thunderTranslator) node(id string) string {
	if entry, done := t.entries[id]; done {
		return entry
	}
	n, found := t.nodes[id]
	switch {
	case !found, n.Type == "END":
		return t.end
	case n.Type == "PROMPT":
		return t.prompt(n)
	case n.Type == "CALL":
		t.note(n.ID, "CALL", "the called flow is not inlined: make it a sub-flow, and use a node of the kind flow")
		return t.skip(n)
	}
	return t.task(n)
}

// skip leaves a node out.
func (t *thunderTranslator) skip(n thunderNode) string {
	t.entries[n.ID] = t.end // of a flow that only leads to itself
	t.entries[n.ID] = t.node(firstText(n.OnSuccess, n.Next))
	return t.entries[n.ID]
}

func (t *thunderTranslator) note(id, what, why string) {
	t.notes = append(t.notes, fmt.Sprintf("Left out: the node %s (%s): %s.", id, what, why))
	t.report.add("flows", t.place, fmt.Sprintf("a node with %.60q is left out: %s", what, why), "compare the flow file with the original, and add nodes by hand (docs/kinds.md)")
}

// prompt translates a prompt: its inputs and its actions.
func (t *thunderTranslator) prompt(n thunderNode) string {
	if verify, is := t.passkeyAfter(n); is {
		return t.passkey(verify)
	}
	id := t.id(n.ID)
	t.entries[n.ID] = id
	labels := map[string]string{}
	collectLabels(n.Meta.Components, labels)
	var inputs, actions []any
	next, named := map[string]string{}, map[string]bool{}
	addInputs := func(list []thunderInput) (refs []any) {
		refs = []any{}
		for _, in := range list {
			refs = append(refs, in.Identifier)
			if named[in.Identifier] {
				continue
			}
			named[in.Identifier] = true
			inputs = append(inputs, t.input(in, labels))
		}
		return refs
	}
	addInputs(n.Inputs)
	add := func(a thunderAction, inputs []any) {
		ref := strings.ReplaceAll(slug(firstText(a.Ref, "continue")), "-", "_")
		if _, twice := next[ref]; twice {
			return
		}
		one := action(ref, firstText(labels[a.Ref], "Continue"))
		if inputs != nil {
			one["inputs"] = inputs
		}
		actions = append(actions, one)
		next[ref] = t.node(a.NextNode)
	}
	for _, p := range n.Prompts {
		add(p.Action, addInputs(p.Inputs))
	}
	for _, a := range n.Actions {
		add(a, nil)
	}
	if len(actions) == 0 {
		add(thunderAction{Ref: "continue", NextNode: firstText(n.OnSuccess, n.Next)}, nil)
	}
	with := map[string]any{"title": firstText(firstLabel(n.Meta.Components), t.name), "actions": actions}
	if len(inputs) > 0 {
		with["inputs"] = inputs
	}
	return t.add(flowNode{id: id, use: "prompt", with: with, next: next})
}

func (t *thunderTranslator) input(in thunderInput, labels map[string]string) map[string]any {
	known := []string{"TEXT_INPUT", "EMAIL_INPUT", "PASSWORD_INPUT", "OTP_INPUT", "PHONE_INPUT"}
	kind := in.Type
	if !slices.Contains(known, kind) {
		kind = "TEXT_INPUT"
	}
	out := map[string]any{"identifier": in.Identifier, "type": kind, "label": firstText(labels[in.Ref], labels[in.Identifier], in.Identifier)}
	if in.Required {
		out["required"] = true
	}
	if kind == "PASSWORD_INPUT" && t.flowType == schemas.Registration {
		out["autocomplete"] = "new-password"
	} else if kind == "PASSWORD_INPUT" {
		out["autocomplete"] = "current-password"
	}
	return out
}

// collectLabels collects the labels of components by their references. Keys of translations are none.
func collectLabels(components []thunderComponent, labels map[string]string) {
	for _, c := range components {
		if c.Label != "" && !strings.Contains(c.Label, "{{") {
			labels[firstText(c.Ref, c.ID)], labels[c.ID] = c.Label, c.Label
		}
		collectLabels(c.Components, labels)
	}
}

func firstLabel(components []thunderComponent) string {
	for _, c := range components {
		if c.Label != "" && !strings.Contains(c.Label, "{{") {
			return c.Label
		}
	}
	return ""
}

// task translates the node of an executor.
func (t *thunderTranslator) task(n thunderNode) string {
	next := firstText(n.OnSuccess, n.Next)
	mode := firstText(n.Executor.Mode, textOf(n.Properties["mode"]))
	switch n.Executor.Name {
	case "BasicAuthExecutor":
		return t.password(n, next)
	case "IdentifyingExecutor":
		id := t.id("find")
		t.entries[n.ID] = id
		found := t.node(next)
		return t.add(flowNode{id: id, use: "user-resolve", with: findUser(), next: map[string]string{"found": found, "missing": found}})
	case "PasskeyAuthExecutor", "PasskeyExecutor":
		if strings.HasPrefix(mode, "register") {
			return t.registerPasskey(n, next)
		}
		return t.passkey(n)
	case "ProvisioningExecutor":
		return t.create(n, next)
	case "AuthAssertExecutor", "ConsentExecutor":
		// The end of each translated flow asks for consent if it is due, and issues the assertion.
		return t.skip(n)
	case "GoogleOIDCAuthExecutor", "OIDCAuthExecutor", "OAuthExecutor", "GithubOAuthExecutor":
		t.note(n.ID, n.Executor.Name, "a sign-in at a provider needs a decision about users who are not linked: add a federated-oidc node (docs/federation.md)")
	case "SMSOTPAuthExecutor":
		t.note(n.ID, n.Executor.Name, "codes by SMS are not supported: use totp or a passkey")
	default:
		t.note(n.ID, n.Executor.Name, "there is no kind of node for the executor")
	}
	return t.skip(n)
}

// other returns where a node leads if it does not succeed; "" to show its step again.
func (t *thunderTranslator) other(n thunderNode) string {
	if id := firstText(n.OnIncomplete, n.OnFailure); id != "" && t.nodes[id].Type != "END" && t.nodes[id].ID != "" {
		return t.node(id)
	}
	return ""
}

func (t *thunderTranslator) password(n thunderNode, next string) string {
	find, check := t.id("find"), t.id(n.ID)
	t.entries[n.ID] = find
	to := map[string]string{"success": t.node(next)}
	if other := t.other(n); other != "" {
		to["failure"] = other
	}
	t.add(flowNode{id: check, use: "password-authenticate", next: to})
	return t.add(flowNode{id: find, use: "user-resolve", with: findUser(), next: map[string]string{"found": check, "missing": check}})
}

// passkeyAfter returns the node that verifies a passkey, for a prompt that only gets the answer of the
// authenticator: one node does all of that here.
func (t *thunderTranslator) passkeyAfter(prompt thunderNode) (verify thunderNode, is bool) {
	for _, p := range prompt.Prompts {
		n := t.nodes[p.Action.NextNode]
		mode := firstText(n.Executor.Mode, textOf(n.Properties["mode"]))
		asks := slices.ContainsFunc(p.Inputs, func(in thunderInput) bool { return strings.Contains(strings.ToLower(in.Identifier), "clientdata") })
		if asks && strings.HasPrefix(n.Executor.Name, "Passkey") && !strings.HasPrefix(mode, "register") {
			return n, true
		}
	}
	return verify, false
}

// passkey translates a sign-in with a passkey: of the node that makes the challenge, of the prompt
// behind it and of the node that verifies.
func (t *thunderTranslator) passkey(n thunderNode) string {
	if entry, done := t.entries["passkey"]; done {
		t.entries[n.ID] = entry
		return entry
	}
	id := t.id("passkey")
	t.entries[n.ID], t.entries["passkey"] = id, id
	verify := n
	if answer, found := t.nodes[n.OnSuccess]; found && answer.Type == "PROMPT" {
		if after, is := t.passkeyAfter(answer); is {
			verify = after
			t.entries[answer.ID], t.entries[after.ID] = id, id
		}
	}
	to := map[string]string{"success": t.node(firstText(verify.OnSuccess, verify.Next))}
	if other := t.other(verify); other != "" && other != id {
		to["failure"] = other
	}
	return t.add(flowNode{id: id, use: "passkey-authenticate", with: map[string]any{"mode": "usernameless"}, next: to})
}

func (t *thunderTranslator) registerPasskey(n thunderNode, next string) string {
	if t.entries["register"] != "" {
		return t.skip(n)
	}
	id := t.id("register")
	t.entries[n.ID], t.entries["register"] = id, id
	return t.add(flowNode{id: id, use: "passkey-register", next: map[string]string{"success": t.node(next)}})
}

// create translates provisioning: it creates the user and sets the password that a prompt has asked for.
func (t *thunderTranslator) create(n thunderNode, next string) string {
	id := t.id("create")
	t.entries[n.ID] = id
	then := t.node(next)
	if t.asksPassword() {
		then = t.add(flowNode{id: t.id("secret"), use: "password-set", next: map[string]string{"success": then}})
	}
	to := map[string]string{"created": then}
	if to["taken"] = t.other(n); to["taken"] == "" {
		for _, p := range t.nodes {
			if p.Type == "PROMPT" && len(p.Prompts) > 0 && t.entries[p.ID] != "" {
				to["taken"] = t.entries[p.ID]
			}
		}
	}
	return t.add(flowNode{id: id, use: "user-create", next: to})
}

func (t *thunderTranslator) asksPassword() bool {
	for _, n := range t.nodes {
		for _, p := range n.Prompts {
			if slices.ContainsFunc(p.Inputs, func(in thunderInput) bool { return in.Type == "PASSWORD_INPUT" }) {
				return true
			}
		}
	}
	return false
}
