package importer

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/postern-id/postern/schemas"
)

// keycloakFlow is an authentication flow of a realm: a list of executions. Some executions
// are flows.
type keycloakFlow struct {
	ID         string              `json:"id"`
	Alias      string              `json:"alias"`
	TopLevel   *bool               `json:"topLevel"` // false for a part of other flows
	BuiltIn    bool                `json:"builtIn"`
	Executions []keycloakExecution `json:"authenticationExecutions"`
}

type keycloakExecution struct {
	Authenticator string `json:"authenticator"`
	Requirement   string `json:"requirement"` // REQUIRED, ALTERNATIVE, CONDITIONAL or DISABLED
	Priority      int    `json:"priority"`
	FlowAlias     string `json:"flowAlias"`
	Config        string `json:"authenticatorConfig"` // the alias of a configuration
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// translateFlows translates the browser flow of the realm, and those of clients.
func (k *keycloak) translateFlows(content *Resources, r *Report) {
	wanted := map[string]bool{}
	for _, f := range k.realm.Flows {
		wanted[f.Alias] = f.Alias == k.realm.Browser
	}
	for _, c := range k.realm.Clients.List {
		for _, f := range k.realm.Flows {
			if c.FlowOverrides["browser"] == f.ID && f.ID != "" {
				wanted[f.Alias] = true
			}
		}
	}
	for _, f := range k.realm.Flows {
		switch {
		case wanted[f.Alias]:
			content.Flows[slug(f.Alias)+".yaml"] = k.translateFlow(r, f)
		case !f.BuiltIn && (f.TopLevel == nil || *f.TopLevel):
			r.add("flows", "flow "+f.Alias, "the flow is not translated: only the browser flow of the realm and those of clients are", "write it by hand, if applications need it (docs/flows.md)")
		}
	}
}

// flowTranslator translates a flow. Each function adds nodes that continue at next, and returns the
// first of them.
type flowTranslator struct {
	*flowFile
	realm  *keycloakRealm
	report *Report
	place  string
	depth  int
	end    string
	user   bool // whether the nodes before identify a user
}

func (k *keycloak) translateFlow(r *Report, f keycloakFlow) []byte {
	t := &flowTranslator{flowFile: newFlowFile("keycloak-"+f.Alias, f.Alias, schemas.Authentication), realm: &k.realm, report: r, place: "flow " + f.Alias}
	t.notes = []string{fmt.Sprintf("Translated from the Keycloak flow %q of the realm %q.", f.Alias, k.realm.Realm)}
	t.end = t.addEnd()
	entry := t.flow(f, t.end)
	if entry == t.end {
		r.add("flows", t.place, "no execution of the flow could be translated; it signs in with a password instead", "write the flow by hand (docs/flows.md)")
		entry = t.passwordForm(t.end, "")
	}
	return t.text(entry)
}

// flow translates the executions of a flow. If one is required or conditional, the alternatives count
// as disabled.
func (t *flowTranslator) flow(f keycloakFlow, next string) string {
	if t.depth++; t.depth > 20 {
		return next // a flow within itself
	}
	defer func() { t.depth-- }()
	var steps, alternatives []keycloakExecution
	sorted := slices.SortedStableFunc(slices.Values(f.Executions), func(a, b keycloakExecution) int { return cmp.Compare(a.Priority, b.Priority) })
	for _, e := range sorted {
		switch e.Requirement {
		case "REQUIRED", "CONDITIONAL":
			steps = append(steps, e)
		case "ALTERNATIVE":
			alternatives = append(alternatives, e)
		}
	}
	if len(steps) == 0 {
		return t.alternatives(alternatives, next)
	}
	for _, e := range alternatives {
		t.note(e, "Keycloak ignores an alternative next to required executions")
	}
	return t.sequence(steps, next)
}

// sequence translates executions that follow each other.
func (t *flowTranslator) sequence(steps []keycloakExecution, next string) string {
	known := make([]bool, len(steps))
	for i, e := range steps {
		known[i] = t.user
		t.user = t.user || t.identifies(e)
	}
	for i, e := range slices.Backward(steps) {
		t.user = known[i]
		next = t.execution(e, next)
	}
	t.user = known[0] || slices.ContainsFunc(steps, t.identifies)
	return next
}

// identifies reports whether the user is known after an execution.
func (t *flowTranslator) identifies(e keycloakExecution) bool {
	switch e.Authenticator {
	case "auth-cookie", "auth-username-password-form", "auth-username-form", "webauthn-authenticator-passwordless", "identity-provider-redirector":
		return true
	}
	f, found := t.find(e.FlowAlias)
	return found && e.Requirement != "CONDITIONAL" && t.depth < 20 && slices.ContainsFunc(f.Executions, func(inner keycloakExecution) bool {
		return inner.Requirement != "DISABLED" && inner.FlowAlias != e.FlowAlias && t.identifies(inner)
	})
}

func (t *flowTranslator) find(alias string) (keycloakFlow, bool) {
	i := slices.IndexFunc(t.realm.Flows, func(f keycloakFlow) bool { return alias != "" && f.Alias == alias })
	if i < 0 {
		return keycloakFlow{}, false
	}
	return t.realm.Flows[i], true
}

// alternatives translates executions that replace each other: the session first, then each offers the
// next one.
func (t *flowTranslator) alternatives(list []keycloakExecution, next string) string {
	user, cookie := t.user, false
	other := ""
	for _, e := range slices.Backward(list) {
		t.user = user
		if e.Authenticator == "auth-cookie" {
			cookie = true
			continue
		}
		if entry := t.alternative(e, next, other); entry != next && entry != "" {
			other = entry
		}
	}
	if other == "" {
		other = next
	}
	if cookie && other != next {
		return t.add(flowNode{id: t.id("session"), use: "session-check", next: map[string]string{"active": next, "none": other}})
	}
	return other
}

// alternative translates an execution that offers another one, "" for none.
func (t *flowTranslator) alternative(e keycloakExecution, next, other string) string {
	switch e.Authenticator {
	case "webauthn-authenticator-passwordless", "webauthn-authenticator":
		return t.passkey(next, other)
	case "auth-username-password-form":
		return t.passwordForm(next, other)
	case "identity-provider-redirector":
		return t.provider(e, next, other)
	case "auth-otp-form":
		return t.code(next, other)
	}
	if entry := t.execution(e, next); entry != next {
		if other != "" {
			t.note(e, "the user cannot choose another alternative here")
		}
		return entry
	}
	return other
}

// execution translates one execution.
func (t *flowTranslator) execution(e keycloakExecution, next string) string {
	if f, found := t.find(e.FlowAlias); found {
		if e.Requirement == "CONDITIONAL" {
			return t.conditional(f, next)
		}
		return t.flow(f, next)
	}
	switch e.Authenticator {
	case "auth-cookie":
		return t.add(flowNode{id: t.id("session"), use: "session-check", next: map[string]string{"active": next, "none": t.passwordForm(next, "")}})
	case "auth-username-password-form":
		return t.passwordForm(next, "")
	case "auth-username-form":
		find := t.add(flowNode{id: t.id("find"), use: "user-resolve", with: findUser(), next: map[string]string{"found": next, "missing": next}})
		return t.add(flowNode{id: t.id("who"), use: "prompt", with: prompt("Sign in", []any{usernameInput()}, action("continue", "Continue")), next: map[string]string{"continue": find}})
	case "auth-password-form":
		return t.add(flowNode{id: t.id("password"), use: "password-authenticate", next: map[string]string{"success": next}})
	case "webauthn-authenticator-passwordless", "webauthn-authenticator":
		return t.passkey(next, "")
	case "auth-otp-form":
		return t.code(next, "")
	case "auth-recovery-authn-code-form":
		return t.add(flowNode{id: t.id("recovery"), use: "recovery-code", next: map[string]string{"success": next}})
	case "identity-provider-redirector":
		return t.provider(e, next, "")
	case "auth-spnego":
		t.note(e, "Kerberos is not supported")
		return next
	}
	t.note(e, "there is no such kind of node: the translated flow may ask for less than the original one")
	return next
}

// note reports an execution that is left out, and adds a comment to the file.
func (t *flowTranslator) note(e keycloakExecution, why string) {
	name := cmp.Or(e.Authenticator, e.FlowAlias)
	t.notes = append(t.notes, fmt.Sprintf("Left out: %s (%s): %s.", name, e.Requirement, why))
	t.report.add("flows", t.place, fmt.Sprintf("the execution %.60q (%s) is left out: %s", name, e.Requirement, why), "compare the flow file with the original, and add nodes, for example http-request (docs/services.md)")
}

// passwordForm adds the form for name and password. other is where a second action leads.
func (t *flowTranslator) passwordForm(next, other string) string {
	who, check := t.id("who"), t.id("check")
	t.add(flowNode{id: check, use: "password-authenticate", next: map[string]string{"success": next, "failure": who}})
	find := t.add(flowNode{id: t.id("find"), use: "user-resolve", with: findUser(), next: map[string]string{"found": check, "missing": check}})
	actions, to := []any{action("continue", "Sign in")}, map[string]string{"continue": find}
	if other != "" {
		choose := action("other", "Try another way")
		choose["inputs"] = []any{}
		actions, to["other"] = append(actions, choose), other
	}
	return t.add(flowNode{id: who, use: "prompt", with: prompt("Sign in", []any{usernameInput(), passwordInput()}, actions...), next: to})
}

// passkey adds a sign-in with a passkey: of the user, if one is known.
func (t *flowTranslator) passkey(next, other string) string {
	with, to := map[string]any{"mode": "usernameless"}, map[string]string{"success": next}
	if t.user {
		with["mode"] = "identified"
	}
	if other != "" {
		with["alternatives"], to["other"] = []any{action("other", "Try another way")}, other
	}
	return t.add(flowNode{id: t.id("passkey"), use: "passkey-authenticate", with: with, next: to})
}

// code adds a code of an authenticator app. Users without an app set one up, as in Keycloak.
func (t *flowTranslator) code(next, other string) string {
	code, app := t.id("code"), t.id("app")
	t.add(flowNode{id: app, use: "totp-register", next: map[string]string{"success": code, "kept": code}})
	n := flowNode{id: code, use: "totp", next: map[string]string{"success": next, "none": app}}
	if other != "" {
		n.with, n.next["other"] = map[string]any{"alternatives": []any{action("other", "Try another way")}}, other
	}
	return t.add(n)
}

// provider adds a sign-in at the default provider. Users whose identity is not linked sign in otherwise.
func (t *flowTranslator) provider(e keycloakExecution, next, other string) string {
	handle := t.config(e)["defaultProvider"]
	if handle == "" || other == "" {
		if handle != "" {
			t.note(e, "a sign-in at a provider needs an alternative for users who are not linked")
		} else {
			t.report.add("flows", t.place, "the buttons of identity providers are not translated", "add a federated-oidc node for each provider (docs/federation.md)")
			t.notes = append(t.notes, "Left out: the buttons of identity providers; add a federated-oidc node for each.")
		}
		return other
	}
	return t.add(flowNode{id: t.id("provider"), use: "federated-oidc", with: map[string]any{"provider": slug(handle), "alternatives": []any{action("other", "Try another way")}},
		next: map[string]string{"success": next, "unknown": other, "failure": other, "other": other}})
}

func (t *flowTranslator) config(e keycloakExecution) map[string]string {
	for _, c := range t.realm.FlowConfigs {
		if c.Alias == e.Config && e.Config != "" {
			return c.Config
		}
	}
	return nil
}

// conditional translates a flow that runs only if its conditions hold.
func (t *flowTranslator) conditional(f keycloakFlow, next string) string {
	var rest keycloakFlow
	when, configured := "", false
	for _, e := range f.Executions {
		condition, is := t.condition(e)
		switch {
		case e.Requirement == "DISABLED":
		case e.Authenticator == "conditional-user-configured":
			configured = true
		case is:
			when = joinConditions(when, condition)
		default:
			rest.Executions = append(rest.Executions, e)
		}
	}
	if configured {
		return t.when(when, t.ifConfigured(rest, next), next)
	}
	return t.when(when, t.flow(rest, next), next)
}

func joinConditions(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " && " + b
}

// when adds a decision. Without a condition the nodes always run.
func (t *flowTranslator) when(condition, then, next string) string {
	if condition == "" || then == next {
		return then
	}
	return t.add(flowNode{id: t.id("whether"), use: "decision", with: map[string]any{"cases": []any{map[string]any{"when": condition, "outcome": "holds"}}},
		next: map[string]string{"holds": then, "otherwise": next}})
}

// ifConfigured asks for a second factor that the user has. A user with none continues.
func (t *flowTranslator) ifConfigured(f keycloakFlow, next string) string {
	type factor struct{ condition, outcome, entry string }
	var factors []factor
	for _, e := range f.Executions {
		switch e.Authenticator {
		case "auth-otp-form":
			code := t.id("code")
			factors = append(factors, factor{"user.hasTotp", "app", t.add(flowNode{id: code, use: "totp", next: map[string]string{"success": next, "none": next}})})
		case "webauthn-authenticator", "webauthn-authenticator-passwordless":
			t.user = true
			factors = append(factors, factor{"user.hasPasskey", "passkey", t.passkey(next, "")})
		case "auth-recovery-authn-code-form":
			factors = append(factors, factor{"user.hasRecoveryCodes", "recovery", t.execution(e, next)})
		default:
			t.note(e, "it has no condition here")
		}
	}
	if len(factors) == 0 {
		return next
	}
	var cases []any
	to := map[string]string{"otherwise": next}
	for _, f := range factors {
		cases = append(cases, map[string]any{"when": f.condition, "outcome": f.outcome})
		to[f.outcome] = f.entry
	}
	return t.add(flowNode{id: t.id("second-factor"), use: "decision", with: map[string]any{"cases": cases}, next: to})
}

var attributeName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// condition returns the expression of a condition; is is false for another execution. A condition that
// cannot be translated counts as true, so that the flow asks for more.
func (t *flowTranslator) condition(e keycloakExecution) (expression string, is bool) {
	c := t.config(e)
	switch e.Authenticator {
	case "conditional-user-role":
		expression = fmt.Sprintf("%s in user.roles", strconv.Quote(c["condUserRole"]))
	case "conditional-user-attribute":
		if !attributeName.MatchString(c["attribute_name"]) {
			break
		}
		expression = fmt.Sprintf("has(user.attributes.%s) && user.attributes.%s == %s", c["attribute_name"], c["attribute_name"], strconv.Quote(c["attribute_expected_value"]))
	case "conditional-level-of-authentication", "conditional-sub-flow-executed", "conditional-credential", "conditional-client-scope":
	default:
		return "", false
	}
	if expression == "" {
		t.note(e, "the condition cannot be translated, so its executions always run")
		return "", true
	}
	if c["negate"] == "true" || c["not"] == "true" {
		expression = "!(" + expression + ")"
	}
	return expression, true
}
